"""Python values as JSON and back, for frames. Pure.

Only what stands in the tables here can be made from JSON, and nothing of it does anything when it
is made. An object is a plain dict and is taken as it is, which keeps big outputs cheap; an array
is a tag and what it holds: a class and its fields, an error, or a container.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from ...errors import (
    DocumentNotFound,
    EditConflict,
    NotText,
    PathRefused,
    ToolError,
    VittoError,
    WriteFailed,
)
from .. import base
from ..notebooks.notebook_work import Change, Part
from ..notebooks.output_fold import Folded, RunResult
from . import big_work


class BadFrame(Exception):
    """A value that does not go through the pipe, or a frame that makes no value."""


@dataclass(frozen=True, slots=True)
class End:
    """The last answer; `error` is what the work raised."""

    error: VittoError | OSError | None = None


_CLASSES: tuple[type, ...] = (
    base.Notebook,
    base.Cell,
    base.OutputPart,
    base.NewCell,
    base.ReplaceSource,
    base.InsertCells,
    base.DeleteCell,
    base.MoveCells,
    base.BeginRun,
    base.AddOutput,
    base.SetOutput,
    base.ClearOutputs,
    base.EndRun,
    Part,
    Change,
    Folded,
    RunResult,
    big_work.Place,
    big_work.ReadNotebook,
    big_work.MoreOutputs,
    big_work.ReadPart,
    big_work.CheckBases,
    big_work.EditNotebook,
    big_work.Edited,
    End,
)
_ERRORS = (ToolError, DocumentNotFound, PathRefused, NotText, EditConflict, WriteFailed)

_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _CLASSES}
_ERROR_FIELDS = ("message", "code", "hint")
_ATOMS = frozenset({str, int, float, bool, type(None)})


def encode(value: Any) -> bytes:
    """
    Raises:
        BadFrame: something in it is of no class that travels.
        RecursionError: it is nested too deeply.
    """
    # Lone surrogates stay as they are; as escapes, two of them would become one character.
    text = json.dumps(_tagged(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def decode(content: bytes) -> Any:
    """
    Raises:
        BadFrame: it is not what `encode` gives.
    """
    try:
        return _made(json.loads(content.decode("utf-8", "surrogatepass")))
    except (ValueError, TypeError, RecursionError) as err:
        raise BadFrame(f"said something that cannot be read ({err})") from err


def _tagged(value: Any) -> Any:
    kind = type(value)
    if kind in _ATOMS or (kind is dict and _is_plain(value)):
        return value
    if kind in _FIELDS:
        return [kind.__name__, *(_tagged(getattr(value, name)) for name in _FIELDS[kind])]
    if kind is tuple or kind is list:
        return [kind.__name__, *map(_tagged, value)]
    if kind is dict and all(type(key) is str for key in value):
        return ["dict", {key: _tagged(each) for key, each in value.items()}]
    if kind in _ERRORS:
        return [kind.__name__, *(getattr(value, name) for name in _ERROR_FIELDS)]
    if isinstance(value, OSError):
        return ["OSError", value.errno, value.strerror or str(value)]
    raise BadFrame(f"cannot be sent a {kind.__name__}")


def _is_plain(value: Any) -> bool:
    """Whether it is the same after JSON."""
    kind = type(value)
    if kind is dict:
        for key, each in value.items():
            if type(key) is not str or not _is_plain(each):
                return False
        return True
    if kind is list:
        for each in value:
            if not _is_plain(each):
                return False
        return True
    return kind in _ATOMS


def _made(value: Any) -> Any:
    if type(value) is not list:
        return value
    make = _MAKERS.get(value[0]) if value and type(value[0]) is str else None
    if make is None:
        raise ValueError(f"unknown tag {value[:1]!r:.100}")
    return make([_made(each) if type(each) is list else each for each in value[1:]])


def _instance_of(kind: type) -> Callable[[list[Any]], Any]:
    count = len(_FIELDS[kind])

    def make(values: list[Any]) -> Any:
        if len(values) != count:
            raise ValueError(f"{len(values)} fields of {kind.__name__}")
        return kind(*values)

    return make


def _error_of(kind: type[VittoError]) -> Callable[[list[Any]], VittoError]:
    def make(values: list[Any]) -> VittoError:
        message, code, hint = values
        return kind(message, code=code, hint=hint)

    return make


def _os_error(values: list[Any]) -> OSError:
    """Of the class that goes with its number."""
    number, words = values
    return OSError(words) if number is None else OSError(number, words)


def _dict(values: list[Any]) -> dict[str, Any]:
    (members,) = values
    if type(members) is not dict:
        raise TypeError("a dict without members")
    return {key: _made(value) for key, value in members.items()}


_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    **{kind.__name__: _instance_of(kind) for kind in _CLASSES},
    **{kind.__name__: _error_of(kind) for kind in _ERRORS},
    "OSError": _os_error,
    "tuple": tuple,
    "list": list,
    "dict": _dict,
}
