import json

import pytest

from vitto_jupyter.errors import ToolError
from vitto_jupyter.tools.toolset import Toolset, builtin_toolset


def _as_sent(toolset: Toolset) -> str:
    return json.dumps(
        [
            {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
            for spec in toolset.specs
        ]
    )


def test_all_schemas_together_stay_small():
    assert len(_as_sent(builtin_toolset())) <= 8_000


def test_schemas_are_the_same_bytes_each_time():
    assert _as_sent(builtin_toolset()) == _as_sent(builtin_toolset())


def test_schemas_hold_no_titles_references_or_nulls():
    text = _as_sent(builtin_toolset())
    for word in ('"title"', "$ref", "$defs", '"null"', "anyOf"):
        assert word not in text


def test_every_schema_is_an_object_with_its_required_fields():
    schemas = {spec.name: spec.input_schema for spec in builtin_toolset().specs}
    assert schemas["edit_file"]["required"] == ["path", "edits"]
    item = schemas["edit_file"]["properties"]["edits"]["items"]
    assert set(item["properties"]) == {"before", "after", "all"}
    assert all(schema["type"] == "object" for schema in schemas.values())
    assert schemas["insert_cells"]["required"] == ["after", "cells"]


def test_the_tools_of_the_contract_are_there():
    assert {spec.name for spec in builtin_toolset().specs} == {
        "read_file", "write_file", "edit_file", "show_diff", "search_code", "list_files",
        "get_diagnostics", "read_notebook", "edit_cell", "insert_cells", "delete_cells",
        "run_cells", "execute_code", "inspect_variables", "kernel", "run_command", "get_context",
        "read_output", "move_cells",
    }  # fmt: skip


def test_only_writers_of_text_stream_their_input():
    streamed = {spec.name for spec in builtin_toolset().specs if spec.stream_input}
    assert streamed == {"write_file", "edit_file", "edit_cell", "insert_cells"}


def test_unknown_tool_names_the_tools():
    with pytest.raises(ToolError) as caught:
        builtin_toolset().parse("read_files", {})
    assert caught.value.code == "unknown_tool"
    assert "read_file" in caught.value.hint


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ({"edits": [{"before": "a", "after": "b"}]}, "path is missing"),
        ({"path": "a", "edits": [{"before": "a"}]}, "edits.0.after is missing"),
        ({"path": "a", "edits": []}, "edits"),
        ({"path": "a", "edits": [{"before": "a", "after": "b"}], "x": 1}, "x is not known"),
    ],
)
def test_an_input_that_does_not_fit_says_what_to_send(input, said):
    with pytest.raises(ToolError) as caught:
        builtin_toolset().parse("edit_file", input)
    assert caught.value.code == "invalid_input"
    assert said in caught.value.message
    assert "{path, edits}" in caught.value.hint


def test_null_for_an_optional_field_is_accepted():
    _, args = builtin_toolset().parse("read_file", {"path": "a", "line_count": None})
    assert args.line_count is None


def test_two_tools_of_one_name_are_refused():
    tool = builtin_toolset().find("read_file")
    with pytest.raises(ValueError, match="same name"):
        Toolset((tool, tool))
