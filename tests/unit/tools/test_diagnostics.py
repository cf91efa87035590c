import pytest
from tool_calls import ToolCalls

from vitto_jupyter.protocol.context import Diagnostic
from vitto_jupyter.workspace.base import Seen
from vitto_jupyter.workspace.memory import memory_workspace, notebook_of


async def _of_file(text, path="a.py", **options):
    return await ToolCalls(memory_workspace({path: text}, **options)).call(
        "get_diagnostics", path=path
    )


async def _of_cells(*cells, language="python"):
    notebook = notebook_of(*cells, language=language)
    calls = ToolCalls(memory_workspace(notebooks={"n.ipynb": notebook}))
    return await calls.call("get_diagnostics", path="n.ipynb")


def _problems(result):
    return [
        (one["cell_id"], one["line"], one["severity"], one["message"])
        for one in result.metadata["diagnostics"]
    ]


async def test_a_clean_file_has_no_problems():
    result = await _of_file("import os\nprint(os.name)\n")
    assert result.output == "0 problems in a.py"


async def test_syntax_errors_and_warnings_of_a_file():
    result = await _of_file("def f(:\n    pass\n")
    assert _problems(result)[0][1:3] == (1, "error")
    result = await _of_file("import os\nx = nope\n")
    assert "line 1:1: warning: 'os' imported but unused [pyflakes]" in result.output
    assert "line 2:5: error: undefined name 'nope' [pyflakes]" in result.output
    assert "'return' outside function" in (await _of_file("return 1\n")).output


async def test_checking_runs_nothing(tmp_path):
    marker = tmp_path / "ran"
    result = await _of_file(f"open({str(marker)!r}, 'w')\nimport nowhere\nnowhere.go()\n")
    assert result.success and not marker.exists()


async def test_cells_are_taken_together_and_problems_led_back_to_theirs():
    result = await _of_cells("import os\nx = 1", "print(x, os.name)", "\nprint(y)")
    assert _problems(result) == [("c3", 2, "error", "undefined name 'y'")]
    assert "cell 3 (id c3) line 2:7" in result.output


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline",
        "%load_ext autoreload\n%autoreload 2",
        "!pip install x",
        "files = !ls\nprint(files)",
        "out = %timeit -o sum(range(3))\nprint(out)",
        "!echo one \\\n  two \\\n  three",
        "if True:\n    !ls\n    %cd ..",
        "print?\nlen??\n?print\nstr.join?",
        "%%bash\nfor i in *; do echo $i; done",
        "%%html\n<b>x</b>",
        "%%writefile x.py\nthis is (not python",
        "%%time\nx = 1\nprint(x)",
        "%%capture out\nprint(1)",
        "\n%%time\nx = 1",
        "import asyncio\nawait asyncio.sleep(0)",
        "async with open('x') as f:\n    pass",
        "display(1)\nget_ipython()\nIn, Out, _, __",
        "_12, _i3, _oh",
        "x = (7\n % 3)\nprint(x)",
        "text = '''\n%s and !x\n''' % 1\n%time print(text)",
        "%%sql result <<\nselect 1",
        "1 + 1;",
        "",
    ],
)
async def test_what_is_normal_in_a_notebook_is_no_problem(source):
    result = await _of_cells(source)
    assert _problems(result) == [], result.output


async def test_magics_use_and_define_names():
    assert _problems(await _of_cells("import numpy as np", "%timeit np.sum(3)")) == []
    assert _problems(await _of_cells("import sys", "!{sys.executable} -m pip list")) == []
    assert _problems(await _of_cells("%%capture out\nprint(1)", "out.show()")) == []
    assert _problems(await _of_cells("%%R -o frame\nframe <- 1", "print(frame)")) == []


async def test_importing_again_in_a_later_cell_is_normal():
    assert _problems(await _of_cells("import os\nos.name", "import os\nos.name")) == []


async def test_lines_stay_right_after_magics():
    result = await _of_cells("%%time\n!ls\n\nprint(nope)", "%%bash\na\nb", "x = nix")
    assert [(p[0], p[1]) for p in _problems(result)] == [("c1", 4), ("c3", 1)]


async def test_a_broken_cell_does_not_make_the_others_look_broken():
    result = await _of_cells("def f(:\n    x = 1", "print(f)", "import os")
    assert _problems(result) == [
        ("c1", 1, "error", "invalid syntax"),
        ("c3", 1, "warning", "'os' imported but unused"),
    ]


async def test_a_yield_outside_a_function_is_still_a_problem():
    result = await _of_cells("yield 1")
    assert "'yield' outside function" in result.output


async def test_other_languages_are_not_judged():
    result = await _of_cells("x <- 1", language="R")
    assert result.success and "Only Python is checked" in result.output
    assert "Only Python is checked" in (await _of_file("{", path="a.json")).output


async def test_what_an_open_editor_reports_is_added_once():
    here = Diagnostic(path="a.py", line=1, severity="error", message="from pyright", source="lsp")
    same = Diagnostic(
        path="a.py", line=1, column=7, severity="error", message="undefined name 'nope'"
    )
    other = Diagnostic(path="b.py", line=1, severity="error", message="elsewhere")
    result = await _of_file("print(nope)\n", seen=Seen(diagnostics=(here, same, other)))
    assert result.metadata["count"] == 2
    assert "from pyright [lsp]" in result.output and "elsewhere" not in result.output


@pytest.mark.parametrize("text", ["(" * 5000, "x = " + "-" * 100_000 + "1", "\0", "a" * 3_000_000])
async def test_hostile_text_gives_an_answer(text):
    calls = ToolCalls(memory_workspace(notebooks={"n.ipynb": [text]}))
    assert (await calls.call("get_diagnostics", path="n.ipynb")).success
