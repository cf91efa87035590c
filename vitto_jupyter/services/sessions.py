"""Sessions: what the doors (HTTP, magic, bridge) may ask for. Owns running turns.

Every running turn has a task here, and no connection owns one. Built by app.py.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ..agent.ports import Clock
from ..errors import Conflict, ProviderError, StorageFailed, VittoError
from ..protocol.approval import Decision
from ..protocol.base import new_id
from ..protocol.events import ErrorInfo, SessionCreated, SessionRenamed, TurnStarted
from ..protocol.requests import CancelReply, CreateSession, StartTurn
from ..protocol.session import SessionInfo
from ..settings import Settings
from ..tools.toolset import Toolset
from .detached_runs import DetachedRuns, still_running
from .event_hub import Subscription
from .open_session import OpenSession, info_of
from .open_sessions import OpenSessions
from .provider_choice import Choice, ProviderChoice, Wish
from .session_records import RecordStore, SessionRecord
from .turn_work import TurnWork, Workbench
from .turns import Turn, TurnSink

log = logging.getLogger(__name__)
STOP_GRACE_S = 2.0
SHUTDOWN_GRACE_S = 4.0
SAVE_AGAIN_AFTER_S = 2.0
STILL_RUNNING_TIMEOUT_S = 1.0
TITLE_CHARS = 60
SHUTDOWN = ErrorInfo(
    code="shutdown",
    message="The Jupyter server was shut down while this turn was running.",
    hint="Send it again to go on.",
)


class SessionManager:
    """All sessions of one contents root.

    Args:
        workbench: Gives the workspace and the tools; first called by the first turn.
        wake: Called with a session id when idle pages should look at that session.
        secrets: What no model and no trail may hold, by name; asked at each turn.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        root: str,
        clock: Clock,
        choice: ProviderChoice,
        workbench: Callable[[], Awaitable[Workbench]],
        wake: Callable[[str], None],
        secrets: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._root = root
        self._clock = clock
        self._choice = choice
        self._make_workbench = workbench
        self._work = TurnWork(
            settings=settings, root=root, clock=clock, workbench=self._workbench, secrets=secrets
        )
        self._records = RecordStore(settings.data_dir, root=root)
        self._open = OpenSessions(records=self._records, clock=clock, wake=wake)
        self._detached = DetachedRuns(self._open)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def _workbench(self) -> Workbench:
        bench = await self._make_workbench()
        self._detached.listen(bench.workspace.runs)
        return bench

    # -- sessions --------------------------------------------------------------------------

    async def create(self, body: CreateSession) -> SessionInfo:
        now = self._clock.now_iso()
        record = SessionRecord(
            session_id=new_id("ses"),
            root=self._root,
            title=body.title or "",
            notebook_path=body.notebook_path,
            created_at=now,
            updated_at=now,
        )
        await asyncio.to_thread(self._records.create, record)
        async with self._open.use(record.session_id) as session:
            created = SessionCreated(title=record.title, notebook_path=record.notebook_path)
            await session.hub.emit(created, turn_id=None)
            return session.info()

    async def list(self) -> tuple[SessionInfo, ...]:
        """The sessions of this contents root, the latest first; reads no trails."""
        records = await asyncio.to_thread(self._records.list)
        opened = (self._open.find(record.session_id) for record in records)
        return tuple(
            session.info() if session else info_of(record, state="idle")
            for record, session in zip(records, opened, strict=True)
        )

    async def get(self, session_id: str) -> SessionInfo:
        """Raises NotFound."""
        session = self._open.find(session_id)
        return session.info() if session else info_of(await self._load(session_id), state="idle")

    async def rename(self, session_id: str, title: str) -> SessionInfo:
        async with self._open.use(session_id) as session:
            await session.hub.emit(SessionRenamed(title=title), turn_id=None)
            await self._save(session, title=title)
            return session.info()

    async def delete(self, session_id: str) -> None:
        """Stop what runs, then remove the session and all its files."""
        async with self._open.use(session_id) as session:
            session.stop_preparing()
        async with self._open.use_alone(session_id) as session:
            await self._stop(session, grace_s=STOP_GRACE_S)
            await self._open.delete(session)

    async def wish(self, session_id: str) -> Wish:
        """What the session has chosen of providers and models."""
        session = self._open.find(session_id)
        return _wish_of(session.record if session else await self._load(session_id))

    # -- events ----------------------------------------------------------------------------

    @asynccontextmanager
    async def events(self, session_id: str, *, after: int) -> AsyncIterator[Subscription]:
        """A subscription to a session's events, see EventHub.subscribe."""
        async with self._open.use(session_id) as session:
            with session.hub.subscribe(after=after) as subscription:
                yield subscription

    async def last_seq(self, session_id: str) -> int:
        async with self._open.use(session_id) as session:
            return session.hub.last_seq

    async def decide(self, session_id: str, approval_id: str, decision: Decision) -> None:
        """Answer an approval, see Approvals.decide."""
        async with self._open.use(session_id) as session:
            await session.approvals.decide(approval_id, decision)

    async def answer(self, session_id: str, question_id: str, answer: str | None) -> None:
        """Answer a question, see Questions.answer."""
        async with self._open.use(session_id) as session:
            await session.questions.answer(question_id, answer)

    # -- turns -----------------------------------------------------------------------------

    async def start_turn(
        self, session_id: str, body: StartTurn, *, toolset: Toolset | None = None
    ) -> str:
        """Start a turn and answer at once; repeating a request with its turn_id is harmless.

        Args:
            toolset: In place of the server's own, e.g. with tools that the client runs.

        Raises:
            NotFound: there is no such session (any more).
            Conflict: a turn runs already, or the server is shutting down.
            BadRequest: there is no such provider.
            StorageFailed: the start could not be recorded; nothing was started.
        """
        async with self._open.use_alone(session_id) as session:
            if body.turn_id is not None and body.turn_id in session.turn_ids:
                return body.turn_id
            await self._check_free(session)
            wish = _wish_of(session.record).then(Wish(body.provider, body.model, body.effort))
            self._choice.check(wish)
            choice = await session.unless_stopped(self._choose(wish))
            self._check_open()
            turn_id = body.turn_id or new_id("trn")
            await session.hub.emit(_started(body, choice), turn_id=turn_id)
            session.turn_ids.add(turn_id)
            sink = TurnSink(session.hub, turn_id)
            work = self._work.run(session, body, choice=choice, sink=sink, toolset=toolset)
            session.turn = Turn(turn_id, sink=sink, work=work)
            self._spawn(self._supervise(session, session.turn))
            await self._note_start(session, body, wish)
            return turn_id

    async def _check_free(self, session: OpenSession) -> None:
        self._check_open()
        if session.turn is not None and session.turn.ended.done():
            await session.turn.over.wait()  # its end is on the way to the trail
        if session.turn is not None:
            raise Conflict(
                "A turn is running in this session.",
                code="turn_running",
                hint="Wait for it to end, or stop it first.",
            )
        await session.save_end()

    def _check_open(self) -> None:
        if self._closing:
            raise Conflict("The server is shutting down.", code="shutting_down")

    async def _choose(self, wish: Wish) -> Choice | ProviderError:
        """A provider that cannot be asked for its models is a failed turn, not a lost prompt."""
        try:
            return await self._choice.choose(wish)
        except ProviderError as err:
            return err

    async def _note_start(self, session: OpenSession, body: StartTurn, wish: Wish) -> None:
        title = session.record.title or title_from(body.prompt)
        try:
            if title != session.record.title:
                await session.hub.emit(SessionRenamed(title=title), turn_id=None)
        except StorageFailed as err:
            log.warning("a title was not recorded: %s", err.message)
        await self._save(
            session,
            title=title,
            turns=len(session.turn_ids),
            provider=wish.provider,
            model=wish.model,
            effort=wish.effort,
        )

    async def _supervise(self, session: OpenSession, turn: Turn) -> None:
        """Wait for a turn and record its end, exactly once, however it ended."""
        async with self._open.use(session.record.session_id):
            await turn.ended
            session.end(turn)
            try:
                await session.save_end()
            except StorageFailed as err:
                log.error("the end of a turn could not be saved: %s", err.message)
                self._spawn(self._save_end_later(session))
            finally:
                session.turn = None
                turn.over.set()
            await session.save_seen()
            await self._save(session)

    async def _save_end_later(self, session: OpenSession) -> None:
        async with self._open.use(session.record.session_id):
            while session.has_unsaved_end and not self._closing:
                await self._clock.sleep(SAVE_AGAIN_AFTER_S)
                try:
                    await session.save_end()
                except StorageFailed:
                    continue

    async def cancel(self, session_id: str) -> CancelReply:
        """Stop the agent within two seconds; says what goes on without it."""
        async with self._open.use(session_id) as session:
            stopped = session.stop_preparing()
            if session.turn is None:
                async with session.starting:
                    pass  # a turn that was about to start is there now
            turn = session.turn
            stopped = await self._stop(session, grace_s=STOP_GRACE_S) or stopped
            running = await self._still_running(session, turn)
            return CancelReply(cancelled=stopped, still_running=running)

    async def _stop(
        self, session: OpenSession, *, grace_s: float, error: ErrorInfo | None = None
    ) -> bool:
        turn = session.turn
        if turn is None:
            return False
        await turn.stop(grace_s=grace_s, error=error)
        await turn.over.wait()
        return True

    async def _still_running(self, session: OpenSession, turn: Turn | None) -> tuple[str, ...]:
        left = turn is not None and not turn.task.done()
        found = ("a tool that has not stopped yet",) if left else ()
        paths = set(turn.sink.executing_paths) if turn else set()
        paths.update([session.record.notebook_path] if session.record.notebook_path else [])
        session_id = session.record.session_id
        if turn is None and not paths and session_id not in self._detached.session_ids():
            return found
        try:
            async with asyncio.timeout(STILL_RUNNING_TIMEOUT_S):
                workspace = (await self._workbench()).workspace
                kernels = await workspace.kernels.running()
                jobs = await workspace.terminals.left_running()
        except (TimeoutError, VittoError):
            return found
        runs = [run for run in workspace.runs.open_runs() if run.session_id == session_id]
        ours = still_running(runs, now_iso=self._clock.now_iso())
        paths.difference_update(run.path for run in runs)
        busy = [k.path for k in kernels if k.state == "busy" and k.path in paths]
        return (*found, *ours, *(f"kernel of {path}" for path in busy), *jobs)

    def running(self) -> list[str]:
        """The sessions with a turn at work, or a run that goes on."""
        turns = {s.record.session_id for s in self._open.all() if s.turn is not None}
        return sorted(turns | self._detached.session_ids())

    # -- the rest --------------------------------------------------------------------------

    async def _load(self, session_id: str) -> SessionRecord:
        return await asyncio.to_thread(self._records.load, session_id)

    async def _save(self, session: OpenSession, **changes: object) -> None:
        """session.json is only an index: failing to write it costs no data."""
        update = {**changes, "updated_at": self._clock.now_iso()}
        session.record = session.record.model_copy(update=update)
        async with session.saving_record:
            try:
                await asyncio.to_thread(self._records.save, session.record)
            except StorageFailed as err:
                log.warning("%s", err.message)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop all turns, mark them, and end all subscriptions."""
        self._closing = True
        for session in self._open.all():
            session.stop_preparing()
        await asyncio.gather(
            *(
                self._stop(session, grace_s=SHUTDOWN_GRACE_S, error=SHUTDOWN)
                for session in self._open.all()
            )
        )
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=STOP_GRACE_S)
        self._detached.close()
        await self._open.close()


def title_from(prompt: str) -> str:
    """A title made of a prompt's first words."""
    words = " ".join(prompt.split())
    if len(words) <= TITLE_CHARS:
        return words or "Untitled"
    return words[:TITLE_CHARS].rsplit(" ", 1)[0] + "…"


def _started(body: StartTurn, choice: Choice | ProviderError | None) -> TurnStarted:
    chosen = choice if isinstance(choice, Choice) else None
    return TurnStarted(
        prompt=body.prompt,
        mode=body.mode,
        context=body.context,
        provider=chosen.provider.name if chosen else "",
        model=chosen.model if chosen else "",
    )


def _wish_of(record: SessionRecord) -> Wish:
    return Wish(record.provider, record.model, record.effort)
