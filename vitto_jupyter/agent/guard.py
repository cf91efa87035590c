"""What a turn keeps apart: Vitto's own folder, and the secrets of the server's process.

Pure; imported by agent and services.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..protocol.base import JsonObject
from ..protocol.tool import ToolResult
from ..workspace.base import TextSink

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_PLACE_NAME = re.compile(r"(FILE|PATH|DIR|URL|HOST|NAME|ID)$", re.IGNORECASE)
_MIN_CHARS = 8
_WORD = re.compile(r"[A-Za-z][a-z]{,14}")
_BASE64_TAIL = "[A-Za-z0-9+/=]*"


def secret_values(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold a secret by their names.

    Left out are places, and values such as "postgres": hiding a word wherever it stands would
    do more harm than good.
    """
    return {
        name: value
        for name, value in environment.items()
        if _SECRET_NAME.search(name)
        and not _PLACE_NAME.search(name)
        and len(value) >= _MIN_CHARS
        and not _WORD.fullmatch(value)
    }


class Mask:
    """Takes secrets out of what tools give back: as they are, and in Base64.

    Args:
        secrets: The values by name; the name stands where the value was.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        # the longest first: one secret may begin like another
        ordered = sorted((secrets or {}).items(), key=lambda entry: -len(entry[1]))
        self._forms = [
            (form, f"[{name} is hidden]", is_encoded)
            for name, value in ordered
            for form, is_encoded in ((value, False), (_base64_start(value), True))
        ]

    def text(self, text: str) -> str:
        for form, mark, is_encoded in self._forms:
            if form not in text:
                continue
            pattern = re.escape(form) + (_BASE64_TAIL if is_encoded else "")
            text = re.sub(pattern, lambda _, mark=mark: mark, text)
        return text

    def result(self, result: ToolResult) -> ToolResult:
        """`result` without secrets; images stay as they are."""
        if not self._forms:
            return result
        metadata: JsonObject = {
            key: value if key == "images" else self._json(value)
            for key, value in result.metadata.items()
        }
        return result.model_copy(
            update={
                "output": self.text(result.output),
                "error": None if result.error is None else self.text(result.error),
                "metadata": metadata,
            }
        )

    def unfinished(self, text: str) -> int:
        """How many characters at the end may be the beginning of a secret."""
        longest = max((len(form) for form, _, _ in self._forms), default=0)
        for count in range(min(len(text), longest - 1), 0, -1):
            if any(form.startswith(text[-count:]) for form, _, _ in self._forms):
                return count
        return 0

    def _json(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._json(entry) for entry in value]
        if isinstance(value, dict):
            return {key: self._json(entry) for key, entry in value.items()}
        return value


class MaskedText:
    """A sink for live text that may be cut in the middle of a secret."""

    def __init__(self, mask: Mask, sink: TextSink) -> None:
        self._mask = mask
        self._sink = sink
        self._held = ""

    async def say(self, text: str) -> None:
        whole = self._mask.text(self._held + text)
        ready = len(whole) - self._mask.unfinished(whole)
        self._held = whole[ready:]
        if ready:
            await self._sink(whole[:ready])

    async def end(self) -> None:
        """Say what was held back."""
        held, self._held = self._held, ""
        if held:
            await self._sink(held)


@dataclass(frozen=True, slots=True)
class Guard:
    """`private` is the API path of Vitto's own folder, None when that is not below the root."""

    private: str | None = None
    mask: Mask = field(default_factory=Mask)


NO_GUARD = Guard()


def _base64_start(value: str) -> str:
    """How the value begins in Base64, as far as that does not depend on what follows."""
    content = value.encode("utf-8", "surrogateescape")[:12]
    return base64.b64encode(content[: len(content) // 3 * 3]).decode()
