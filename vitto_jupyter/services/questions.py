"""Questions of one session to its user, answered once. Owned by sessions.

A question comes from a tool call or from the cell that it started, and may outlive its turn.
The answer goes to whoever asked, and nowhere else: into no event, no log and no trail.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal

from ..agent.completion import to_completion
from ..agent.texts import capped, clean
from ..errors import BadRequest, Conflict, NotFound, StorageFailed
from ..protocol.base import new_id
from ..protocol.events import Choice, QuestionAsked, QuestionClosed
from ..workspace.base import Question
from .event_hub import EventHub

log = logging.getLogger(__name__)
Outcome = Literal["answered", "dismissed", "void"]
PROMPT_CHARS = 2_000
LABEL_CHARS = 200
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
# all but tab and newline: controls, and what turns the direction of the text around
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(slots=True)
class _Open:
    """A question that waits; who closes it holds `lock` until that is on the trail."""

    question: Question
    turn_id: str | None
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answer: str | None = field(default=None, repr=False)


class Questions:
    """Questions and answers of a session.

    Args:
        earlier: How earlier questions were closed, by id, from the trail.
        keep: Keeps the session open while a question waits.
    """

    def __init__(
        self,
        hub: EventHub,
        earlier: Mapping[str, Outcome],
        keep: Callable[[], AbstractContextManager[object]],
    ) -> None:
        self._hub = hub
        self._keep = keep
        self._open: dict[str, _Open] = {}
        self._outcomes = dict(earlier)
        # tells the same answer from another one without keeping either
        self._key = secrets.token_bytes(32)
        self._answers: dict[str, bytes] = {}

    @property
    def waiting(self) -> bool:
        """True when a question waits for the user."""
        return any(not entry.closed.is_set() for entry in self._open.values())

    async def ask(
        self, question: Question, *, tool_call_id: str, turn_id: str | None
    ) -> str | None:
        """Ask and wait, however long. None: the user will not answer, or cannot any more.

        Cancelling the wait makes the question void.

        Raises:
            StorageFailed: it could not be recorded, so nobody was asked.
        """
        question = _for_people(question)
        question_id = new_id("qst")
        entry = _Open(question, turn_id)
        with self._keep():
            # known before it is shown: an answer may come at once
            self._open[question_id] = entry
            try:
                await self._hub.emit(_asked(question_id, tool_call_id, question), turn_id=turn_id)
                await entry.closed.wait()
            except asyncio.CancelledError:
                await to_completion(self._void(question_id, entry))
                raise
            finally:
                del self._open[question_id]
        return entry.answer

    async def answer(self, question_id: str, answer: str | None) -> None:
        """Take the user's answer; None: they will not answer. The same answer again is fine.

        Raises:
            NotFound: this session has no such question.
            Conflict: it was answered otherwise, or is void.
            BadRequest: the answer is none of the choices.
            StorageFailed: the answer could not be recorded; the question stays open.
        """
        entry = self._open.get(question_id)
        if entry is None:
            self._check_earlier(question_id, answer)
            return
        values = [value for value, _ in entry.question.choices]
        if answer is not None and values and answer not in values:
            raise BadRequest("This is none of the answers to choose from.")
        async with entry.lock:
            if not entry.closed.is_set():
                await to_completion(self._take(question_id, entry, answer))
                return
        self._check_earlier(question_id, answer)

    async def close(self) -> None:
        """The session goes: all that waits is void, and gets no answer."""
        for question_id, entry in list(self._open.items()):
            await self._void(question_id, entry)

    async def _take(self, question_id: str, entry: _Open, answer: str | None) -> None:
        outcome: Outcome = "dismissed" if answer is None else "answered"
        await self._record(question_id, entry, outcome)
        entry.answer = answer
        self._answers[question_id] = self._mark(answer)
        entry.closed.set()

    async def _void(self, question_id: str, entry: _Open) -> None:
        async with entry.lock:
            if entry.closed.is_set():
                return
            try:
                await self._record(question_id, entry, "void")
            except StorageFailed as err:
                log.warning("the end of a question was not recorded: %s", err.message)
            finally:
                entry.closed.set()

    async def _record(self, question_id: str, entry: _Open, outcome: Outcome) -> None:
        closed = QuestionClosed(question_id=question_id, outcome=outcome)
        await self._hub.emit(closed, turn_id=entry.turn_id)
        self._outcomes[question_id] = outcome

    def _check_earlier(self, question_id: str, answer: str | None) -> None:
        outcome = self._outcomes.get(question_id)
        if outcome is None:
            raise NotFound("This session has no such question.")
        if outcome == "void":
            raise Conflict("This question is void: what asked it has ended.", code="question_void")
        if self._answers.get(question_id) != self._mark(answer):
            raise Conflict("This question was already answered.", code="already_answered")

    def _mark(self, answer: str | None) -> bytes:
        text = b"" if answer is None else b"=" + answer.encode("utf-8", "surrogatepass")
        return hmac.new(self._key, text, hashlib.sha256).digest()


def _asked(question_id: str, tool_call_id: str, question: Question) -> QuestionAsked:
    choices = tuple(Choice(value=value, label=label) for value, label in question.choices)
    return QuestionAsked(
        question_id=question_id,
        tool_call_id=tool_call_id,
        prompt=question.prompt,
        secret=question.secret,
        choices=choices,
    )


def _for_people(question: Question) -> Question:
    """The question as it is shown: a prompt is data of a kernel, which may hold anything."""
    choices = tuple(
        (clean(value), plain(label, LABEL_CHARS) or clean(value))
        for value, label in question.choices
    )
    return Question(plain(question.prompt, PROMPT_CHARS), question.secret, choices)


def plain(text: str, limit: int) -> str:
    """`text` without terminal codes and control characters, its middle cut when long."""
    bare = _CONTROL.sub("", _ESCAPE.sub("", clean(text.replace("\r\n", "\n"))))
    return capped(bare.strip("\n"), limit)
