"""Which processes belong to a terminal and when one began, by /proc; else nothing is known.

Blocking calls; imported by the terminal and kernel adapters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

_GROUP, _SESSION, _BEGAN = 2, 3, 19  # places in /proc/…/stat behind the name


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


def started_at(pid: int) -> str:
    """When a process began (ISO 8601, UTC); "" when that cannot be known."""
    try:
        seconds = _began_s(pid) if Path("/proc/stat").exists() else _began_s_of_psutil(pid)
    except (OSError, ValueError, IndexError, ImportError):
        return ""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _began_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    boot_s = next(
        int(line.split()[1])
        for line in Path("/proc/stat").read_text().splitlines()
        if line.startswith("btime")
    )
    return boot_s + int(fields[_BEGAN]) / os.sysconf("SC_CLK_TCK")


def _began_s_of_psutil(pid: int) -> float:
    """Elsewhere: psutil comes with ipykernel, and may be missing here."""
    psutil = import_module("psutil")
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


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
