"""One tool call, from the model's input to a result. Everything that goes wrong is a result.

parse -> propose -> policy -> the user, where asked -> tool.started -> apply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ToolError
from ..policy.trust import decide
from ..protocol.approval import ActionPreview, Preview
from ..protocol.events import Mode, ToolProgress, ToolStarted
from ..protocol.tool import Effect, ToolResult
from ..settings import Settings
from ..tools.base import Grant, Proposal, Tool, ToolContext, failed, nobody
from ..tools.toolset import Toolset
from ..workspace.base import Ask, Question, TextSink
from .answers import Call
from .deadlines import Deadline
from .guard import NO_GUARD, Guard, MaskedText
from .ports import Approver, Asker, EventSink
from .results import storable
from .texts import clean

MakeContext = Callable[[TextSink], ToolContext]

_log = logging.getLogger(__name__)
_GRACE_S = 60.0
_INVALID_CHARS = 300
_FAULT_CHARS = 300


@dataclass(frozen=True, slots=True)
class CallPorts:
    """What calls work with. `make_context` gets the sink of a call's live output."""

    toolset: Toolset
    make_context: MakeContext
    mode: Mode
    approver: Approver
    sink: EventSink
    settings: Settings
    guard: Guard = NO_GUARD
    asker: Asker | None = None


def effect_of(call: Call, toolset: Toolset) -> Effect:
    """The effect that a call may have; an unknown tool has none, like a read."""
    tool = toolset.find(call.name)
    return tool.effect if tool else "read"


async def run_call(call: Call, ports: CallPorts, *, on_started: Callable[[], None]) -> ToolResult:
    """Run one call, in a task of its own. Raises nothing but the cancellation of that task.

    `on_started` is called when the act itself begins: from then on it may have had effects.
    """
    try:
        return ports.guard.mask.result(storable(await _run(call, ports, on_started)))
    except ToolError as err:
        result = failed(f"{err.message} {err.hint}".strip())
    except asyncio.CancelledError:
        if _is_cancelled():
            raise
        result = failed(f"{call.name} ended early: something it waited for was cancelled.")
    except Exception as err:  # noqa: BLE001 the tool runner: a turn outlives its tools
        _log.exception("tool %s failed unexpectedly", call.name)
        what = f"{type(err).__name__}: {err}"[:_FAULT_CHARS]
        result = failed(f"{call.name} failed because of a fault in Vitto ({what}); it was logged.")
    return ports.guard.mask.result(storable(result))


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _run(call: Call, ports: CallPorts, on_started: Callable[[], None]) -> ToolResult:
    if call.invalid_input is not None:
        raise ToolError(_invalid_input(call))
    tool, args = ports.toolset.parse(call.name, call.input)
    live = MaskedText(ports.guard.mask, _progress(call, ports.sink))
    deadline = Deadline()
    context = replace(
        ports.make_context(live.say),
        tool_call_id=call.tool_call_id,
        ask=_asking(call, ports, deadline),
    )
    proposal = await deadline.within(
        ports.settings.read_timeout_s,
        _proposed(tool, context, args),
        f"{call.name} was looking",
    )
    answer = await _permission(call, proposal, ports)
    await ports.sink.emit(ToolStarted(tool_call_id=call.tool_call_id))
    on_started()
    result = await deadline.within(
        _deadline_s(proposal.facts.effect, ports.settings) + proposal.waits_s,
        proposal.apply(answer.grant),
        f"{call.name} was at work",
    )
    await live.end()
    return _with_comment(result, answer.comment)


async def _proposed(tool: Tool, context: ToolContext, args: Any) -> Proposal:
    """What the call would do. Its facts name also what a path leads to, links resolved."""
    proposal = await tool.propose(context, args)
    named = proposal.facts.paths
    led_to = [await context.workspace.documents.resolved(path) for path in named]
    paths = tuple(dict.fromkeys((*named, *led_to)))
    return replace(proposal, facts=replace(proposal.facts, paths=paths))


@dataclass(frozen=True, slots=True)
class _Permission:
    comment: str = ""
    grant: Grant = field(default_factory=Grant)


async def _permission(call: Call, proposal: Proposal, ports: CallPorts) -> _Permission:
    """Leave to act, from policy or the user.

    Raises:
        ToolError: refused; the message says by whom and why.
    """
    verdict = decide(proposal.facts, ports.mode, private=ports.guard.private)
    if verdict.action == "deny":
        raise ToolError(verdict.reason, code="denied")
    if verdict.action == "allow":
        return _Permission()
    title, preview = _card(call, proposal)
    shown = replace(proposal, title=title, preview=preview)
    answer = await ports.approver.ask(
        tool_call_id=call.tool_call_id,
        title=title,
        reason=verdict.reason,
        preview=preview,
        digest=shown.digest,
    )
    if answer.decision != "approve":
        raise ToolError(_rejection(answer.comment), code="rejected")
    return _Permission(answer.comment, Grant(by_user=True, edited=answer.edited_content))


def _card(call: Call, proposal: Proposal) -> tuple[str, Preview]:
    """Title and preview; an act without words of its own, such as reading, gets some."""
    title = text = proposal.title or call.name
    if proposal.facts.effect == "read" and proposal.facts.paths:
        title = f"Let Vitto read {' and '.join(proposal.facts.paths)}?"
        text = "The model gets names and structure; values are left out."
    return title, proposal.preview or ActionPreview(text=text)


def _asking(call: Call, ports: CallPorts, deadline: Deadline) -> Ask:
    asker = ports.asker
    if asker is None:
        return nobody

    async def ask(question: Question) -> str | None:
        shown = replace(question, prompt=ports.guard.mask.text(question.prompt))
        with deadline.paused():
            return await asker.ask(shown, tool_call_id=call.tool_call_id)

    return ask


def _deadline_s(effect: Effect, settings: Settings) -> float:
    """The outer deadline: write and execute tools keep their own, tighter ones."""
    if effect == "read":
        return settings.read_timeout_s
    return max(settings.cell_timeout_s, settings.command_timeout_s) + _GRACE_S


def _progress(call: Call, sink: EventSink) -> TextSink:
    async def progress(text: str) -> None:
        if text:
            await sink.emit(ToolProgress(tool_call_id=call.tool_call_id, text=clean(text)))

    return progress


def _invalid_input(call: Call) -> str:
    text = call.invalid_input or ""
    if len(text) > _INVALID_CHARS:
        text = f"{text[:_INVALID_CHARS]}…"
    return (
        f"Nothing was run: the input of {call.name} was not a JSON object. Send the call again "
        f"with valid JSON. What came was: {text or '(nothing)'}"
    )


def _rejection(comment: str) -> str:
    said = f" They say: {comment.strip()}" if comment.strip() else ""
    return (
        f"Rejected by the user; nothing was changed or run.{said} Do not try the same again: "
        "do what they ask, or say what you would need."
    )


def _with_comment(result: ToolResult, comment: str) -> ToolResult:
    if not comment.strip():
        return result
    said = f"The user approved this and says: {comment.strip()}"
    return result.model_copy(update={"output": f"{result.output}\n\n{said}".strip()})
