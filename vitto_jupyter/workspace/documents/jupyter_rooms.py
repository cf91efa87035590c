"""Files that jupyter-collaboration has in memory: read and changed there. Built by the app.

With real-time collaboration the server keeps a shared document of each file that is open in a
page ("room"), also for a while after the last page closed, and stores it a moment after each
change. Its file is behind it, and what is written into the file under it undoes what was typed in
that moment. Pages that Vitto runs in are asked first (`live`); this is for all the others.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_server.services.contents.manager import ContentsManager

from ...errors import WriteFailed
from ..paths import api_path, is_notebook, shown
from .jupyter_files import ContentsFiles, Overtaken
from .save_journal import SaveJournal

_EXTENSION = "jupyter_server_ydoc"
_STORED_WITHIN_S = 15.0
_LOOK_EVERY_S = 0.05


class RoomFiles(ContentsFiles):
    """As ContentsFiles, but a file with a room is read and replaced in the room.

    Args:
        server: The Jupyter server; jupyter-collaboration may be missing there.
    """

    def __init__(
        self, manager: ContentsManager, journal: SaveJournal | None = None, *, server: Any
    ) -> None:
        super().__init__(manager, journal)
        self._server = server

    async def read(self, path: str) -> bytes:
        room = await self._room(path)
        return await super().read(path) if room is None else _bytes_of(room)

    async def replace(self, path: str, content: bytes, *, before: bytes) -> None:
        room = await self._room(path)
        if room is None:
            await super().replace(path, content, before=before)
            return
        # From here to `dirty` nothing is awaited: nobody types in between.
        if _bytes_of(room) != before:
            raise Overtaken(f"{shown(path)} was changed by somebody at this moment.")
        now = room.get()
        wanted = _distrusted(_value_of(content, now), now)
        room.set(wanted)
        if not _are_same(room.get(), wanted):
            raise WriteFailed(
                f"{shown(path)} is shared with others, and the edit does not read back.",
                hint="Read it again before any other edit.",
            )
        room.dirty = True  # as a page says it; the room says the opposite when it has stored
        await self._until_stored(room, wanted, path)

    async def _until_stored(self, room: Any, wanted: Any, path: str) -> None:
        """Wait until the file holds what the room does; others may go on typing meanwhile."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + _STORED_WITHIN_S
        while room.dirty or not _is_in(await super().read(path), room.get()):
            if loop.time() >= ends_at:
                if not _are_same(room.get(), wanted):
                    return  # somebody types without a pause: it is stored at their first one
                raise WriteFailed(
                    f"{shown(path)} was edited where it is shared with others, but the server "
                    "has not stored it.",
                    hint="The edit is there, and lost when the server ends before it stores it.",
                )
            await asyncio.sleep(_LOOK_EVERY_S)

    async def big_file(self, path: str) -> str | None:
        return None if await self._room(path) is not None else await super().big_file(path)

    async def _room(self, path: str) -> Any | None:
        """The shared document of the file, of jupyter_ydoc's kind; None without one."""
        apps = self._server.extension_manager.extension_apps.get(_EXTENSION)
        ids = self._server.web_app.settings.get("file_id_manager")
        if not apps or ids is None:
            return None
        path = await self._checked(api_path(path))
        # asking by path would give every file an id; only those with a room have one already
        if ids.get_id(path) is None:
            return None
        kind, form = ("notebook", "json") if is_notebook(path) else ("file", "text")
        return await next(iter(apps)).get_document(
            path=path, content_type=kind, file_format=form, copy=False
        )


def _bytes_of(room: Any) -> bytes:
    value = room.get()
    if isinstance(value, dict):
        value = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return value.encode("utf-8", "surrogatepass")


def _value_of(content: bytes, like: Any) -> Any:
    """Bytes of a file as a room takes them: a notebook's JSON, or a text."""
    text = content.decode("utf-8", "surrogatepass")
    return json.loads(text) if isinstance(like, dict) else text


def _distrusted(value: Any, before: Any) -> Any:
    """Without the trust in cells that are new or changed: storing must not sign what we made."""
    if isinstance(value, dict):
        for cell in value["cells"]:
            if cell not in before["cells"]:
                cell.get("metadata", {}).pop("trusted", None)
    return value


def _are_same(one: Any, other: Any) -> bool:
    """Whether people see the same in both."""
    if not isinstance(one, dict):
        return bool(one == other)
    return [_seen(cell) for cell in one["cells"]] == [_seen(cell) for cell in other["cells"]]


def _is_in(content: bytes, value: Any) -> bool:
    """Whether a file holds it; false in the middle of its being written."""
    try:
        return _are_same(_value_of(content, value), value)
    except ValueError:
        return False


def _seen(cell: dict[str, Any]) -> tuple[Any, ...]:
    source = cell.get("source", "")
    source = "".join(source) if isinstance(source, list) else source
    return cell.get("cell_type"), source, cell.get("execution_count"), len(cell.get("outputs", ()))
