"""Rendering: the page's own tests run these; here is which test stands for which case."""

from __future__ import annotations

import pytest
from cases import TESTS, Cases, Row

from .conftest import Place

PAGE = [*(TESTS.parent / "labextension" / "src").rglob("*.ts*")]
CLEAN = "labextension/tests/hosts/clean.test.ts::"
SOURCE = "labextension/tests/hosts/source.test.ts::"
NOTHING = f"{CLEAN}nothing_fetches,_runs_or_pretends"
IMAGE = f"{CLEAN}an_image_that_would_be_fetched_is_named,_with_its_host"
CASES = Cases(
    "markdown",
    covered={
        "S-205": IMAGE,
        "S-206": f"{IMAGE} labextension/tests/ui/blocks.test.ts::"
        "gives_the_same_blocks_for_any_chunking_of_random_mixtures",
        "S-207": IMAGE,  # what is restored is drawn the same way
        **dict.fromkeys(("S-208", "S-209", "S-210", "S-212", "S-213", "S-214"), NOTHING),
        "S-211": f"{CLEAN}is_only_text",
        "S-215": f"{SOURCE}TeX_that_leads_out_of_a_formula_is_noticed",
        "S-216": f"{SOURCE}an_info_string_is_one_plain_word,_and_a_diagram_is_code",
        "S-219": f"{SOURCE}an_info_string_is_one_plain_word,_and_a_diagram_is_code",
        "S-220": f"{CLEAN}a_web_link_opens_elsewhere,_tells_nobody_where_from,_and_shows_a_host",
        "S-223": f"{SOURCE}text_hidden_in_Unicode_tags_is_counted",
        "S-227": f"{SOURCE}a_nesting_bomb_is_not_parsed,_long_ordinary_text_is",
        "S-228": f"{CLEAN}tags_in_a_code_block_are_text",
    },
    later={"S-224": "the visible terminal is JupyterLab's, which decides about its clipboard"},
)


@CASES.check("S-221", "S-222")
async def markup_in_names_and_errors(row: Row, place: Place) -> None:
    """Everything but rendered markdown is drawn as text: the page has no other way in."""
    assert len(PAGE) > 50
    for path in PAGE:
        text = path.read_text()
        for way in ("dangerouslySetInnerHTML", ".innerHTML", ".outerHTML", "insertAdjacentHTML"):
            assert way not in text, path


@CASES.check("S-226")
async def terminal_escapes(row: Row, place: Place) -> None:
    """Concealed text is plain for both; what the output itself erases reaches neither."""
    content = row.do["content"]
    concealed = content.replace("\x1b[2K\x1b[1A", "")
    assert concealed != content
    for text in (content, concealed):
        place.write("o.txt", text)
        judged = await place.calls().call("run_command", command="cat o.txt", approve=True)
        assert judged.result.success and "visible" in judged.result.output
        told = judged.text + repr(judged.sink.events)
        assert "\x1b" not in told and r"\x1b" not in told
        assert ("hidden instruction" in told) == (text == concealed)


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_markdown(id: str, place: Place) -> None:
    await CASES.checks[id](CASES.rows[id], place)


def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
