import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import DocumentNotFound, EditConflict, NotText, ToolError
from vitto_jupyter.workspace.memory import memory_workspace


def _calls(**files):
    return ToolCalls(memory_workspace(files or {"a.txt": "one\ntwo\nthree\n"}))


def _calls_of(files, notebooks=None):
    return ToolCalls(memory_workspace(files, notebooks))


# -- read_file -----------------------------------------------------------------------------------


async def test_reading_gives_the_text_with_the_lines_shown():
    result = await _calls().call("read_file", path="a.txt")
    assert result.output == "a.txt, lines 1 to 3 of 3\none\ntwo\nthree"


async def test_reading_a_page_says_where_it_goes_on():
    result = await _calls().call("read_file", path="a.txt", start_line=2, line_count=1)
    assert result.output == "a.txt, lines 2 to 2 of 3; go on with start_line=3\ntwo"


async def test_pages_of_a_long_file_are_complete_and_do_not_overlap():
    lines = [f"line {number} " + "x" * 90 for number in range(3000)]
    calls = _calls_of({"big.txt": "\n".join(lines)})
    got, start = [], 1
    while len(got) < 3000:
        result = await calls.call("read_file", path="big.txt", start_line=start)
        page = result.output.split("\n")[1:]
        assert page and len(result.output) < 50_000
        got += page
        start += len(page)
    assert got == lines


async def test_a_start_behind_the_end_says_how_long_the_file_is():
    result = await _calls().call("read_file", path="a.txt", start_line=9)
    assert "has 3 lines; there is no line 9" in result.output


async def test_an_endless_line_is_cut_and_says_so():
    result = await _calls_of({"a.js": "x" * 1_000_000}).call("read_file", path="a.js")
    assert len(result.output) < 5_000
    assert "996,000 more characters" in result.output


async def test_an_empty_file_is_called_empty():
    assert (await _calls_of({"a": ""}).call("read_file", path="a")).output == "a is empty."


async def test_line_ends_and_a_missing_last_one_are_named():
    result = await _calls_of({"a.txt": "x\r\ny"}).call("read_file", path="a.txt")
    assert "CRLF line ends, no line end at the end" in result.output.split("\n")[0]
    assert "\r" not in result.output


async def test_a_missing_file_names_the_nearest():
    result = await _calls_of({"src/app.py": ""}).call("read_file", path="src/ap.py")
    assert not result.success
    assert "Did you mean src/app.py?" in result.error


async def test_a_folder_and_a_binary_file_say_what_to_use_instead():
    calls = _calls_of({"src/app.py": "", "a.png": b"\x89PNG\0"})
    assert "list_files" in (await calls.call("read_file", path="src")).error
    assert "list_files" in (await calls.call("read_file", path="")).error
    assert "kernel or a command" in (await calls.call("read_file", path="a.png")).error


async def test_a_notebook_is_read_as_cells():
    calls = _calls_of({}, {"n.ipynb": ["x = 1"]})
    result = await calls.call("read_file", path="n.ipynb")
    assert "--- cell 1 (id c1) code\nx = 1" in result.output
    assert "n.ipynb#c1" in calls.seen


async def test_the_roots_own_absolute_path_is_understood():
    calls = _calls()
    result = await calls.call("read_file", path="/home/user/project/a.txt")
    assert result.success and result.metadata["path"] == "a.txt"
    assert not (await calls.call("read_file", path="/home/user/project-2/a.txt")).success


# -- write_file ----------------------------------------------------------------------------------


async def test_nothing_is_written_before_apply():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    proposal = await calls.propose("write_file", path="a.txt", content="new\n")
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\ntwo\nthree\n"
    assert proposal.title == "Edit a.txt?"
    assert proposal.facts.effect == "write" and proposal.facts.paths == ("a.txt",)
    (change,) = proposal.preview.changes
    assert (change.before, change.after) == ("one\ntwo\nthree\n", "new\n")


async def test_a_written_file_reports_what_is_there():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    result = await calls.call("write_file", path="a.txt", content="one\nzwei\nthree\n")
    assert result.output == "Wrote a.txt: 3 lines, +1 −1."
    assert result.metadata == {"path": "a.txt", "added": 1, "removed": 1}
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\nzwei\nthree\n"


async def test_a_missing_file_is_created_only_when_asked():
    calls = _calls()
    refused = await calls.call("write_file", path="b.txt", content="x")
    assert "create_if_missing" in refused.error
    proposal = await calls.propose("write_file", path="b.txt", content="x", create_if_missing=True)
    assert proposal.title == "Create b.txt?"
    assert (await calls.apply(proposal)).success
    assert calls.ctx.workspace.documents.disk["b.txt"] == b"x"


async def test_a_file_in_a_missing_folder_says_how_to_make_the_folder():
    result = await _calls().call("write_file", path="no/b.txt", content="x", create_if_missing=True)
    assert "mkdir" in result.error


async def test_an_unread_file_is_not_overwritten_and_is_shown():
    calls = _calls()
    result = await calls.call("write_file", path="a.txt", content="new")
    assert "has not been read yet" in result.error and "one\ntwo\nthree" in result.error
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\ntwo\nthree\n"
    again = await calls.call("write_file", path="a.txt", content="new")
    assert again.success


async def test_a_file_changed_since_reading_is_not_overwritten():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    calls.ctx.workspace.documents.user_writes("a.txt", "the user's\n")
    with pytest.raises(EditConflict) as caught:
        await calls.propose("write_file", path="a.txt", content="new")
    assert "the user's" in caught.value.message


async def test_a_file_changed_while_the_diff_is_shown_keeps_the_users_text():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    proposal = await calls.propose("write_file", path="a.txt", content="new")
    calls.ctx.workspace.documents.user_writes("a.txt", "the user's\n")
    result = await calls.apply(proposal)
    assert not result.success
    assert "changed after the diff was shown" in result.error
    assert "the user's" in result.output
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"the user's\n"
    # The model has now seen the new text: the next edit is based on it.
    assert (await calls.call("write_file", path="a.txt", content="new")).success


async def test_a_file_created_while_the_approval_waits_is_not_overwritten():
    calls = _calls()
    proposal = await calls.propose("write_file", path="b.txt", content="x", create_if_missing=True)
    calls.ctx.workspace.documents.user_writes("b.txt", "the user's")
    result = await calls.apply(proposal)
    assert "was created by somebody else" in result.error
    assert calls.ctx.workspace.documents.disk["b.txt"] == b"the user's"


async def test_of_two_edits_of_one_base_the_second_is_stale():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    first = await calls.propose("write_file", path="a.txt", content="first")
    second = await calls.propose("write_file", path="a.txt", content="second")
    assert (await calls.apply(first)).success
    assert not (await calls.apply(second)).success
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"first"


async def test_the_same_text_asks_nobody():
    calls = _calls()
    proposal = await calls.propose("write_file", path="a.txt", content="one\ntwo\nthree\n")
    assert proposal.facts.effect == "read" and proposal.preview is None
    assert "nothing was written" in (await calls.apply(proposal)).output


async def test_line_ends_are_kept_and_the_card_says_so():
    calls = _calls_of({"run.sh": "a\r\nb\r\n"})
    await calls.call("read_file", path="run.sh")
    proposal = await calls.propose("write_file", path="run.sh", content="a\nc\n")
    assert "keeps its CRLF line ends" in proposal.preview.note
    await calls.apply(proposal)
    assert calls.ctx.workspace.documents.disk["run.sh"] == b"a\r\nc\r\n"


async def test_crlf_in_the_new_text_does_not_change_the_file_and_is_said():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    proposal = await calls.propose("write_file", path="a.txt", content="one\r\ntwo\r\n")
    assert "CRLF" in proposal.preview.note
    await calls.apply(proposal)
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("one\ntwo\nthree", "loses its end"),
        ("one \ntwo\nthree\n", "Only blanks at line ends"),
        ("one\u202e\ntwo\nthree\n", "U+202E"),
        ("one\u00a0\ntwo\nthree\n!", "U+00A0"),
    ],
)
async def test_changes_that_a_diff_hides_are_named(content, said):
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    proposal = await calls.propose("write_file", path="a.txt", content=content)
    assert said in proposal.preview.note


async def test_the_users_own_version_is_written_and_reported():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    result = await calls.call("write_file", path="a.txt", content="new\n", edited="newer\n")
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"newer\n"
    assert "The user changed your text" in result.output and "+newer" in result.output


async def test_a_held_file_is_edited_in_the_page_and_said_to_be_unsaved():
    calls = _calls()
    documents = calls.ctx.workspace.documents
    documents.hold("a.txt")
    documents.user_writes("a.txt", "typed, not saved\n")
    assert "typed, not saved" in (await calls.call("read_file", path="a.txt")).output
    result = await calls.call("write_file", path="a.txt", content="new\n")
    assert "not saved to disk yet" in result.output
    assert documents.disk["a.txt"] == b"one\ntwo\nthree\n"


@pytest.mark.parametrize("path", ["n.ipynb", "N.IPYNB", "new.ipynb"])
async def test_a_notebook_is_never_written_as_text(path):
    calls = _calls_of({}, {"n.ipynb": ["x"]})
    for name, input in (
        ("write_file", {"content": "{}", "create_if_missing": True}),
        ("edit_file", {"edits": [{"before": "x", "after": "y"}]}),
        ("show_diff", {"content": "{}"}),
    ):
        with pytest.raises(NotText) as caught:
            await calls.propose(name, path=path, **input)
        assert "insert_cells" in caught.value.hint


async def test_paths_outside_the_root_are_refused_by_every_tool():
    calls = _calls()
    for name, input in (
        ("read_file", {}),
        ("write_file", {"content": "x", "create_if_missing": True}),
        ("edit_file", {"edits": [{"before": "x", "after": "y"}]}),
        ("show_diff", {"content": "x"}),
        ("get_diagnostics", {}),
    ):
        result = await calls.call(name, path="../x.py", **input)
        assert result.metadata["code"] == "path_refused", name


# -- show_diff -----------------------------------------------------------------------------------


async def test_show_diff_is_a_read_that_shows_the_change():
    calls = _calls()
    proposal = await calls.propose("show_diff", path="a.txt", content="one\nzwei\nthree\n")
    assert proposal.facts.effect == "read"
    output = (await calls.apply(proposal)).output
    assert "-two\n+zwei" in output
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\ntwo\nthree\n"


async def test_show_diff_of_the_same_text_and_of_a_new_file():
    calls = _calls()
    same = await calls.call("show_diff", path="a.txt", content="one\ntwo\nthree\n")
    assert same.output.startswith("No difference")
    assert "+x" in (await calls.call("show_diff", path="new.txt", content="x\n")).output


# -- edit_file -----------------------------------------------------------------------------------


async def _edit(calls, *edits, path="a.txt"):
    await calls.call("read_file", path=path)
    return await calls.call("edit_file", path=path, edits=list(edits))


async def test_spans_are_replaced_in_order():
    calls = _calls()
    result = await _edit(
        calls, {"before": "two", "after": "2"}, {"before": "2\nthree", "after": "2\n3"}
    )
    assert result.success
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\n2\n3\n"


async def test_one_bad_span_means_no_change_at_all():
    calls = _calls()
    result = await _edit(calls, {"before": "two", "after": "2"}, {"before": "four", "after": "4"})
    assert "edits[1].before is not in a.txt" in result.error
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"one\ntwo\nthree\n"


async def test_a_span_that_occurs_twice_is_ambiguous_unless_all():
    calls = _calls_of({"a.txt": "x = 1\ny = 1\nx = 1\n"})
    result = await _edit(calls, {"before": "x = 1", "after": "x = 2"})
    assert "occurs 2 times in a.txt (lines 1, 3)" in result.error
    result = await _edit(calls, {"before": "x = 1", "after": "x = 2", "all": True})
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"x = 2\ny = 1\nx = 2\n"


async def test_a_span_that_is_not_there_shows_the_closest_text():
    calls = _calls_of({"a.py": "def area(radius):\n    return 3.14 * radius ** 2\n"})
    result = await _edit(
        calls, {"before": "    return 3.14 * radius**2", "after": "x"}, path="a.py"
    )
    assert "differs only in blanks" in result.error or "The closest text is" in result.error
    assert "line 2:\n    return 3.14 * radius ** 2" in result.error


async def test_a_span_with_other_indentation_is_recognised():
    calls = _calls_of({"a.py": "if x:\n\tgo()\n"})
    result = await _edit(calls, {"before": "    go()", "after": "stop()"}, path="a.py")
    assert "differs only in blanks, line 2" in result.error


async def test_crlf_in_spans_matches_any_file():
    calls = _calls_of({"a.txt": "a\r\nb\r\nc\r\n"})
    result = await _edit(calls, {"before": "a\r\nb", "after": "a\nx"})
    assert result.success
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"a\r\nx\r\nc\r\n"


async def test_an_empty_span_is_refused():
    assert "is empty" in (await _edit(_calls(), {"before": "", "after": "x"})).error


async def test_a_stale_edit_shows_the_text_as_it_is_now():
    calls = _calls()
    await calls.call("read_file", path="a.txt")
    calls.ctx.workspace.documents.user_writes("a.txt", "one\nTWO\n")
    result = await calls.call("edit_file", path="a.txt", edits=[{"before": "one", "after": "1"}])
    assert "has changed since it was read" in result.error and "TWO" in result.error
    assert (
        await calls.call("edit_file", path="a.txt", edits=[{"before": "one", "after": "1"}])
    ).success
    assert calls.ctx.workspace.documents.disk["a.txt"] == b"1\nTWO\n"


async def test_a_stale_edit_shows_what_changed_since_the_file_was_read():
    calls = _calls_of({"a.txt": "one\ntwo\n"})
    await calls.call("read_file", path="a.txt")
    calls.ctx.workspace.documents.user_writes("a.txt", "one\n2\n")
    stale = await calls.call("write_file", path="a.txt", content="mine\n")
    diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n \n"
    assert f"What changed since you saw it:\n{diff}Its text is now:\none\n2" in stale.error
    assert (await calls.call("write_file", path="a.txt", content="mine\n")).success


async def test_a_stale_long_file_must_be_read_again():
    calls = _calls_of({"a.txt": "x\n" * 20_000})
    await calls.call("read_file", path="a.txt")
    calls.ctx.workspace.documents.user_writes("a.txt", "y\n" * 20_000 + "z\n")
    for _ in range(2):
        result = await calls.call("edit_file", path="a.txt", edits=[{"before": "z", "after": "1"}])
        assert "use read_file" in result.error and len(result.error) < 500


async def test_editing_a_missing_file_is_an_error():
    with pytest.raises(DocumentNotFound):
        await _calls().propose("edit_file", path="b", edits=[{"before": "a", "after": "b"}])


async def test_looking_for_the_closest_text_in_a_big_file_is_quick():
    text = "\n".join(f"value_{number} = compute({number})" for number in range(60_000))
    calls = _calls_of({"a.py": text})
    await calls.call("read_file", path="a.py")
    with pytest.raises(ToolError):
        await calls.propose(
            "edit_file", path="a.py", edits=[{"before": "valeu_7 = compote(7)", "after": ""}]
        )
