"""Making text fit: long text cut, telling lines kept. Pure."""

from __future__ import annotations

from ..workspace.plain_text import clip_line, find_word

# Lines with these words survive a cut, the first ones before the others. Words and no pattern:
# texts are anybody's and long, and looking for words is a hundred times as fast.
_PROBLEMS = ("error", "exception", "traceback", "fatal", "failed", "killed", "segmentation fault")
_TELLING = (*_PROBLEMS, "failure", "warning", "not found", "no such file", "memory", "denied")
_PROGRESS = ("%", "epoch", "step", "iteration")
_KEPT_LINES = 8
_LINE_CHARS = 400
_CUT_LINE_CHARS = 1_500
_LAP_CHARS = 24
# Lines that are read by number: a longer one counts as several.
WRAP_CHARS = 2_000


def clip(text: str, limit: int, *, total: int = 0, rest: str = "") -> str:
    """`text` in about `limit` characters: head, tail, and from between what tells of a problem.

    The lines from between come on top of `limit`, about as much again at most. Cuts are made at
    line ends where there are some.

    Args:
        total: The full length, when `text` was cut before.
        rest: How to read what is left out, for the marker; "{line}" becomes the number of the
            first line that is.
    """
    if len(text) <= limit:
        return text
    start, end = _head_end(text, limit // 3), _tail_start(text, limit - limit // 3)
    head, tail = text[:start].rstrip("\n"), text[end:]
    gap = max(total, len(text)) - start - len(tail)
    rest = rest.replace("{line}", str(_line_number(text[:start])))
    marker = f"[… {gap:,} characters left out{f': {rest}' if rest else ''} …]"
    parts = [head, marker]
    # A word that a cut goes through is looked for too.
    lap_start = 0 if text[start - 1] == "\n" else _LAP_CHARS
    lap_end = 0 if text[end - 1] == "\n" else _LAP_CHARS
    between = text[max(start - lap_start, 0) : end + lap_end]
    kept = _kept_lines(between, most=_kept_count(limit))
    if kept:
        parts += [*kept, "[…]"]
    return "\n".join([*parts, tail])


def _kept_count(limit: int) -> int:
    return max(min(limit // _LINE_CHARS, _KEPT_LINES), 1)


def _line_number(head: str) -> int:
    """The number of the line that follows `head`, as `long_text` counts."""
    *complete, last = head.split("\n")
    full = sum(max(-(-len(line) // WRAP_CHARS), 1) for line in complete)
    return full + len(last) // WRAP_CHARS + 1


def _head_end(text: str, wanted: int) -> int:
    """Where the head ends: behind a line, unless that line is very long."""
    at = text.rfind("\n", max(wanted - _CUT_LINE_CHARS, 0), wanted)
    return at + 1 if at > 0 else wanted


def _tail_start(text: str, wanted: int) -> int:
    first = len(text) - wanted
    at = text.find("\n", first, first + min(_CUT_LINE_CHARS, wanted // 2))
    return at + 1 if at >= 0 else first


def around(line: str, at: int, limit: int = _LINE_CHARS) -> str:
    """About `limit` characters of `line` around position `at`."""
    if len(line) <= limit:
        return line
    start = max(min(at - limit // 4, len(line) - limit), 0)
    text = line[start : start + limit]
    return f"{'…' if start else ''}{text}{'…' if start + limit < len(line) else ''}"


def _kept_lines(text: str, *, most: int) -> list[str]:
    """The lines of a gap that tell of a problem, in order, and the last that tells of progress.

    With many of them the first ones count, and those that tell of errors before warnings.
    """
    lines = text.split("\n")
    found = [(where, at) for at, line in enumerate(lines) if (where := find_word(line, _TELLING))]
    found.sort(key=lambda entry: (find_word(lines[entry[1]], _PROBLEMS) == 0, entry[1]))
    kept = {at: around(lines[at], where - 1) for where, at in found[:most]}
    progress = next((at for at in range(len(lines))[::-1] if _is_progress(lines[at])), None)
    if progress is not None:
        kept.setdefault(progress, clip_line(lines[progress], _LINE_CHARS))
    return [kept[at].strip() for at in sorted(kept)]


def _is_progress(line: str) -> bool:
    return find_word(line, _PROGRESS) > 0 and any(char.isdigit() for char in line[:_LINE_CHARS])


def count_of(number: int, noun: str) -> str:
    """ "1 cell", "2 cells", "1,200 matches"."""
    plural = f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
