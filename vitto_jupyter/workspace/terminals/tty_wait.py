"""Whether the program in the foreground of a terminal waits for a key. Linux; else "no".

Reads /proc only. Imported by the terminal adapters.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

from ..processes import of_group

_READ = {"x86_64": "0", "aarch64": "63"}.get(platform.machine(), "")


def waits_for_input(terminal_fd: int) -> bool:
    """True when a process of the foreground group is in a read of the terminal, or when the
    foreground program has switched the terminal to single keys (editors, pagers, prompts)."""
    try:
        import termios

        group = os.tcgetpgrp(terminal_fd)
        single_keys = not termios.tcgetattr(terminal_fd)[3] & termios.ICANON
    except (ImportError, OSError):
        return False
    return single_keys or any(_reads_terminal(pid) for pid in of_group(group))


def _reads_terminal(pid: int) -> bool:
    try:
        number, *arguments = Path(f"/proc/{pid}/syscall").read_text().split()
        if number != _READ or not arguments:
            return False
        read_from = os.readlink(f"/proc/{pid}/fd/{int(arguments[0], 16)}")
    except (OSError, ValueError):
        return False
    return read_from.startswith(("/dev/pts/", "/dev/tty"))
