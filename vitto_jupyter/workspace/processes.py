"""Which processes belong to a terminal, by /proc; where there is none, none are known.

Blocking calls; imported by the terminal adapters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_GROUP, _SESSION = 2, 3  # places in /proc/…/stat behind the name


def of_group(group: int) -> frozenset[int]:
    """The processes of a process group."""
    return _with(_GROUP, group)


def of_session(session: int) -> frozenset[int]:
    """All processes of a terminal session, its leader included, background jobs too."""
    return _with(_SESSION, session)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def signal_all(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _with(place: int, value: int) -> frozenset[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[place]) == value and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return frozenset(found)
