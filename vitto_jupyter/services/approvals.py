"""Approvals of one session: stored questions, answered once. Owned by sessions.

A question is bound to the digest of what was shown. Its answer is on the trail before the
act that it allows begins; so a crash can lose an act, never the record of who allowed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..agent.completion import to_completion
from ..agent.ports import Answered, EventSink
from ..errors import BadRequest, Conflict, NotFound
from ..protocol.approval import Decision, DiffPreview, Preview
from ..protocol.base import new_id
from ..protocol.events import ApprovalRequested, ApprovalResolved


@dataclass(slots=True)
class _Question:
    """A question of this process. `answer` is set once, when it is on the trail.

    Who answers, or makes it void, holds `lock` until that is on the trail: two answers at once
    are one after the other.
    """

    digest: str
    preview: Preview
    sink: EventSink
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: Decision | None = None


class Approvals:
    """Questions and answers of a session.

    Args:
        answers: Earlier approvals by id, as (decision, by), from the trail.
    """

    def __init__(self, answers: Mapping[str, tuple[str, str]]) -> None:
        self._open: dict[str, _Question] = {}
        self._answers = dict(answers)

    @property
    def waiting(self) -> bool:
        """True when a question waits for the user."""
        return any(question.answer is None for question in self._open.values())

    async def ask(
        self,
        sink: EventSink,
        *,
        tool_call_id: str,
        title: str,
        reason: str,
        preview: Preview,
        digest: str,
    ) -> Answered:
        """Ask and wait; see Approver. The events go to `sink`, the turn's own."""
        approval_id = new_id("apr")
        question = _Question(digest, preview, sink)
        # known before it is shown: an answer may come at once
        self._open[approval_id] = question
        try:
            await sink.emit(
                ApprovalRequested(
                    approval_id=approval_id,
                    tool_call_id=tool_call_id,
                    title=title,
                    reason=reason,
                    preview=preview,
                    digest=digest,
                )
            )
            await question.answered.wait()
        except asyncio.CancelledError:
            await to_completion(self._void(approval_id, question))
            raise
        finally:
            del self._open[approval_id]
        assert question.answer is not None
        answer = question.answer
        return Answered(answer.decision, answer.comment, answer.edited_content)

    async def _void(self, approval_id: str, question: _Question) -> None:
        """The turn was stopped: the question is rejected, unless it has its answer already."""
        async with question.lock:
            if question.answer is None:
                question.answer = Decision(decision="reject", comment="The turn was stopped.")
                self._answers[approval_id] = ("reject", "system")
                await question.sink.emit(_resolved(approval_id, question.answer, by="system"))

    async def decide(self, approval_id: str, decision: Decision) -> None:
        """Take the user's answer. The same answer again is fine; it is used once.

        Raises:
            NotFound: this session has no such approval.
            Conflict: answered otherwise, void, or another digest than the one asked about.
            BadRequest: `edited_content` where it has no meaning.
            StorageFailed: the answer could not be recorded; the question stays open.
        """
        question = self._open.get(approval_id)
        if question is None:
            self._check_earlier(approval_id, decision)
            return
        _check_fits(question, decision)
        async with question.lock:
            if question.answer is None:
                await to_completion(self._answer(approval_id, question, decision))
                return
        self._check_earlier(approval_id, decision)
        if not _same(question.answer, decision):
            raise _answered_otherwise(question.answer.decision)

    def _check_earlier(self, approval_id: str, decision: Decision) -> None:
        earlier = self._answers.get(approval_id)
        if earlier is None:
            raise NotFound("This session has no such approval.")
        if earlier[1] == "system":
            raise Conflict(
                "This question is void: its turn has ended.",
                code="approval_void",
                hint="Ask again in a new turn.",
            )
        if earlier[0] != decision.decision:
            raise _answered_otherwise(earlier[0])

    async def _answer(self, approval_id: str, question: _Question, decision: Decision) -> None:
        await question.sink.emit(_resolved(approval_id, decision, by="user"))
        question.answer = decision
        self._answers[approval_id] = (decision.decision, "user")
        question.answered.set()


def _check_fits(question: _Question, decision: Decision) -> None:
    if decision.digest is not None and decision.digest != question.digest:
        raise Conflict(
            "What was approved is not what is asked now.",
            code="digest_mismatch",
            hint="Look at the current card and answer that one.",
        )
    if decision.edited_content is None:
        return
    preview = question.preview
    single = isinstance(preview, DiffPreview) and len(preview.changes) == 1
    if not single or decision.decision != "approve":
        raise BadRequest("Only the text of a single change can be edited, when approving it.")


def _same(first: Decision, second: Decision) -> bool:
    return (first.decision, first.edited_content) == (second.decision, second.edited_content)


def _answered_otherwise(decision: str) -> Conflict:
    done = "approved" if decision == "approve" else "rejected"
    return Conflict(f"This was already {done}.", code="already_answered")


def _resolved(approval_id: str, decision: Decision, *, by: str) -> ApprovalResolved:
    return ApprovalResolved(
        approval_id=approval_id,
        decision=decision.decision,
        scope=decision.scope,
        comment=decision.comment,
        by=by,  # type: ignore[arg-type]
    )
