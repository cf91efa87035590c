"""The demo over the real tools and the in-memory workspace."""

from __future__ import annotations

import pytest

from vitto_jupyter.agent.context import context_text
from vitto_jupyter.agent.ports import Answered
from vitto_jupyter.protocol.approval import DiffPreview
from vitto_jupyter.protocol.context import NotebookState, TurnContext, WorkspaceContext
from vitto_jupyter.providers.demo import DemoProvider
from vitto_jupyter.testing.doubles import AutoApprover
from vitto_jupyter.testing.requests import check_messages
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.toolset import builtin_toolset
from vitto_jupyter.workspace.memory import error, memory_workspace, result

SETUP = "import pandas as pd\nsales = pd.DataFrame({'units': [3, 4]})"
WRONG = "sales['unitz'].sum()"
RIGHT = "sales['units'].sum()"


def state(path: str) -> WorkspaceContext:
    notebook = NotebookState(
        path=path, cells=2, cells_with_errors=0, kernel_name="python3", kernel_state="idle"
    )
    return WorkspaceContext(
        root="/home/u", path=path, notebook=notebook, git_branch=None, problems=0
    )


def agent(*sources: str, approve: bool = True) -> Agent:
    workspace = memory_workspace(
        notebooks={"a b.ipynb": list(sources)},
        answers={WRONG: (error("KeyError", "'unitz'"),), RIGHT: (result("7"),)},
    )
    return Agent(
        DemoProvider(pace_s=0),
        toolset=builtin_toolset(),
        workspace=workspace,
        approver=AutoApprover(otherwise=Answered("approve" if approve else "reject", "not now")),
        notebook_path="a b.ipynb",
    )


async def ask(demo: Agent, prompt: str, *, path: str = "a b.ipynb") -> str:
    context = context_text(TurnContext(path=path), state(path)) if path else ""
    outcome = await demo.run(prompt, context=context)
    assert outcome.reason == "done"
    check_messages(demo.conversation.messages)
    return demo.sink.text()


async def test_every_turn_says_that_it_is_no_language_model() -> None:
    for prompt in ("hello", "plot it", "fix it"):
        assert "not a language model" in await ask(agent(SETUP), prompt)


async def test_a_failing_cell_is_found_by_running_and_fixed_as_a_diff() -> None:
    demo = agent(SETUP, WRONG)
    text = await ask(demo, "Fix the failing cell")
    assert "Cell 2 is fixed and has run." in text
    notebook = await demo.workspace.documents.read_notebook("a b.ipynb")
    assert notebook.cells[1].source == RIGHT
    previews = [question.preview for question in demo.approver.questions]
    assert isinstance(previews[-1], DiffPreview)
    assert [(c.before, c.after) for c in previews[-1].changes] == [(WRONG, RIGHT)]


async def test_a_data_frame_is_plotted_after_its_cell_has_run() -> None:
    demo = agent(SETUP)
    await ask(demo, "Draw a plot")
    notebook = await demo.workspace.documents.read_notebook("a b.ipynb")
    assert len(notebook.cells) == 2
    assert "sales.plot(" in notebook.cells[1].source
    assert [source for _, source, _ in demo.workspace.kernels.ran] == [
        SETUP,
        notebook.cells[1].source,
    ]


async def test_a_rejection_ends_the_plan_and_changes_nothing() -> None:
    demo = agent("x = 1", approve=False)
    text = await ask(demo, "hello")
    assert "did not go through" in text
    assert len((await demo.workspace.documents.read_notebook("a b.ipynb")).cells) == 1


async def test_without_a_notebook_it_lists_what_there_is() -> None:
    assert "a b.ipynb" in await ask(agent(SETUP), "hello", path="")


async def test_a_second_prompt_starts_a_new_plan() -> None:
    demo = agent(SETUP)
    await ask(demo, "hello")
    text = await ask(demo, "Fix it")
    assert "nothing to fix" in text


@pytest.mark.parametrize("prompt", ["hello", "plot it", "fix it"])
async def test_the_same_conversation_gives_the_same_reply(prompt: str) -> None:
    assert await ask(agent(SETUP, WRONG), prompt) == await ask(agent(SETUP, WRONG), prompt)
