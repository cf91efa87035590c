"""Finding the lines of a text that match; a regular expression runs in a process of its own.

Python's `re` can take for ever on a hostile pattern, cannot be interrupted and keeps the whole
server from running meanwhile, also from another thread. A child process can be killed.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from ..errors import ToolError

MAX_LINE_CHARS = 2_000
_MAX_PATTERN_CHARS = 1_000
_CHILD = Path(__file__).with_name("regex_child.py")


class Matcher(Protocol):
    async def lines(self, texts: Sequence[str], *, timeout_s: float) -> list[list[int]]:
        """For each text the 0-based numbers of its matching lines.

        Fewer lists than texts: the time was over in the first text without one.
        """

    def close(self) -> None: ...


class LiteralMatcher:
    """Lines that contain a text as it is, letter case included."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def lines(self, texts: Sequence[str], *, timeout_s: float) -> list[list[int]]:
        return [self._found(text) for text in texts]

    def _found(self, text: str) -> list[int]:
        if self._text not in text:
            return []
        return [at for at, line in enumerate(text.split("\n")) if self._text in line]

    def close(self) -> None:
        pass


class RegexMatcher:
    """Lines in which a regular expression is found. The child starts with the first texts."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._child: subprocess.Popen[str] | None = None

    async def lines(self, texts: Sequence[str], *, timeout_s: float) -> list[list[int]]:
        return await asyncio.to_thread(self._ask, texts, timeout_s) if texts else []

    def close(self) -> None:
        """End the child, also in the middle of a match."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.wait()

    def _ask(self, texts: Sequence[str], timeout_s: float) -> list[list[int]]:
        child = self._child or self._start()
        timer = threading.Timer(max(timeout_s, 0.01), child.kill)
        timer.start()
        try:
            return list(self._exchange(child, texts))
        finally:
            timer.cancel()

    @staticmethod
    def _exchange(child: subprocess.Popen[str], texts: Sequence[str]) -> Iterator[list[int]]:
        """One question and its answers, as many as come before the child is gone."""
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps(texts) + "\n")
            child.stdin.flush()
            for _ in texts:
                answer = child.stdout.readline()
                if not answer.endswith("\n"):
                    return
                yield json.loads(answer)
        except (BrokenPipeError, ValueError):
            return

    def _start(self) -> subprocess.Popen[str]:
        # -I and -S: nothing of the workspace or the user's site is imported by the child.
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD), self._pattern, str(MAX_LINE_CHARS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="ascii",
        )
        return self._child


def matcher_for(pattern: str, *, regex: bool) -> Matcher:
    """The matcher for a search.

    Raises:
        ToolError: the pattern is empty, too long or no regular expression.
    """
    if not pattern:
        raise ToolError("The pattern is empty.", code="invalid_input")
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ToolError(f"The pattern is longer than {_MAX_PATTERN_CHARS} characters.")
    if "\n" in pattern:
        raise ToolError("The search is line by line; the pattern contains a line end.")
    if not regex:
        return LiteralMatcher(pattern)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as err:
        raise ToolError(
            f"The pattern is not a regular expression: {err}.",
            code="invalid_input",
            hint="Leave out regex to search for the text as it is.",
        ) from err
    return RegexMatcher(pattern)
