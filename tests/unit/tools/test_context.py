from tool_calls import ToolCalls

from vitto_jupyter.protocol.context import Diagnostic
from vitto_jupyter.tools.context import workspace_context
from vitto_jupyter.workspace.base import Seen
from vitto_jupyter.workspace.memory import error, memory_workspace

PROBLEM = Diagnostic(path="a.py", line=1, severity="error", message="bad")
SEEN = Seen(active_path="n.ipynb", open_paths=("n.ipynb", "a.py"), diagnostics=(PROBLEM,))


def _workspace(**options):
    return memory_workspace({"a.py": ""}, {"n.ipynb": ["a", "b"]}, branch="main", **options)


async def test_the_context_names_what_is_open_and_how_it_stands():
    calls = ToolCalls(
        _workspace(seen=SEEN, answers={"b": [error("ValueError", "x")]}), notebook_path="n.ipynb"
    )
    await calls.call("run_cells")
    output = (await calls.call("get_context")).output
    assert "n.ipynb: 2 cells, 1 cell with errors, kernel python3, idle" in output
    assert "Open: n.ipynb, a.py" in output
    assert "Git branch: main" in output
    assert "Problems in open documents: 1" in output
    assert "Terminals: available" in output


async def test_the_context_of_the_wire_is_the_same():
    context = await workspace_context(_workspace(seen=SEEN), None)
    assert context.path == "n.ipynb" and context.git_branch == "main"
    assert context.notebook.cells == 2 and context.notebook.kernel_state == "not started"
    assert context.problems == 1 and context.diagnostics == (PROBLEM,)


async def test_a_context_with_nothing_open_or_a_lost_notebook_is_still_an_answer():
    assert (await ToolCalls(memory_workspace()).call("get_context")).success
    context = await workspace_context(_workspace(), "gone.ipynb")
    assert context.notebook is None
