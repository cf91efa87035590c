"""session.json: what the list of sessions shows, so that listing reads no trails. For sessions.

Blocking calls; the services run them in threads.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import NotFound
from ..protocol.base import is_id
from .session_files import make_private_folder, write_whole
from .trails import FILE as TRAIL_FILE
from .trails import Trail

log = logging.getLogger(__name__)
FILE = "session.json"


class SessionRecord(BaseModel):
    """A session as stored. `root` is the contents root it belongs to; "" when it was lost.

    `provider`, `model` and `effort` are what the session has chosen, null where it has not.
    Fields of a newer version are kept out, not refused.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    session_id: str
    root: str
    title: str
    notebook_path: str | None
    created_at: str
    updated_at: str
    turns: int = 0
    provider: str | None = None
    model: str | None = None
    effort: str | None = None


class RecordStore:
    """The records under `<data_dir>/sessions` that belong to one contents root."""

    def __init__(self, data_dir: Path, *, root: str) -> None:
        self._sessions = data_dir / "sessions"
        self._data_dir = data_dir
        self._root = root

    def folder(self, session_id: str) -> Path:
        """Raises NotFound for what cannot be an id, e.g. a path."""
        if not is_id(session_id):
            raise NotFound("There is no such session.", code="session_not_found")
        return self._sessions / session_id

    def create(self, record: SessionRecord) -> None:
        make_private_folder(self._data_dir)
        make_private_folder(self._sessions)
        make_private_folder(self.folder(record.session_id))
        self.save(record)

    def save(self, record: SessionRecord) -> None:
        """Raises StorageFailed."""
        path = self.folder(record.session_id) / FILE
        write_whole(path, record.model_dump_json(indent=1).encode() + b"\n")

    def load(self, session_id: str) -> SessionRecord:
        """Raises NotFound when there is no such session under this contents root."""
        record = self._read(self.folder(session_id))
        if record is None or record.root not in (self._root, ""):
            raise NotFound("There is no such session.", code="session_not_found")
        return record

    def list(self) -> list[SessionRecord]:
        """All records of this contents root, the latest first."""
        if not self._sessions.is_dir():
            return []
        folders = (folder for folder in self._sessions.iterdir() if is_id(folder.name))
        records = (self._read(folder) for folder in folders)
        mine = [r for r in records if r is not None and r.root in (self._root, "")]
        return sorted(mine, key=lambda record: record.updated_at, reverse=True)

    def delete(self, session_id: str) -> None:
        folder = self.folder(session_id)
        # renamed first: a half-deleted session never shows up again
        going = folder.with_name(f".deleted-{folder.name}")
        folder.rename(going)
        shutil.rmtree(going, ignore_errors=True)

    def _read(self, folder: Path) -> SessionRecord | None:
        try:
            record = SessionRecord.model_validate_json((folder / FILE).read_bytes())
            return record.model_copy(update={"session_id": folder.name})
        except (OSError, ValidationError) as err:
            return self._rebuilt(folder, err)

    def _rebuilt(self, folder: Path, cause: Exception) -> SessionRecord | None:
        """The record of a session whose session.json is lost, from its trail."""
        if not (folder / TRAIL_FILE).is_file():
            return None
        log.warning("%s is unreadable (%s); rebuilt from the trail", folder / FILE, type(cause))
        try:
            scan = Trail(folder).peek()
        except OSError:  # deleted meanwhile
            return None
        return SessionRecord(
            session_id=folder.name,
            root="",
            title=scan.title,
            notebook_path=scan.notebook_path,
            created_at=scan.first_at,
            updated_at=scan.last_at,
            turns=len(scan.turn_ids),
        )
