"""The fold: events to transcript. Pure; the TypeScript twin is `model/reducer.ts`.

`fold(transcript, event)` ignores events at or below `last_seq`, so replaying is harmless.
"""

from __future__ import annotations

from collections.abc import Iterable

from .events import (
    AnyEvent,
    ApprovalRequested,
    ApprovalResolved,
    ModelRequested,
    Notice,
    QuestionAsked,
    QuestionClosed,
    RunDetached,
    RunFinished,
    SessionCreated,
    SessionRenamed,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolProgress,
    ToolRequested,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
)
from .session import (
    FINISHED,
    ApprovalState,
    Block,
    NoticeBlock,
    Phase,
    QuestionState,
    RunState,
    TextBlock,
    ThinkingBlock,
    ToolBlock,
    Transcript,
    TurnView,
    Usage,
)

PROGRESS_CHARS = 20_000
_OPEN = ("requested", "waiting", "running")


def empty_transcript(session_id: str) -> Transcript:
    return Transcript(session_id=session_id, title="", notebook_path=None, last_seq=0, turns=())


def fold_all(session_id: str, events: Iterable[AnyEvent]) -> Transcript:
    transcript = empty_transcript(session_id)
    for event in events:
        transcript = fold(transcript, event)
    return transcript


def fold(transcript: Transcript, event: AnyEvent) -> Transcript:
    """The transcript after `event`; unchanged when the event was already folded."""
    if event.seq <= transcript.last_seq:
        return transcript
    update: dict[str, object] = {"last_seq": event.seq}
    if isinstance(event, SessionCreated):
        update |= {"title": event.title, "notebook_path": event.notebook_path}
    elif isinstance(event, SessionRenamed):
        update |= {"title": event.title}
    elif isinstance(event, TurnStarted):
        going_on = tuple(run for run in transcript.runs if run.finished_at is None)
        update |= {"turns": (*transcript.turns, _new_turn(event)), "runs": going_on}
    else:
        update |= _fold_beside_turns(transcript, event)
        update |= {
            "turns": tuple(
                _fold_turn(turn, event) if turn.turn_id == event.turn_id else turn
                for turn in transcript.turns
            )
        }
    return transcript.model_copy(update=update)


def _fold_beside_turns(transcript: Transcript, event: AnyEvent) -> dict[str, object]:
    """Questions and detached runs may outlive the turn that they came from."""
    match event:
        case QuestionAsked():
            question = QuestionState(
                question_id=event.question_id,
                tool_call_id=event.tool_call_id,
                prompt=event.prompt,
                secret=event.secret,
                choices=event.choices,
                asked_at=event.at,
            )
            return {"questions": (*transcript.questions, question)}
        case QuestionClosed():
            return {
                "questions": tuple(
                    q for q in transcript.questions if q.question_id != event.question_id
                )
            }
        case RunDetached():
            run = RunState(
                run_id=event.run_id,
                tool_call_id=event.tool_call_id,
                path=event.path,
                labels=event.labels,
                state="running",
                text="",
                detached_at=event.at,
                finished_at=None,
            )
            return {"runs": (*transcript.runs, run)}
        case RunFinished():
            end = {"state": event.state, "text": event.text, "finished_at": event.at}
            return {
                "runs": tuple(
                    run.model_copy(update=end) if run.run_id == event.run_id else run
                    for run in transcript.runs
                )
            }
    return {}


def _new_turn(event: TurnStarted) -> TurnView:
    return TurnView(
        turn_id=event.turn_id or "",
        prompt=event.prompt,
        mode=event.mode,
        context=event.context,
        provider=event.provider,
        model=event.model,
        state="running",
        error=None,
        phase=Phase(name="model", since=event.at, detail="", retry_at=None),
        blocks=(),
        request_start=0,
        usage=Usage(),
        started_at=event.at,
        finished_at=None,
    )


def _fold_turn(turn: TurnView, event: AnyEvent) -> TurnView:
    if turn.state != "running":
        return turn
    match event:
        case ModelRequested():
            kept = turn.blocks if event.attempt == 1 else _without_broken_attempt(turn)
            return _turn(
                turn, blocks=kept, request_start=len(kept), phase=_phase("model", event.at)
            )
        case TextDelta():
            return _turn(
                turn, blocks=_joined(turn, event), phase=_same_or(turn, "writing", event.at)
            )
        case ThinkingDelta():
            return _turn(
                turn, blocks=_joined(turn, event), phase=_same_or(turn, "thinking", event.at)
            )
        case ToolInputDelta():
            return _turn(
                turn, blocks=_with_input(turn, event), phase=_same_or(turn, "writing", event.at)
            )
        case ToolRequested():
            return _turn(turn, blocks=_with_request(turn, event))
        case ApprovalRequested():
            approval = ApprovalState(
                approval_id=event.approval_id,
                title=event.title,
                reason=event.reason,
                preview=event.preview,
                digest=event.digest,
                decision=None,
                comment="",
                by=None,
            )
            changed = _update_tool(
                turn.blocks, event.tool_call_id, state="waiting", approval=approval
            )
            return _turn(
                turn,
                blocks=changed,
                phase=_phase("approval", event.at, _tool_name(turn, event.tool_call_id)),
            )
        case ApprovalResolved():
            return _turn(turn, blocks=_resolved(turn.blocks, event))
        case ToolStarted():
            return _turn(
                turn,
                blocks=_update_tool(
                    turn.blocks, event.tool_call_id, state="running", started_at=event.at
                ),
                phase=_phase("tool", event.at, _tool_name(turn, event.tool_call_id)),
            )
        case ToolProgress():
            return _turn(turn, blocks=_with_progress(turn.blocks, event))
        case ToolFinished():
            return _turn(turn, blocks=_with_result(turn.blocks, event))
        case QuestionAsked():
            name = _tool_name(turn, event.tool_call_id)
            return _turn(turn, phase=_phase("question", event.at, name))
        case QuestionClosed() if turn.phase is not None and turn.phase.name == "question":
            return _turn(turn, phase=_phase("tool", event.at, turn.phase.detail))
        case UsageUpdated():
            usage = Usage(
                input_tokens=event.input_tokens,
                output_tokens=event.output_tokens,
                cache_read_tokens=event.cache_read_tokens,
                cache_write_tokens=event.cache_write_tokens,
            )
            return _turn(turn, usage=usage)
        case Notice():
            if event.retry_at is not None:
                waiting = Phase(
                    name="retrying", since=event.at, detail=event.text, retry_at=event.retry_at
                )
                return _turn(turn, phase=waiting)
            notice = NoticeBlock(level=event.level, code=event.code, text=event.text)
            return _turn(turn, blocks=(*turn.blocks, notice))
        case TurnFinished():
            closed = tuple(
                block.model_copy(update={"state": "cancelled", "finished_at": event.at})
                if isinstance(block, ToolBlock) and block.state in _OPEN
                else block
                for block in turn.blocks
            )
            return _turn(
                turn,
                state=FINISHED[event.reason],
                error=event.error,
                phase=None,
                blocks=closed,
                finished_at=event.at,
            )
    return turn


def _turn(turn: TurnView, **update: object) -> TurnView:
    return turn.model_copy(update=update)


def _phase(name: str, since: str, detail: str = "") -> Phase:
    return Phase(name=name, since=since, detail=detail, retry_at=None)  # type: ignore[arg-type]


def _same_or(turn: TurnView, name: str, at: str) -> Phase:
    """The current phase when it already has this name, so that its age keeps counting."""
    return turn.phase if turn.phase and turn.phase.name == name else _phase(name, at)


def _tool_name(turn: TurnView, tool_call_id: str) -> str:
    for block in turn.blocks:
        if isinstance(block, ToolBlock) and block.tool_call_id == tool_call_id:
            return block.name
    return ""


def _without_broken_attempt(turn: TurnView) -> tuple[Block, ...]:
    """Drops what the broken attempt had shown; notices stay."""
    start = turn.request_start
    shown = turn.blocks[start:]
    return turn.blocks[:start] + tuple(b for b in shown if isinstance(b, NoticeBlock))


def _joined(turn: TurnView, event: TextDelta | ThinkingDelta) -> tuple[Block, ...]:
    kind = TextBlock if isinstance(event, TextDelta) else ThinkingBlock
    last = turn.blocks[-1] if turn.blocks else None
    # a new request starts a new block
    if isinstance(last, kind) and len(turn.blocks) > turn.request_start:
        return (*turn.blocks[:-1], last.model_copy(update={"text": last.text + event.text}))
    return (*turn.blocks, kind(text=event.text))


def _with_input(turn: TurnView, event: ToolInputDelta) -> tuple[Block, ...]:
    for i, block in enumerate(turn.blocks):
        if isinstance(block, ToolBlock) and block.tool_call_id == event.tool_call_id:
            grown = block.model_copy(update={"input_json": block.input_json + event.partial_json})
            return (*turn.blocks[:i], grown, *turn.blocks[i + 1 :])
    return (*turn.blocks, _tool_block(event.tool_call_id, event.name, event.at, event.partial_json))


def _with_request(turn: TurnView, event: ToolRequested) -> tuple[Block, ...]:
    blocks = turn.blocks
    if not any(isinstance(b, ToolBlock) and b.tool_call_id == event.tool_call_id for b in blocks):
        blocks = (*blocks, _tool_block(event.tool_call_id, event.name, event.at, ""))
    return _update_tool(
        blocks, event.tool_call_id, input=event.input, input_json="", effect=event.effect
    )


def _tool_block(tool_call_id: str, name: str, at: str, input_json: str) -> ToolBlock:
    return ToolBlock(
        tool_call_id=tool_call_id,
        name=name,
        input_json=input_json,
        input=None,
        effect=None,
        state="requested",
        approval=None,
        progress="",
        result=None,
        at=at,
        started_at=None,
        finished_at=None,
    )


def _update_tool(
    blocks: tuple[Block, ...], tool_call_id: str, **update: object
) -> tuple[Block, ...]:
    return tuple(
        b.model_copy(update=update)
        if isinstance(b, ToolBlock) and b.tool_call_id == tool_call_id
        else b
        for b in blocks
    )


def _resolved(blocks: tuple[Block, ...], event: ApprovalResolved) -> tuple[Block, ...]:
    def resolve(block: Block) -> Block:
        if not isinstance(block, ToolBlock) or block.approval is None:
            return block
        if block.approval.approval_id != event.approval_id:
            return block
        approval = block.approval.model_copy(
            update={"decision": event.decision, "comment": event.comment, "by": event.by}
        )
        state = "requested" if event.decision == "approve" else "denied"
        return block.model_copy(update={"approval": approval, "state": state})

    return tuple(resolve(b) for b in blocks)


def _with_progress(blocks: tuple[Block, ...], event: ToolProgress) -> tuple[Block, ...]:
    return tuple(
        b.model_copy(update={"progress": (b.progress + event.text)[-PROGRESS_CHARS:]})
        if isinstance(b, ToolBlock) and b.tool_call_id == event.tool_call_id
        else b
        for b in blocks
    )


def _with_result(blocks: tuple[Block, ...], event: ToolFinished) -> tuple[Block, ...]:
    def finish(block: Block) -> Block:
        if not isinstance(block, ToolBlock) or block.tool_call_id != event.tool_call_id:
            return block
        if event.result.metadata.get("cancelled") is True:
            state = "cancelled"
        elif block.state == "denied":
            state = "denied"
        else:
            state = "done" if event.result.success else "failed"
        return block.model_copy(
            update={
                "state": state,
                "result": event.result,
                "progress": "",
                "finished_at": event.at,
            }
        )

    return tuple(finish(b) for b in blocks)
