"""Writes the golden trails and what they fold to. Run it after a change of the contract:

    python tests/golden/write_golden.py

Then read the difference: both folds (protocol/fold.py and model/reducer.ts) are held to these
files, so whatever changes here changes what people see.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vitto_jupyter.protocol import events as ev
from vitto_jupyter.protocol.approval import (
    ActionPreview,
    Change,
    CodePreview,
    CommandPreview,
    DiffPreview,
    Preview,
    Snippet,
)
from vitto_jupyter.protocol.base import JsonObject
from vitto_jupyter.protocol.context import Selection, TurnContext
from vitto_jupyter.protocol.events import EVENT, AnyEvent, Event
from vitto_jupyter.protocol.fold import fold_all
from vitto_jupyter.protocol.tool import ToolResult

FOLDER = Path(__file__).parent
SESSION = "ses_0123456789abcdef0123"
START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
Sequence = Iterator[tuple[str | None, Event]]


def stamped(sequence: Sequence) -> list[AnyEvent]:
    """The events as the hub would have written them, 250 ms apart."""
    trail = []
    for seq, (turn_id, event) in enumerate(sequence, start=1):
        at = (START + timedelta(milliseconds=250 * seq)).isoformat(timespec="milliseconds")
        envelope = {
            "seq": seq,
            "session_id": SESSION,
            "turn_id": turn_id,
            "at": at.replace("+00:00", "Z"),
        }
        trail.append(event.model_copy(update=envelope))
    return trail


def created(title: str = "Sales by month", path: str | None = "analysis.ipynb") -> Event:
    return ev.SessionCreated(title=title, notebook_path=path)


def started(prompt: str, context: TurnContext | None = None) -> Event:
    return ev.TurnStarted(
        prompt=prompt,
        mode="ask",
        context=context or TurnContext(path="analysis.ipynb"),
        provider="anthropic",
        model="claude-sonnet-5",
    )


def requested(call: str, name: str, effect: str, **arguments: object) -> Event:
    return ev.ToolRequested(tool_call_id=call, name=name, input=arguments, effect=effect)


def asked(approval: str, call: str, title: str, preview: Preview) -> Event:
    return ev.ApprovalRequested(
        approval_id=approval,
        tool_call_id=call,
        title=title,
        reason="It changes a document.",
        preview=preview,
        digest="5f" * 32,
    )


def resolved(approval: str, decision: str, comment: str = "", by: str = "user") -> Event:
    return ev.ApprovalResolved(
        approval_id=approval, decision=decision, scope="once", comment=comment, by=by
    )


def finished(call: str, output: str, **metadata: object) -> Event:
    return ev.ToolFinished(
        tool_call_id=call, result=ToolResult(success=True, output=output, metadata=metadata)
    )


def failed(call: str, error: str, metadata: JsonObject | None = None) -> Event:
    result = ToolResult(success=False, error=error, metadata=metadata or {})
    return ev.ToolFinished(tool_call_id=call, result=result)


def cell_diff(before: str, after: str) -> DiffPreview:
    change = Change(label="4", cell_id="c4", before=before, after=after)
    return DiffPreview(path="analysis.ipynb", language="python", changes=(change,))


def text_and_thinking() -> Sequence:
    """Pieces join within a request; a second turn without tools; a renamed session."""
    yield None, created(title="", path=None)
    yield "trn_a", started("Why is the curve flat?", TurnContext())
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", ev.ThinkingDelta(text="The user asks ")
    yield "trn_a", ev.ThinkingDelta(text="about a curve.")
    yield "trn_a", ev.TextDelta(text="The index is ")
    yield "trn_a", ev.TextDelta(text="**sorted as text** \u2013 äöü 🙂\u2028line")
    yield (
        "trn_a",
        ev.UsageUpdated(
            input_tokens=120, output_tokens=30, cache_read_tokens=0, cache_write_tokens=900
        ),
    )
    yield "trn_a", ev.TurnFinished(reason="done")
    yield None, ev.SessionRenamed(title="Flat curve")
    selection = Selection(
        path="analysis.ipynb", cell_id="c4", text="df.plot()", start_line=1, end_line=1
    )
    yield (
        "trn_b",
        started(
            "Shorter, please.",
            TurnContext(path="analysis.ipynb", cell_id="c4", selection=selection),
        ),
    )
    yield "trn_b", ev.ModelRequested(request=1, attempt=1)
    yield "trn_b", ev.TextDelta(text="Sorted as text.")
    yield "trn_b", ev.TurnFinished(reason="done")


def tools_and_approvals() -> Sequence:
    """Reads run, an edit is approved, a command is rejected with a comment."""
    diff = cell_diff("df.groupby('mnth').sum()", "df.groupby('month').sum()")
    yield None, created()
    yield "trn_a", started("Fix cell 4 and run it.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", ev.TextDelta(text="I look at the notebook first.")
    yield "trn_a", ev.ToolInputDelta(tool_call_id="call_1", name="read_notebook", partial_json="")
    yield (
        "trn_a",
        ev.ToolInputDelta(
            tool_call_id="call_1", name="read_notebook", partial_json='{"path": "analysis.ipynb"}'
        ),
    )
    yield "trn_a", requested("call_1", "read_notebook", "read", path="analysis.ipynb")
    yield "trn_a", requested("call_2", "read_file", "read", path="missing.csv")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    yield "trn_a", finished("call_1", "12 cells", path="analysis.ipynb", count=12)
    yield "trn_a", ev.ToolStarted(tool_call_id="call_2")
    yield "trn_a", failed("call_2", "There is no file missing.csv.")
    yield "trn_a", ev.ModelRequested(request=2, attempt=1)
    yield "trn_a", ev.TextDelta(text="The column is misspelled.")
    yield "trn_a", requested("call_3", "edit_cell", "execute", cell_id="c4", run=True)
    yield "trn_a", asked("apr_1", "call_3", "Edit and run cell 4 of analysis.ipynb", diff)
    yield "trn_a", resolved("apr_1", "approve")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_3")
    yield "trn_a", ev.ToolProgress(tool_call_id="call_3", text="loading…\n")
    yield "trn_a", ev.ToolProgress(tool_call_id="call_3", text="done\n")
    yield "trn_a", finished("call_3", "month  sales", cell_id="c4", label="4", added=1, removed=1)
    yield "trn_a", ev.ModelRequested(request=3, attempt=1)
    yield "trn_a", requested("call_4", "run_command", "execute", command="rm -rf build")
    yield (
        "trn_a",
        asked("apr_2", "call_4", "Run a command", CommandPreview(command="rm -rf build", cwd="")),
    )
    yield "trn_a", resolved("apr_2", "reject", "Leave build alone.")
    yield "trn_a", failed("call_4", "The user rejected this: Leave build alone.")
    yield "trn_a", ev.ModelRequested(request=4, attempt=1)
    yield "trn_a", ev.TextDelta(text="Cell 4 works; I left `build` alone.")
    yield "trn_a", ev.TurnFinished(reason="done")


def retry() -> Sequence:
    """A broken attempt is withdrawn: its text, its thinking, its half-written call."""
    yield None, created()
    yield "trn_a", started("Summarise.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", ev.TextDelta(text="Kept, from the first request.")
    yield "trn_a", requested("call_1", "list_files", "read", pattern="*")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    yield "trn_a", finished("call_1", "a.csv")
    yield "trn_a", ev.ModelRequested(request=2, attempt=1)
    yield "trn_a", ev.ThinkingDelta(text="broken thought")
    yield "trn_a", ev.TextDelta(text="broken text")
    yield (
        "trn_a",
        ev.ToolInputDelta(tool_call_id="call_2", name="read_file", partial_json='{"pa'),
    )
    yield "trn_a", ev.Notice(level="info", code="degraded", text="Images were left out.")
    yield (
        "trn_a",
        ev.Notice(
            level="warning",
            code="retrying",
            text="The service is overloaded.",
            retry_at="2026-11-30T09:00:09.000Z",
        ),
    )
    yield "trn_a", ev.ModelRequested(request=2, attempt=2)
    yield "trn_a", ev.TextDelta(text="There is one file.")
    yield "trn_a", ev.TurnFinished(reason="done")


def retry_running() -> Sequence:
    """As left in the middle of a countdown: the phase is "retrying", with its time."""
    yield None, created()
    yield "trn_a", started("Summarise.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", ev.TextDelta(text="Half an ")
    yield (
        "trn_a",
        ev.Notice(
            level="warning",
            code="retrying",
            text="The connection was lost.",
            retry_at="2026-11-30T09:00:05.000Z",
        ),
    )


def cancelled() -> Sequence:
    """Stop while a tool runs and another one waits for its answer; then a new turn."""
    code = CodePreview(
        path="analysis.ipynb",
        language="python",
        snippets=(Snippet(cell_id="c4", label="4", source="while True: pass"),),
    )
    yield None, created()
    yield "trn_a", started("Run it.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", requested("call_1", "run_cells", "execute", cells=["c4"])
    yield "trn_a", requested("call_2", "kernel", "execute", act="restart")
    yield "trn_a", requested("call_3", "read_file", "read", path="a.csv")
    yield "trn_a", asked("apr_1", "call_1", "Run cell 4 of analysis.ipynb", code)
    yield "trn_a", resolved("apr_1", "approve")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    yield "trn_a", ev.ToolProgress(tool_call_id="call_1", text="step 1\n")
    yield (
        "trn_a",
        asked("apr_2", "call_2", "Restart the kernel", ActionPreview(text="All variables go.")),
    )
    yield "trn_a", resolved("apr_2", "reject", "The turn was stopped.", by="system")
    yield "trn_a", failed("call_1", "Stopped by the user.", {"cancelled": True})
    yield "trn_a", failed("call_2", "Stopped by the user.", {"cancelled": True})
    yield "trn_a", ev.TurnFinished(reason="cancelled")
    yield "trn_a", ev.TextDelta(text="late text of a finished turn is ignored")
    yield "trn_b", started("Go on.")
    yield "trn_b", ev.ModelRequested(request=1, attempt=1)
    yield "trn_b", ev.TextDelta(text="The kernel still works on cell 4.")


def images_and_limits() -> Sequence:
    """An image in a result, a plain notice, the request limit, a failed turn."""
    yield None, created()
    yield "trn_a", started("Plot it.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", requested("call_1", "execute_code", "execute", code="df.plot()")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    image = {"media_type": "image/png", "data": PIXEL}
    yield "trn_a", finished("call_1", "[image]", images=[image], seconds=0.4)
    yield "trn_a", ev.Notice(level="warning", code="limit_near", text="2 requests are left.")
    yield "trn_a", ev.TurnFinished(reason="limit")
    yield "trn_b", started("Again.")
    yield "trn_b", ev.ModelRequested(request=1, attempt=1)
    error = ev.ErrorInfo(code="no_key", message="No API key.", hint="Set ANTHROPIC_API_KEY.")
    yield "trn_b", ev.TurnFinished(reason="error", error=error)


def waiting() -> Sequence:
    """A card that waits, as seen after a reload; long progress is cut to its end."""
    yield None, created()
    yield "trn_a", started("Write the summary.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", requested("call_1", "run_command", "execute", command="make")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    yield "trn_a", ev.ToolProgress(tool_call_id="call_1", text="x" * 19_990)
    yield "trn_a", ev.ToolProgress(tool_call_id="call_1", text="y" * 20)
    yield "trn_a", requested("call_2", "edit_cell", "write", cell_id="c4")
    yield "trn_a", asked("apr_1", "call_2", "Edit cell 4?", cell_diff("a = 1\n", "a = 2\n"))


def questions() -> Sequence:
    """A cell asks twice, the second time after its turn was stopped; a choice; a void one."""
    yield None, created()
    yield "trn_a", started("Run it.")
    yield "trn_a", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", requested("call_1", "run_cells", "execute", cell_ids=["c4"])
    kernels = (ev.Choice(value="python3", label="Python 3"), ev.Choice(value="bash", label="Bash"))
    yield (
        "trn_a",
        ev.QuestionAsked(
            question_id="qst_1", tool_call_id="call_1", prompt="Which kernel?", choices=kernels
        ),
    )
    yield "trn_a", ev.QuestionClosed(question_id="qst_1", outcome="answered")
    yield "trn_a", ev.ToolStarted(tool_call_id="call_1")
    yield (
        "trn_a",
        ev.QuestionAsked(question_id="qst_2", tool_call_id="call_1", prompt="Your name? "),
    )
    yield "trn_a", ev.QuestionClosed(question_id="qst_2", outcome="dismissed")
    yield (
        "trn_a",
        ev.QuestionAsked(
            question_id="qst_3", tool_call_id="call_1", prompt="Password: ", secret=True
        ),
    )
    yield "trn_a", failed("call_1", "Stopped by the user.", {"cancelled": True})
    yield "trn_a", ev.TurnFinished(reason="cancelled")
    yield (
        "trn_a",
        ev.QuestionAsked(question_id="qst_4", tool_call_id="call_1", prompt="Again? "),
    )
    yield "trn_b", started("Go on.")
    yield "trn_b", ev.ModelRequested(request=1, attempt=1)
    yield "trn_a", ev.QuestionClosed(question_id="qst_3", outcome="void")
    yield "trn_b", ev.TextDelta(text="The cell waits for you.")


def detached_runs() -> Sequence:
    """Runs go on after their turns: one has ended and is dropped, one ended, one goes on."""
    yield None, created()
    for turn, call, run in (("trn_a", "call_1", "run_1"), ("trn_b", "call_2", "run_2")):
        yield turn, started("Train it.")
        yield turn, ev.ModelRequested(request=1, attempt=1)
        yield turn, requested(call, "run_cells", "execute", cell_ids=["c4", "c5"])
        yield turn, ev.ToolStarted(tool_call_id=call)
        yield (
            turn,
            ev.RunDetached(run_id=run, tool_call_id=call, path="analysis.ipynb", labels=("4", "5")),
        )
        yield turn, finished(call, "It goes on.", path="analysis.ipynb", state="running")
        yield turn, ev.TurnFinished(reason="done")
        yield None, ev.RunFinished(run_id=run, state="ok", text="2 cells ran")
    yield (
        None,
        ev.RunDetached(run_id="run_3", tool_call_id="call_2", path="b.ipynb", labels=("1",)),
    )
    yield (
        None,
        ev.RunFinished(run_id="run_unknown", state="error", text="cell 1: ValueError"),
    )


TRAILS = (
    text_and_thinking,
    tools_and_approvals,
    retry,
    retry_running,
    cancelled,
    images_and_limits,
    waiting,
    questions,
    detached_runs,
)


def main() -> None:
    for sequence in TRAILS:
        trail = stamped(sequence())
        name = sequence.__name__.replace("_", "-")
        lines = [EVENT.dump_json(event).decode() for event in trail]
        (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        transcript = fold_all(SESSION, trail).model_dump_json(indent=1)
        (FOLDER / f"{name}.transcript.json").write_text(transcript + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
