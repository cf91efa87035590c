"""The answer as server-sent events, whole or spoiled on purpose. Pure."""

from __future__ import annotations

import json

from messages_api_values import tokens_of


def sse(event: str, data: dict) -> bytes:
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event}\ndata: {body}\n\n".encode()


def pieces(text: str, per: int) -> list[str]:
    """Pieces of about `per` tokens."""
    step = max(1, round(per * 4))
    return [text[i : i + step] for i in range(0, len(text), step)]


def value_pieces(obj: dict) -> list[str]:
    """How a tool's input arrives without eager_input_streaming: each value whole, once complete."""
    if not obj:
        return []
    out, items = [], list(obj.items())
    for n, (key, value) in enumerate(items):
        head = ("{" if n == 0 else ", ") + json.dumps(key, ensure_ascii=False) + ": "
        out.append(head)
        out.append(json.dumps(value, ensure_ascii=False) + ("}" if n == len(items) - 1 else ""))
    return out


def stream_events(
    message: dict, blocks: list[dict], eager: set[str], per: int, final: dict
) -> list[tuple[bytes, float]]:
    """[(bytes of one SSE event, tokens that had to be made before it can be sent)]"""
    out: list[tuple[bytes, float]] = [
        (sse("message_start", {"type": "message_start", "message": message}), 0)
    ]
    for i, b in enumerate(blocks):
        kind = b["type"]
        start: dict
        deltas: list[tuple[dict, float]] = []
        if kind == "text":
            start = {"type": "text", "text": ""}
            deltas = [
                ({"type": "text_delta", "text": p}, len(p) / 4) for p in pieces(b["text"], per)
            ]
        elif kind == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [
                ({"type": "thinking_delta", "thinking": p}, len(p) / 4)
                for p in pieces(b["thinking"], per)
            ]
            deltas.append(
                (
                    {"type": "signature_delta", "signature": b["signature"]},
                    0 if b["thinking"] else b.get("_hidden", 0),
                )
            )
        elif kind == "tool_use":
            start = {"type": "tool_use", "id": b["id"], "name": b["name"], "input": {}}
            deltas = [({"type": "input_json_delta", "partial_json": ""}, 0)]
            if "_partial" in b:
                parts = pieces(b["_partial"], per)
            elif b["name"] in eager:
                parts = pieces(json.dumps(b["input"], ensure_ascii=False), per)
            else:
                parts = value_pieces(b["input"])
            deltas += [({"type": "input_json_delta", "partial_json": p}, len(p) / 4) for p in parts]
        elif kind == "compaction":
            start = {"type": "compaction", "content": None}
            deltas = [
                (
                    {"type": "compaction_delta", "content": b.get("content")},
                    tokens_of(b.get("content") or ""),
                )
            ]
        else:
            start = {k: v for k, v in b.items() if not k.startswith("_")}
        out.append(
            (
                sse(
                    "content_block_start",
                    {"type": "content_block_start", "index": i, "content_block": start},
                ),
                0,
            )
        )
        if i == 0:
            out.append((sse("ping", {"type": "ping"}), 0))
        for delta, tokens in deltas:
            out.append(
                (
                    sse(
                        "content_block_delta",
                        {"type": "content_block_delta", "index": i, "delta": delta},
                    ),
                    tokens,
                )
            )
        out.append((sse("content_block_stop", {"type": "content_block_stop", "index": i}), 0))
    out.append((sse("message_delta", {"type": "message_delta", **final}), 0))
    out.append((sse("message_stop", {"type": "message_stop"}), 0))
    return out


def spoil(events: list, how: str) -> list:
    out = list(events)
    if how == "bad_json":
        out.insert(
            4,
            (b'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n', 0),
        )
    elif how == "unknown_event":
        out.insert(
            3, (sse("content_block_sparkle", {"type": "content_block_sparkle", "index": 0}), 0)
        )
    elif how == "unknown_delta":
        out.insert(
            4,
            (
                sse(
                    "content_block_delta",
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "future_delta", "future": "x"},
                    },
                ),
                0,
            ),
        )
    elif how == "bad_tool_json":
        out = [(d.replace(b'"partial_json":"{', b'"partial_json":"{{{', 1), c) for d, c in out]
    elif how == "no_message_start":
        out = out[1:]
    elif how == "crlf":
        out = [(d.replace(b"\n", b"\r\n"), c) for d, c in out]
    elif how == "duplicate_ping":
        out = [x for pair in ((e, (sse("ping", {"type": "ping"}), 0)) for e in out) for x in pair]
    else:
        raise ValueError(f"messages_api: unknown malformed.how {how!r}")
    return out
