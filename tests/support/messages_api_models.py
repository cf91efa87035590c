"""The models that the scripted Messages API serves, with their limits and capabilities.

What a model can do here is this file's assumption, after the public documentation.
"""

from __future__ import annotations


def _model(mid: str, line: str, created: str, **differs: object) -> tuple[str, dict]:
    spec = {
        "id": mid,
        "line": line,
        "created": created,
        "window": 1_000_000,
        "max_out": 128_000,
        "thinking": "adaptive",  # or "enabled" (budget only) or "both"
        "preserved": False,  # thinking blocks are bound to the conversation before them
        "effort": True,
        "prefill": False,
        "system_msgs": True,
        "cache_min": 1024,
    }
    return mid, spec | differs


_OLD = {"window": 200_000, "max_out": 64_000, "thinking": "enabled", "effort": False}
_OLD |= {"prefill": True, "system_msgs": False, "cache_min": 4096}

ALWAYS_THINKS = {"claude-fable-5-2", "claude-opus-5-5"}
MODELS: dict[str, dict] = dict(
    [
        _model("claude-fable-5-2", "fable", "2026-11-01", preserved=True, cache_min=512),
        _model("claude-opus-5-5", "opus", "2026-09-01", preserved=True, cache_min=512),
        _model("claude-sonnet-5-5", "sonnet", "2026-09-15", preserved=True),
        _model("claude-haiku-5-5", "haiku", "2026-10-01", preserved=True),
        _model("claude-opus-5", "opus", "2026-07-24", cache_min=512),
        _model("claude-sonnet-5", "sonnet", "2026-06-30"),
        _model("claude-opus-4-8", "opus", "2026-05-28"),
        _model("claude-sonnet-4-6", "sonnet", "2026-02-17", thinking="both", system_msgs=False),
        _model("claude-haiku-4-5", "haiku", "2025-10-01", **_OLD),
        _model("claude-haiku-4-5-20251001", "haiku", "2025-10-01", **_OLD),
    ]
)


def model_info(spec: dict) -> dict:
    def yes(value: bool) -> dict:
        return {"supported": value}

    adaptive = spec["thinking"] in ("adaptive", "both")
    enabled = spec["thinking"] in ("enabled", "both")
    return {
        "type": "model",
        "id": spec["id"],
        "display_name": spec["id"].replace("-", " ").title(),
        "created_at": spec["created"] + "T00:00:00Z",
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": spec["line"],
        "max_input_tokens": spec["window"],
        "max_tokens": spec["max_out"],
        "capabilities": {
            "batch": yes(True),
            "citations": yes(True),
            "code_execution": yes(True),
            "image_input": yes(True),
            "pdf_input": yes(True),
            "structured_outputs": yes(True),
            "context_management": {
                "supported": True,
                "clear_tool_uses_20250919": yes(True),
                "clear_thinking_20251015": yes(True),
                "compact_20260112": yes(True),
            },
            "effort": {
                "supported": spec["effort"],
                **{k: yes(spec["effort"]) for k in ("low", "medium", "high", "xhigh", "max")},
            },
            "server_tools": {
                "supported": True,
                "web_search": yes(True),
                "code_execution": yes(True),
            },
            "thinking": {
                "supported": True,
                "types": {
                    "adaptive": yes(adaptive),
                    "enabled": yes(enabled),
                    "disabled": yes(spec["id"] not in ALWAYS_THINKS),
                    "between_tools": yes(adaptive),
                },
            },
        },
    }


def model_list(specs: list[dict], shape: str, after: str | None, limit: int) -> dict:
    """One page of the model list.

    Args:
        specs: The models to list.
        shape: "full" as Anthropic gives it; "ids" as local servers do (OpenAI's shape).
        after: The id that the page comes after, None for the first page.
        limit: Models per page.
    """
    if shape == "ids":
        rows = [{"id": s["id"], "object": "model", "created": 0, "owned_by": "x"} for s in specs]
        return {"object": "list", "data": rows}
    ids = [spec["id"] for spec in specs]
    first = ids.index(after) + 1 if after in ids else 0
    page = [model_info(spec) for spec in specs[first : first + limit]]
    return {
        "data": page,
        "has_more": first + limit < len(specs),
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }
