"""The toolset: the tools a conversation has, their schemas and the parsing of inputs.

Imported by agent and services. Pure: parsing touches nothing; acting is the caller's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from ..errors import ToolError
from ..protocol.base import JsonObject, Wire
from ..providers.base import ToolSpec
from .base import Tool

_MAX_PROBLEMS = 4


class Toolset:
    """Tools by name. `specs` is built once: its bytes belong to the conversation's prefix."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")
        self.specs: tuple[ToolSpec, ...] = tuple(spec_of(tool) for tool in tools)

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def parse(self, name: str, input: Mapping[str, Any]) -> tuple[Tool, Any]:
        """The tool and its validated input.

        Raises:
            ToolError: no such tool, or the input does not fit; says what to send instead.
        """
        tool = self.find(name)
        if tool is None:
            raise ToolError(
                f'There is no tool "{name}".',
                code="unknown_tool",
                hint=f"The tools are: {', '.join(self._tools)}.",
            )
        try:
            return tool, tool.input_model.model_validate(dict(input))
        except ValidationError as err:
            raise ToolError(
                f"The input of {name} does not fit: {_problems(err)}.",
                code="invalid_input",
                hint=f"{name} takes {_signature(tool.input_model)}.",
            ) from err


def spec_of(tool: Tool) -> ToolSpec:
    return ToolSpec(
        name=tool.name,
        description=tool.description,
        input_schema=schema_of(tool.input_model),
        stream_input=tool.stream_input,
    )


def schema_of(model: type[Wire]) -> JsonObject:
    """The JSON Schema of an input: no titles, no references, optional fields without null.

    Left out because every character is sent with every request; `parse` checks in full.
    """
    schema = model.model_json_schema()
    defs = schema.pop("$defs", {})
    compact = _compact(schema, defs)
    compact.setdefault("properties", {})
    return compact


def _compact(schema: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _compact(defs[schema["$ref"].rsplit("/", 1)[-1]], defs)
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        if len(kinds) == 1:
            rest = {key: value for key, value in schema.items() if key != "anyOf"}
            schema = {**kinds[0], **rest}
    return {
        key: _compact_value(key, value, defs)
        for key, value in schema.items()
        if key not in ("title", "additionalProperties")
        and not (key == "default" and value in (None, False, [], ""))
        and not (key == "description" and schema.get("type") == "object")
    }


def _compact_value(key: str, value: Any, defs: dict[str, Any]) -> Any:
    if key == "properties":
        return {name: _compact(field, defs) for name, field in value.items()}
    if key == "items":
        return _compact(value, defs)
    if key == "anyOf":
        return [_compact(kind, defs) for kind in value]
    return value


def _problems(err: ValidationError) -> str:
    found = err.errors(include_url=False, include_context=False, include_input=False)
    lines = [_problem(entry) for entry in found[:_MAX_PROBLEMS]]
    if len(found) > _MAX_PROBLEMS:
        lines.append(f"and {len(found) - _MAX_PROBLEMS} more")
    return "; ".join(lines)


def _problem(entry: Any) -> str:
    where = ".".join(str(part) for part in entry["loc"])
    if entry["type"] == "missing":
        return f"{where} is missing"
    if entry["type"] == "extra_forbidden":
        return f"{where} is not known"
    message = str(entry["msg"]).removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    return f"{where}: {message}" if where else message


def _signature(model: type[Wire]) -> str:
    names = [
        name if field.is_required() else f"{name}?" for name, field in model.model_fields.items()
    ]
    return "{" + ", ".join(names) + "}"


def builtin_toolset() -> Toolset:
    """All tools of this version, in the order in which the model sees them."""
    # Imported on use: a server that never starts a turn does not pay for the tools.
    from . import (
        cell_edits,
        cell_inserts,
        cell_moves,
        context,
        diagnostics,
        editing,
        files,
        kernels,
        notebooks,
        outputs,
        search,
        terminals,
        variables,
    )

    return Toolset(
        (
            context.GET_CONTEXT,
            files.READ_FILE,
            search.LIST_FILES,
            search.SEARCH_CODE,
            diagnostics.GET_DIAGNOSTICS,
            editing.EDIT_FILE,
            files.WRITE_FILE,
            files.SHOW_DIFF,
            notebooks.READ_NOTEBOOK,
            outputs.READ_OUTPUT,
            cell_edits.EDIT_CELL,
            cell_inserts.INSERT_CELLS,
            cell_edits.DELETE_CELLS,
            cell_moves.MOVE_CELLS,
            kernels.RUN_CELLS,
            kernels.EXECUTE_CODE,
            variables.INSPECT_VARIABLES,
            kernels.KERNEL,
            terminals.RUN_COMMAND,
        )
    )
