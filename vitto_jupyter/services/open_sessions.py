"""The sessions that are open in this server, and when they are closed. Owned by SessionManager."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from ..agent.ports import Clock
from ..errors import NotFound
from .open_session import OpenSession, open_session
from .session_records import RecordStore

CLOSE_IDLE_AFTER_S = 30.0


class OpenSessions:
    """Opens a session at its first use, and closes it half a minute after its last one, so
    that another server on the same home may go on with it."""

    def __init__(self, *, records: RecordStore, clock: Clock, wake: Callable[[str], None]) -> None:
        self._records = records
        self._clock = clock
        self._wake = wake
        self._open: dict[str, OpenSession] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._closing: set[asyncio.Task[None]] = set()

    def find(self, session_id: str) -> OpenSession | None:
        return self._open.get(session_id)

    def all(self) -> tuple[OpenSession, ...]:
        return tuple(self._open.values())

    @asynccontextmanager
    async def use(self, session_id: str) -> AsyncIterator[OpenSession]:
        """The session, open at least as long as the block runs.

        Raises:
            NotFound, SessionInUse, StorageFailed.
        """
        session = await self._opened(session_id)
        with session.keep():
            yield session

    @asynccontextmanager
    async def use_alone(self, session_id: str) -> AsyncIterator[OpenSession]:
        """As `use`, while nobody else starts a turn in the session or deletes it.

        Raises:
            NotFound: also when it was deleted meanwhile.
        """
        async with self.use(session_id) as session, session.starting:
            if session.hub.closed:
                raise NotFound("There is no such session.", code="session_not_found")
            yield session

    async def _opened(self, session_id: str) -> OpenSession:
        async with self._lock(session_id):
            session = self._open.get(session_id)
            if session is None:
                record = await asyncio.to_thread(self._records.load, session_id)
                session = await open_session(
                    record=record,
                    folder=self._records.folder(session_id),
                    clock=self._clock,
                    wake=lambda: self._wake(session_id),
                    on_idle=self._close_later,
                )
                self._open[session_id] = session
            return session

    async def delete(self, session: OpenSession) -> None:
        """Close an idle session and remove its files; its subscriptions end."""
        session_id = session.record.session_id
        async with self._lock(session_id):
            self._open.pop(session_id, None)
            await session.close()
            await asyncio.to_thread(self._records.delete, session_id)

    async def close(self) -> None:
        sessions = self.all()
        self._open.clear()
        await asyncio.gather(*(session.close() for session in sessions))

    def _lock(self, session_id: str) -> asyncio.Lock:
        return self._locks.setdefault(session_id, asyncio.Lock())

    def _close_later(self, session: OpenSession) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(CLOSE_IDLE_AFTER_S, self._start_closing, session)

    def _start_closing(self, session: OpenSession) -> None:
        task = asyncio.get_running_loop().create_task(self._close_idle(session))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _close_idle(self, session: OpenSession) -> None:
        session_id = session.record.session_id
        async with self._lock(session_id):
            if session.uses == 0 and self._open.get(session_id) is session:
                del self._open[session_id]
                await session.close()
