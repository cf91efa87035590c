"""The channels to one kernel: sending, and reading in tasks. Imported by the kernel link only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

_PART_CHARS = 1_000_000
_BIG_BYTES = 1_000_000
_log = logging.getLogger(__name__)

Message = dict[str, Any]


class KernelChannels:
    """The channels "iopub", "shell" and "stdin" of a kernel manager's kernel."""

    def __init__(self, kernel: Any) -> None:
        self._client = _async_client(kernel)
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened: tuple[str, ...] = ()

    async def open(
        self, takers: dict[str, Callable[[Message], None]], *, on_lost: Callable[[], None]
    ) -> None:
        """Connect, and hand what comes to the taker of its channel until `close`."""
        from jupyter_core.utils import ensure_async

        self._opened = tuple(takers)
        await ensure_async(self._client.start_channels(hb=False, control=False))
        for name, take in takers.items():
            task = asyncio.create_task(self._read(self._channel(name), take, on_lost))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for name in self._opened:
            socket = getattr(self._channel(name), "socket", None)
            if socket is not None:
                socket.linger = 0  # else closing blocks for what a dead kernel never took
        if self._opened:  # of others it would make channels first
            self._client.stop_channels()

    def message(self, msg_type: str, content: dict[str, Any] | None = None) -> Message:
        return self._client.session.msg(msg_type, content)

    def send(self, name: str, message: Message) -> None:
        """Send on a channel.

        Past the channel's own `send`: that one goes round asyncio, and takes the signal of an
        answer that comes in the same moment, which nobody would then read (ZeroMQ signals edges).
        """
        channel = self._channel(name)
        socket = getattr(channel, "socket", None)  # a gateway's channel has none
        if socket is None:
            channel.send(message)
        else:
            socket.send_multipart(self._client.session.serialize(message))

    async def are_listening(self) -> bool:
        """Whether the kernel's ports are open; True where that cannot be tried."""
        client = self._client
        ports = (client.shell_port, client.iopub_port, client.stdin_port)
        if getattr(client, "transport", "") != "tcp" or not all(ports):
            return True
        for port in ports:
            if not await _listens(client.ip, port):
                return False
        return True

    def _channel(self, name: str) -> Any:
        return getattr(self._client, f"{name}_channel")

    async def _read(
        self, channel: Any, take: Callable[[Message], None], on_lost: Callable[[], None]
    ) -> None:
        while True:
            try:
                message = await self._receive(channel)
            except (ValueError, KeyError, TypeError) as err:  # not signed or not shaped right
                _log.warning("a message of a kernel was dropped: %s", err)
                continue
            except (OSError, RuntimeError) as err:  # the socket or the gateway's connection
                _log.warning("lost the connection to a kernel: %s", err)
                on_lost()
                return
            for part in _parts(message):
                take(part)
                await asyncio.sleep(0)  # a flood is always "ready": let the server do other things

    async def _receive(self, channel: Any) -> Message:
        """The next message; waits as a receiver, so that `send` wakes it."""
        socket = getattr(channel, "socket", None)
        if socket is None:
            return await channel.get_msg(timeout=None)
        session = self._client.session
        _, frames = session.feed_identities(await socket.recv_multipart())
        if sum(map(len, frames)) > _BIG_BYTES:
            return await asyncio.to_thread(session.deserialize, frames)
        return session.deserialize(frames)


async def _listens(ip: str, port: int) -> bool:
    try:
        async with asyncio.timeout(1.0):
            _, writer = await asyncio.open_connection(ip, port)
    except (OSError, TimeoutError):
        return False
    # A connection to a free port of this machine can be given that very port: it meets itself.
    itself = writer.get_extra_info("sockname") == writer.get_extra_info("peername")
    writer.close()
    return not itself


def _parts(message: Message) -> Iterator[Message]:
    """A stream message of many megabytes as several; any other as it is."""
    content = message["content"]
    text = content.get("text") if message["header"]["msg_type"] == "stream" else None
    if not isinstance(text, str) or len(text) <= _PART_CHARS:
        yield message
        return
    for start in range(0, len(text), _PART_CHARS):
        yield {**message, "content": {**content, "text": text[start : start + _PART_CHARS]}}


def _async_client(kernel: Any) -> Any:
    """An asyncio client, also for a kernel manager whose own clients block.

    With a session of its own: clients that share the manager's also share the address that
    answers go to, and message ids.
    """
    from jupyter_client.asynchronous.client import AsyncKernelClient
    from jupyter_client.session import Session

    theirs = kernel.session
    own = Session(config=theirs.config, key=theirs.key, signature_scheme=theirs.signature_scheme)
    client = kernel.client(session=own)
    if isinstance(client, AsyncKernelClient):
        return client
    info = kernel.get_connection_info() | {"session": own}
    return AsyncKernelClient(**info, connection_file=kernel.connection_file, parent=kernel)
