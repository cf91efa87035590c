"""The model list of a Messages API server as ModelInfo. Pure; used by anthropic.py.

Anthropic's list says what each model can do. Local servers (llama.cpp, Ollama, LM Studio) give
little more than ids: such a model gets no thinking, no effort and unknown sizes.
"""

from __future__ import annotations

from typing import Any

from .anthropic_request import EFFORTS
from .base import ModelInfo

_LINES = ("sonnet", "opus", "fable", "haiku")
_WINDOW_FIELDS = ("max_input_tokens", "context_length", "max_context_length")


def rows_of(answer: Any) -> list[dict[str, Any]]:
    """The models of one page, whatever shape it has; retired ones left out."""
    if not isinstance(answer, dict):
        return []
    rows = answer.get("data") or answer.get("models") or []
    usable = [row for row in rows if isinstance(row, dict) and _id(row)]
    return [row for row in usable if row.get("lifecycle") != "retired"]


def model_infos(rows: list[dict[str, Any]], wanted: str) -> tuple[ModelInfo, ...]:
    """All models, the default first, then in the server's order.

    The default is `wanted` when it is given, in the list or not. Else it is the newest active
    sonnet, the line made for everyday agent work; without one the newest opus, then fable,
    then haiku; and where no model has a known line, the first of the list.
    """
    infos = {_id(row): _model_info(row) for row in rows}
    default = wanted or default_id(rows)
    if default and default not in infos:
        infos[default] = bare_model(default)
    return tuple(sorted(infos.values(), key=lambda info: info.id != default))


def default_id(rows: list[dict[str, Any]]) -> str:
    """The id of the best default of a list, see `model_infos`; "" for an empty one."""
    active = [row for row in rows if row.get("lifecycle", "active") == "active"] or rows
    for line in _LINES:
        of_line = [row for row in active if _line(row) == line]
        if of_line:
            return _id(max(of_line, key=lambda row: str(row.get("created_at") or "")))
    return _id(active[0]) if active else ""


def bare_model(model_id: str) -> ModelInfo:
    """A model of which only the id is known. Only Claude is taken to see images."""
    return ModelInfo(id=model_id, label=model_id, images="claude" in model_id.lower())


def _model_info(row: dict[str, Any]) -> ModelInfo:
    capabilities = row.get("capabilities")
    bare = bare_model(_id(row))
    sizes = [row[field] for field in _WINDOW_FIELDS if isinstance(row.get(field), int)]
    output = row.get("max_tokens")
    return ModelInfo(
        id=bare.id,
        label=str(row.get("display_name") or bare.label),
        context_tokens=sizes[0] if sizes else None,
        output_tokens=output if isinstance(output, int) and output > 0 else None,
        efforts=tuple(e for e in EFFORTS if _supported(capabilities, "effort", e)),
        thinking=_thinking(capabilities),
        images=_supported(capabilities, "image_input") if capabilities else bare.images,
    )


def _thinking(capabilities: Any) -> Any:
    for kind in ("adaptive", "enabled"):
        if _supported(capabilities, "thinking", "types", kind):
            return kind
    return "none"


def _supported(capabilities: Any, *path: str) -> bool:
    for name in path:
        capabilities = capabilities.get(name) if isinstance(capabilities, dict) else None
    return isinstance(capabilities, dict) and capabilities.get("supported") is True


def _line(row: dict[str, Any]) -> str:
    """The line of a model; read from the id only where the server knows no lines."""
    if "line" in row:
        return str(row["line"] or "")
    named = str(row.get("id") or "").lower()
    return next((line for line in _LINES if "claude" in named and line in named), "")


def _id(row: dict[str, Any]) -> str:
    return str(row.get("id") or row.get("model") or row.get("name") or "")
