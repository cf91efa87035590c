"""Making text fit to be sent and stored. Pure; imported by the agent only."""

from __future__ import annotations

from pydantic import JsonValue

from ..protocol.base import JsonObject


def clean(text: str) -> str:
    """`text` with lone surrogates replaced by "?": no UTF-8 exists for them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def clean_json(value: JsonValue) -> JsonValue:
    """`value` with every string and key cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_json(entry) for entry in value]
    if isinstance(value, dict):
        return {clean(key): clean_json(entry) for key, entry in value.items()}
    return value


def is_deeper(value: object, limit: int) -> bool:
    """Whether lists and objects stand in each other more than `limit` levels deep."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            entry
            for container in level
            if isinstance(container, (list, dict))
            for entry in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return False
    return any(isinstance(entry, (list, dict)) for entry in level)


def is_blank_text(block: JsonObject) -> bool:
    """True for a text block that holds nothing but white space."""
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def capped(text: str, limit: int) -> str:
    """Head and tail of `text`, at most `limit` characters of it, with a mark between them."""
    if len(text) <= limit:
        return text
    tail = limit // 2
    head = limit - tail
    left_out = len(text) - limit
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{text[-tail:]}"
