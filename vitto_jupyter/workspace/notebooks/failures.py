"""Failures that raise nothing: known lines of installers, shells, GPUs and kernels. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..base import Output
from ..plain_text import clip_line, find_word, joined, plain

_LINE_CHARS = 300
_LONGEST_LINE = 4_000
# (what failed, how its line looks), the first that fits counts. Anchored or made of plain words,
# so that hostile lines take no time.
_KNOWN: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (what, re.compile(pattern))
    for what, pattern in (
        (
            "pip install failed",
            r"^\s*(?:ERROR: (?:Could not (?:find|install|open)|No matching distribution|Failed "
            r"building|Failed to build|Cannot install|Invalid requirement|Exception:|pip's "
            r"dependency|Package .{1,200} requires a different Python|ResolutionImpossible)"
            r"|error: (?:subprocess-exited-with-error|metadata-generation-failed"
            r"|externally-managed-environment))",
        ),
        ("uv install failed", r"^\s*(?:× No solution found|× Failed to (?:build|download))"),
        (
            "conda install failed",
            r"^\s*(?:PackagesNotFoundError|UnsatisfiableError|ResolvePackageNotFound"
            r"|LibMambaUnsatisfiableError|EnvironmentNotWritableError|CondaHTTPError|CondaError"
            r"|CondaValueError):",
        ),
        ("system install failed", r"^E: (?:Unable to|Could not|Package |Failed to)"),
        ("npm failed", r"^npm (?:ERR!|error) "),
        (
            "command not found",
            r": command not found(?:\s*$|: )|: not found\s*$|is not recognized as an internal or "
            r"external|^UsageError: (?:Line|Cell) magic function",
        ),
        ("out of memory", r"CUDA out of memory|OutOfMemoryError|[Cc]annot allocate memory"),
        ("GPU error", r"CUDA error: |CUDNN_STATUS_(?!SUCCESS)[A-Z]|NCCL error"),
        (
            "crash",
            r"[Ss]egmentation fault|\(core dumped\)|(?:^|\d)\s*Killed(?:\s\s|\s*$)|^\s*Bus error"
            r"|^Fatal Python error|^\s*Aborted\s*$",
        ),
        ("no space left", r"No space left on device|Disk quota exceeded"),
        (
            "file missing or not allowed",
            r": No such file or directory\s*$|\[Errno 2\]|: cannot access |: Permission denied",
        ),
        (
            "network failure",
            r"Could not resolve host|[Nn]ame or service not known|Temporary failure in name resol"
            r"|^curl: \(\d|[Ff]ailed to establish a new connection|: Connection refused\s*$",
        ),
        (
            "command failed",
            r"returned non-zero exit status|[Ee]xit(?:ed)?(?: with)? (?:code|status):? [1-9]"
            r"|^make(?:\[\d+\])?: \*\*\* |^fatal: |did not run successfully",
        ),
        ("tests failed", r"^FAILED |^=+ .{0,80}\b[1-9]\d* (?:failed|errors?)\b"),
        ("traceback printed", r"^\s*Traceback \(most recent call last\)"),
        (
            "error printed",
            r"^\s*(?:FATAL\b|ERROR\b(?!\s*(?i:rate|bars?)\b)[: \]]|\w{0,80}(?:Error|Exception):\s"
            r"(?!\s*[-+]?[\d.]|nan\b|None\b)|Error in |! LaTeX Error)",
        ),
    )
)
# Each line above has one of these words, most lines have none.
_WORDS = (
    "error", "exception", "fail", "fatal", "killed", "abort", "fault", "dumped", "found", "memory",
    "cuda", "space left", "quota", "no such", "errno", "denied", "cannot", "could not", "known",
    "resol", "curl", "refused", "connection", "exit", "make", "success", "unable", "recognized",
    "traceback", "e: package", "npm err",
)  # fmt: skip


def silent_failures(outputs: Sequence[Output]) -> list[str]:
    """What failed in a cell although nothing was raised, with the line that tells so."""
    if any(output.get("output_type") == "error" for output in outputs):
        return []
    streams = [output for output in outputs if output.get("output_type") == "stream"]
    return failures(plain("\n".join(joined(output.get("text")) for output in streams)))


def failures(text: str, *, most: int = 3) -> list[str]:
    """ "pip install failed without an exception: ERROR: No …" for at most `most` kinds of lines."""
    if not find_word(text, _WORDS):
        return []
    found: dict[str, str] = {}
    for line in _readable(text.split("\n")):
        what = _what_failed(line)
        if what:
            # "ERROR: No matching distribution" follows "ERROR: Could not find a version": the last
            # line of a kind sums it up.
            found[what] = clip_line(line.strip(), _LINE_CHARS)
    return [f"{what} without an exception: {line}" for what, line in list(found.items())[:most]]


def _readable(lines: Iterable[str]) -> Iterable[str]:
    return (line for line in lines if len(line) <= _LONGEST_LINE and find_word(line, _WORDS))


def _what_failed(line: str) -> str:
    return next((what for what, pattern in _KNOWN if pattern.search(line)), "")
