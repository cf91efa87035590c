"""What the model has seen, on disk: a JSON file of the session. Imported by open_session.

Lost or damaged it costs no data: the model has to read again before it edits.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path

from ..tools.seen import Seen
from .session_files import write_whole

FILE = "seen.json"
_log = logging.getLogger(__name__)


def load(folder: Path) -> Seen:
    """What was saved; nothing seen when there is no file or it is damaged. Blocking."""
    try:
        return Seen.from_json(json.loads((folder / FILE).read_bytes()))
    except FileNotFoundError:
        return Seen()
    except (OSError, ValueError, RecursionError) as err:
        _log.warning("%s of a session is not usable: %s", FILE, err)
        return Seen()


def save(folder: Path, seen: dict[str, object]) -> None:
    """Write `Seen.to_json()`. Blocking.

    Raises:
        StorageFailed: the file is as before.
    """
    # with escapes: half a surrogate pair has no UTF-8
    write_whole(folder / FILE, json.dumps(seen, separators=(",", ":")).encode())
