"""Cases of cut outputs, for tests/golden/output_cut.json: Python writes it, both languages obey."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from vitto_jupyter.workspace.base import Output
from vitto_jupyter.workspace.notebooks.output_cut import (
    LIMITS,
    Cut,
    Limits,
    OutputCutter,
    output_part,
)

SMALL = Limits(Cut(60, 8, 4), 150, Cut(20, 5, 2), 12)
NO_ERRORS = "x" * 30 + "\n" + "y" * 50
EMOJI = "🙂" * 61
ERRORS = "\n".join(
    ["the start of it", "ok", "an ERROR", "warning: one", "fine", "Traceback (most recent call)"]
    + ["nothing"] * 3
    + ["It Failed!", "fatal", "MyException", "ok", "the end of all"]
)


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def display(data: dict[str, Any], **metadata: Any) -> Output:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def failure(*traceback: str, evalue: str = "no") -> Output:
    lines = list(traceback)
    return {"output_type": "error", "ename": "E", "evalue": evalue, "traceback": lines}


# Each case: the outputs of one notebook, in order.
CASES: dict[str, list[Output]] = {
    "what is short stays": [stream("a" * 60), failure("a", "b"), display({"text/plain": "1"})],
    "a long text keeps head and tail": [stream(NO_ERRORS)],
    "lines like errors stay, long ones clipped": [stream("a" * 20 + "\nan Error " + "b" * 60)],
    "of many lines like errors the first and last half stay": [stream(ERRORS)],
    "a gap in one line": [stream("a" * 30 + "fatal" + "a" * 40)],
    "carriage returns end no line": [stream("a" * 20 + "\n1%\r2%\rfailed\r\n" + "b" * 40)],
    "letters beyond ASCII have no cases": [stream("a" * 20 + "\nfaİled\nFAILED\n" + "é" * 40)],
    "astral characters are not split": [stream(EMOJI), stream("a" + EMOJI)],
    "astral characters in clipped lines": [stream("a" * 9 + "\nerror " + "🙂" * 20 + "b" * 60)],
    "a traceback becomes one text": [failure("a" * 30, "b\n" + "c" * 30, "ValueError: no")],
    "a long message is shortened without a word": [failure("a", evalue="b" * 100)],
    "binary data are emptied": [
        display(
            {
                "image/png": "A" * 100,
                "image/svg+xml": "<svg>" + "g" * 60,
                "application/pdf": "B" * 61,
                "application/x-unknown": "C" * 61,
                "text/plain": "<Figure>",
            }
        )
    ],
    "texts of displays are cut": [
        display({"text/html": "<p>" * 40, "application/xhtml+xml": "<q>" * 40})
    ],
    "JSON data are emptied": [
        display(
            {
                "application/vnd.x+json": {"a": ["é", 1, True, None, "b" * 60]},
                "application/json": {"a": [1, 2]},
            }
        )
    ],
    "long metadata are emptied": [display({"text/plain": "1"}, a="b" * 80)],
    "a cut in the input is ignored": [{**stream("a" * 3), "cut": {"text": 10**9}}],
    "after many the limit falls": [*[stream("a" * 50)] * 3, stream("b" * 21), stream("c" * 20)],
    "what was cut away does not count": [stream("a" * 300), stream("b" * 60), stream("c" * 50)],
}
# Each part: an output, a field, start, count.
PARTS: dict[str, tuple[Output, str, int, int]] = {
    "in the middle": (stream("0123456789"), "text", 3, 4),
    "over the end": (stream("0123456789"), "text", 8, 10),
    "behind the end": (stream("0123456789"), "text", 12, 10),
    "of a traceback": (failure("ab", "c"), "traceback", 1, 3),
    "of a display": (display({"text/html": "<p>é</p>"}), "text/html", 2, 3),
    "of JSON": (display({"application/json": {"a": [1, "é"]}}), "application/json", 0, 9),
    "of astral characters": (stream("a🙂🙂b"), "text", 2, 2),
    "of no such field": (stream("a"), "image/png", 0, 1),
}


def golden() -> dict[str, Any]:
    """The content of the file. `utf16` is what differs where characters are UTF-16 units."""
    return {
        "limits": asdict(LIMITS),
        "small_limits": asdict(SMALL),
        "cases": [
            {"name": name, "outputs": outputs, **_both(_cut, outputs)}
            for name, outputs in CASES.items()
        ],
        "parts": [
            {
                "name": name,
                "output": output,
                "field": field,
                "start": start,
                "count": count,
                **_both(lambda given, f=field, s=start, c=count: _part(given, f, s, c), output),
            }
            for name, (output, field, start, count) in PARTS.items()
        ],
    }


def _cut(outputs: list[Output]) -> list[Output]:
    cutter = OutputCutter(SMALL)
    return [cutter.cut(output) for output in outputs]


def _part(output: Output, field: str, start: int, count: int) -> dict[str, Any] | None:
    part = output_part(output, field, start=start, count=count)
    return None if part is None else asdict(part)


def _both(act: Callable[[Any], Any], given: Any) -> dict[str, Any]:
    expected = act(given)
    utf16 = _mapped(act(_mapped(given, _units)), _joined)
    return {"expected": expected} | ({} if utf16 == expected else {"utf16": utf16})


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {name: _mapped(item, change) for name, item in value.items()}
    return value


def _units(text: str) -> str:
    """One character for each UTF-16 unit."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(raw[at : at + 2], "little")) for at in range(0, len(raw), 2))


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def golden_text() -> str:
    return json.dumps(golden(), ensure_ascii=False, indent=1) + "\n"
