import time

import pytest
from tool_calls import ToolCalls

from vitto_jupyter.errors import DocumentNotFound, PathRefused, ToolError
from vitto_jupyter.settings import Settings
from vitto_jupyter.tools.base import Grant
from vitto_jupyter.tools.globs import Glob
from vitto_jupyter.workspace.base import Cell
from vitto_jupyter.workspace.memory import memory_workspace, notebook_of, stream

FILES = {
    "README.md": "# Title\nneedle here\n",
    "src/app.py": "import os\nx = 'needle'\n",
    "src/deep/er/mod.py": "NEEDLE = 1\n",
    "data/big.csv": "needle\n" * 10,
    ".env": "KEY=needle\n",
    ".git/config": "needle\n",
    "a.png": b"\x89PNG needle",
    "blob.dat": b"\0needle",
}


def _calls(files=None, notebooks=None, settings=None):
    workspace = memory_workspace(FILES if files is None else files, notebooks)
    return ToolCalls(workspace, settings=settings)


def _hits(result):
    return [line for line in result.output.split("\n")[1:] if not line.startswith("[")]


# -- search_code ---------------------------------------------------------------------------------


async def test_matches_are_named_by_path_and_line():
    result = await _calls().call("search_code", pattern="needle", include="*.{py,md}")
    assert result.output.startswith("2 matches in 2 files")
    assert _hits(result) == ["README.md:2: needle here", "src/app.py:2: x = 'needle'"]
    assert result.metadata["count"] == 2


async def test_hidden_and_binary_files_stay_out():
    result = await _calls().call("search_code", pattern="needle")
    assert ".env" not in result.output and ".git" not in result.output
    assert "a.png:" not in result.output and "blob.dat:" not in result.output
    assert "2 large, binary or secret files not searched" in result.output


async def test_a_literal_is_taken_as_it_is_and_a_regex_as_one():
    calls = _calls({"a.txt": "f(x)\nfx\n"})
    assert _hits(await calls.call("search_code", pattern="f(x)")) == ["a.txt:1: f(x)"]
    result = await calls.call("search_code", pattern="f(x)", regex=True)
    assert _hits(result) == ["a.txt:2: fx"]
    result = await _calls().call("search_code", pattern="(?i)needle\\b.*1$", regex=True)
    assert _hits(result) == ["src/deep/er/mod.py:1: NEEDLE = 1"]


async def test_a_notebook_is_searched_by_its_sources_only():
    cells = (
        Cell("c1", "code", "a = 1\nb = 'needle'", "1", 1, (stream("needle"),)),
        Cell("m", "markdown", "nothing", "2"),
    )
    calls = _calls({}, {"n.ipynb": notebook_of(*cells)})
    result = await calls.call("search_code", pattern="needle")
    assert _hits(result) == ["n.ipynb cell 1 (id c1) line 2: b = 'needle'"]
    assert (await calls.call("search_code", pattern="cell_type")).metadata["count"] == 0


async def test_a_search_can_start_in_a_folder_or_in_one_file():
    calls = _calls()
    assert _hits(await calls.call("search_code", pattern="needle", path="src")) == [
        "src/app.py:2: x = 'needle'"
    ]
    assert len(_hits(await calls.call("search_code", pattern="needle", path="data/big.csv"))) == 10
    assert not (await calls.call("search_code", pattern="x", path="nope")).success


async def test_a_result_that_was_cut_says_so():
    result = await _calls().call("search_code", pattern="needle", max_results=3)
    assert len(_hits(result)) == 3
    assert "cut at 3 matches, there may be more" in result.output


async def test_gitignore_is_honoured_also_in_folders_below():
    calls = _calls(
        {
            ".gitignore": "build/\n*.log\n!keep.log\n# needle\n",
            "build/out.py": "needle",
            "a.log": "needle",
            "keep.log": "needle",
            "src/.gitignore": "/gen.py\n",
            "src/gen.py": "needle",
            "src/x/gen.py": "needle",
        }
    )
    result = await calls.call("search_code", pattern="needle")
    assert [hit.split(":")[0] for hit in _hits(result)] == ["keep.log", "src/x/gen.py"]
    # Named outright, an ignored folder is searched.
    assert len(_hits(await calls.call("search_code", pattern="needle", path="build"))) == 1
    # The rules above a folder hold when the search starts in it.
    calls.ctx.workspace.documents.disk["src/b.log"] = b"needle"
    result = await calls.call("search_code", pattern="needle", path="src")
    assert [hit.split(":")[0] for hit in _hits(result)] == ["src/x/gen.py"]


async def test_a_pathological_regex_ends_and_the_result_says_so():
    calls = _calls({"a.txt": "a" * 40 + "!\n"}, settings=Settings(read_timeout_s=2))
    began = time.monotonic()
    result = await calls.call("search_code", pattern="(a+)+$", regex=True)
    assert time.monotonic() - began < 10
    assert not result.success
    assert "matching took too long" in result.error


async def test_a_pathological_gitignore_does_not_hang_the_walk():
    name = "a" * 120
    calls = _calls({".gitignore": "*a" * 30 + "b\n", name: "needle"})
    began = time.monotonic()
    assert len(_hits(await calls.call("search_code", pattern="needle"))) == 1
    assert time.monotonic() - began < 5


async def test_overlong_lines_are_cut_in_results_and_left_out_of_regexes():
    calls = _calls({"min.js": "x" * 500_000 + "needle"})
    result = await calls.call("search_code", pattern="needle")
    assert len(result.output) < 1_000 and result.metadata["count"] == 1
    result = await calls.call("search_code", pattern="nee+dle", regex=True)
    assert result.metadata["count"] == 0 and "1 over-long line not searched" in result.output


@pytest.mark.parametrize(
    ("pattern", "regex"), [("(", True), ("", False), ("a\nb", False), ("x" * 2000, True)]
)
async def test_an_unusable_pattern_is_refused_before_the_search(pattern, regex):
    with pytest.raises(ToolError):
        await _calls().propose("search_code", pattern=pattern, regex=regex)


async def test_a_glob_that_climbs_out_is_refused_whether_or_not_something_is_there():
    messages = set()
    for include in ("../**/*.pem", "/etc/*"):
        with pytest.raises(PathRefused) as caught:
            await _calls().propose("search_code", pattern="KEY", include=include)
        messages.add(caught.value.message.replace(include, ""))
    assert len(messages) == 1


# -- list_files ----------------------------------------------------------------------------------


async def _names(calls, pattern, **input):
    return (await calls.call("list_files", pattern=pattern, **input)).output.split("\n")


async def test_a_name_is_found_at_any_depth():
    assert await _names(_calls(), "*.py") == ["src/app.py", "src/deep/er/mod.py"]
    assert await _names(_calls(), "mod.py") == ["src/deep/er/mod.py"]


async def test_a_path_pattern_is_anchored():
    assert await _names(_calls(), "src/*.py") == ["src/app.py"]
    assert await _names(_calls(), "src/**/*.py") == ["src/app.py", "src/deep/er/mod.py"]
    assert await _names(_calls(), "**/er/*.{py,txt}") == ["src/deep/er/mod.py"]


async def test_a_star_lists_a_folder_with_its_folders():
    assert await _names(_calls(), "*") == ["README.md", "a.png", "blob.dat", "data/", "src/"]
    assert await _names(_calls(), "src/*") == ["src/app.py", "src/deep/"]
    assert await _names(_calls(), "/home/user/project/src/*") == ["src/app.py", "src/deep/"]


async def test_nothing_found_and_a_missing_folder_are_told_apart():
    assert await _names(_calls(), "*.rs") == ["No file matches."]
    with pytest.raises(DocumentNotFound):
        proposal = await _calls().propose("list_files", pattern="nope/*")
        await proposal.apply(Grant())


async def test_a_long_list_is_cut_and_says_so():
    calls = _calls({f"f{number:04}.txt": "" for number in range(500)})
    names = await _names(calls, "*.txt", max_results=10)
    assert names[:2] == ["f0000.txt", "f0001.txt"]
    assert names[10:] == ["[cut at 10: narrow the pattern]"]
    assert len(await _names(calls, "*.txt", max_results=500)) == 500


async def test_names_that_could_forge_a_line_are_left_out_and_counted():
    calls = _calls({"a\nb.txt": "needle", "x\u202e.txt": "needle", "ok.txt": "needle"})
    assert await _names(calls, "*") == ["ok.txt", "[2 deceptive names left out]"]
    result = await calls.call("search_code", pattern="needle")
    assert _hits(result) == ["ok.txt:1: needle"]
    assert "2 deceptive names left out" in result.output


async def test_a_tree_without_end_ends():
    calls = _calls({"/".join(["d"] * 200) + "/x.txt": ""})
    assert await _names(calls, "x.txt") == ["No file matches."]


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/a/**/b.py", "x/a/y/z/b.py", True),
        ("**/a/**/b.py", "a/b.py", True),
        ("**/a/**/b.py", "x/b.py", False),
        ("src/", "src/deep/a.py", True),
        ("src/**", "srcs/a.py", False),
        ("[ab].py", "x/a.py", True),
        ("?.py", "ab.py", False),
        ("**", "a/b/c", True),
        ("*.PY", "a.py", False),
        ("{a,b}/{c,d}.txt", "b/c.txt", True),
    ],
)
def test_globs(pattern, path, expected):
    assert Glob(pattern).matches(path) is expected


def test_no_glob_takes_long():
    began = time.monotonic()
    assert not Glob("*a*a*a*a*a*a*a*a*a*a*a*a*b").matches("a" * 250)
    assert not Glob("**/a/" * 20 + "b").matches("/".join(["a"] * 200))
    assert time.monotonic() - began < 2
    with pytest.raises(ToolError):
        Glob("{a,b}" * 12)
