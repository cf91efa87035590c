"""The port for a fast search below a contents root that is a local folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file in which a pattern was found; `number` from 1.

    `text` is that of the line, around the place when the line is long. None: the bytes of the
    file are not plain UTF-8 text, or the line is huge; reading the document tells.
    """

    path: str
    number: int
    text: str | None


class LocalSearch(Protocol):
    """What Documents does not serve is left out, so are ignored files (.gitignore) and links.

    A pattern is a regular expression that `refusal` has nothing against. Everything ends in
    time: DeadlineExceeded is raised then, and what came before is good. What is a file's text
    here may be older than in a page that holds it.
    """

    async def refusal(self, pattern: str) -> str:
        """Why the engine takes no such pattern, "" when it does."""

    async def lines_of(
        self, texts: Sequence[str], pattern: str, *, timeout_s: float
    ) -> list[list[int]]:
        """For each text the 0-based numbers of its matching lines."""

    def files(self, start: str, *, timeout_s: float) -> AsyncIterator[str]:
        """The files and notebooks below folder `start`, in the order of their paths."""

    async def links(self, folders: Collection[str]) -> list[str]:
        """The links right in these folders, wherever they lead."""

    def lines(
        self, start: str, pattern: str, *, only: str, most: int, timeout_s: float
    ) -> AsyncIterator[Line]:
        """Matching lines of text files, at most `most` of each; no notebooks, no binary files.

        `only`: "" or a glob for names ("*.py") that leaves out others early.
        """

    def notebooks(
        self, start: str, patterns: Sequence[str], *, timeout_s: float
    ) -> AsyncIterator[str]:
        """Notebooks in whose stored JSON a pattern is found; all of them without patterns."""
