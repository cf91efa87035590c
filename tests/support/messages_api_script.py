"""The scripted model: which turn answers a request, ids and signatures, the prompt cache."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from messages_api_models import MODELS
from messages_api_values import (
    CHARS_PER_TOKEN,
    ApiError,
    as_blocks,
    block_tokens,
    digest,
    new_id,
    strip_marks,
    tokens_of,
)

if TYPE_CHECKING:
    from messages_api_checks import RequestChecks


def faults_of(turn: dict) -> list[dict]:
    faults = turn.get("fault", [])
    return faults if isinstance(faults, list) else [faults]


def default_stop_reason(blocks: list[dict], *, cut: bool) -> str:
    if cut:
        return "max_tokens"
    if any(b["type"] == "tool_use" for b in blocks):
        return "tool_use"
    return "end_turn"


class ScriptedModel:
    """State and decisions, without HTTP.

    `responder(body, record)` gives a turn that overrides the script, or None.
    """

    def __init__(
        self,
        script: dict | None = None,
        *,
        validate: bool = True,
        api_key: str | None = None,
        strict_alternation: bool = False,
        check_binding: bool = True,
        context_window: int | None = None,
        foreign_signatures: str = "reject",
        responder: Callable[[dict, dict], Any] | None = None,
        extra_models: tuple[str, ...] = (),
        any_model: bool = False,
        refuses: tuple[str, ...] = (),
        models: str = "full",
        models_per_page: int = 1000,
        usage: bool = True,
        log: str | None = None,
        **defaults: Any,
    ) -> None:
        self.validate_on = validate
        self.api_key = api_key
        self.strict_alternation = strict_alternation
        self.check_binding = check_binding
        self.foreign_signatures = foreign_signatures
        self.responder = responder
        self.extra_models = extra_models
        self.any_model = any_model
        self.refuses = refuses
        self.models = models
        self.models_per_page = models_per_page
        self.usage = usage
        self.log = log
        self._window_option = context_window
        self._default_overrides = defaults
        self.reset(script or {})

    def reset(self, script: dict | None = None) -> None:
        if script is not None:
            self.script = copy.deepcopy(script)
        script = self.script
        self.defaults = {
            "tokens_per_s": 0,
            "ttft_ms": 0,
            "tokens_per_delta": 1,
            "flush_every": 1,
            "ping_every_s": 15,
            "model_answers_when_exhausted": "error",
            **script.get("defaults", {}),
            **self._default_overrides,
        }
        self.context_window = self._window_option or script.get("context_window")
        self.turns = [copy.deepcopy(turn) for turn in script.get("turns", [])]
        self.rules = [copy.deepcopy(turn) for turn in script.get("rules", [])]
        for turn in self.turns:
            turn["_left"] = float("inf") if turn.get("repeat") is True else turn.get("repeat", 1)
        for turn in self.rules:
            turn["_left"] = float("inf")
        for turn in self.turns + self.rules:
            turn["_faults"] = faults_of(turn)
        self.last_turn: dict | None = None
        self.requests: list[dict] = []
        self.thinking_store: dict[str, dict] = {}
        self.tool_thinking: dict[str, list] = {}
        self.cache: dict[str, float] = {}

    def listed_models(self) -> list[dict]:
        """What `/v1/models` shows; servers that give ids only show `extra_models` alone."""
        extra = [spec for m in self.extra_models if (spec := self.model_spec(m))]
        return extra if self.models == "ids" else [*MODELS.values(), *extra]

    def compose(
        self, turn: dict, body: dict, checks: RequestChecks
    ) -> tuple[dict, dict, list[dict]]:
        """(the message as it starts, the whole message, its blocks with private keys)."""
        usage = self.account(body, checks.spec)
        blocks = self.expand(turn, body, checks.spec, checks.thinking_on)
        limit = body["max_tokens"] if isinstance(body.get("max_tokens"), int) else 10**9
        blocks, used, cut = self.limit(blocks, limit)
        thought = sum(b.get("_hidden", 0) for b in blocks)
        message = {
            "id": new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "container": None,
            "usage": usage,
        }
        if checks.dropped:
            message["input_transformations"] = checks.dropped
        whole = {
            **message,
            "content": [{k: v for k, v in b.items() if not k.startswith("_")} for b in blocks],
            "stop_reason": turn.get("stop_reason") or default_stop_reason(blocks, cut=cut),
            "stop_details": turn.get("stop_details"),
            "stop_sequence": turn.get("stop_sequence"),
            "usage": {
                **usage,
                "output_tokens": max(used, 1),
                "output_tokens_details": {"thinking_tokens": thought},
                **turn.get("usage", {}),
            },
        }
        if not self.usage:
            del message["usage"]
        return message, whole, blocks

    def final_delta(self, whole: dict) -> dict:
        """The body of `message_delta`: why it stopped, and the cumulative usage."""
        stop = ("stop_reason", "stop_sequence", "stop_details")
        delta: dict[str, Any] = {"delta": {key: whole[key] for key in stop}}
        if self.usage:
            left_out = ("cache_creation", "service_tier", "inference_geo", "server_tool_use")
            delta["usage"] = {k: v for k, v in whole["usage"].items() if k not in left_out}
        return delta

    def model_spec(self, model: str) -> dict | None:
        if model in MODELS:
            return MODELS[model]
        if self.any_model or model in self.extra_models:
            return {**MODELS["claude-opus-5"], "id": model}
        return None

    # -- tokens and the simulated prompt cache

    def prompt_parts(self, body: dict) -> list[tuple[Any, int, str | None]]:
        """(content, tokens, ttl of a cache mark or None) in the order tools, system, messages."""
        parts: list[tuple[Any, int, str | None]] = []

        def add(value: dict, tokens: int) -> None:
            cc = value.get("cache_control") if isinstance(value, dict) else None
            parts.append((strip_marks(value), tokens, cc.get("ttl", "5m") if cc else None))

        for tool in body.get("tools") or []:
            add(tool, tokens_of(strip_marks(tool)) + 10)
        for block in as_blocks(body.get("system")) if body.get("system") else []:
            add(block, block_tokens(block))
        for msg in body.get("messages") or []:
            for block in as_blocks(msg.get("content")):
                add({**block, "role": msg.get("role")}, block_tokens(block) + 3)
        auto = body.get("cache_control")
        if auto and parts:
            value, tokens, _ = parts[-1]
            parts[-1] = (value, tokens, auto.get("ttl", "5m"))
        return parts

    def prompt_keys(self, body: dict) -> list[str]:
        """One hash per part of the prompt: two prompts share a prefix as far as these agree."""
        return [digest(value) for value, _, _ in self.prompt_parts(body)]

    def prompt_tokens(self, body: dict) -> int:
        return 7 + sum(t for _, t, _ in self.prompt_parts(body))

    def account(self, body: dict, spec: dict) -> dict:
        parts = self.prompt_parts(body)
        now = time.monotonic()
        running, total, prefix = digest("model", body.get("model")), 7, []
        for value, tokens, ttl in parts:
            running, total = digest(running, value), total + tokens
            prefix.append((running, total, ttl))
        marks = [i for i, (_, _, ttl) in enumerate(prefix) if ttl]
        read = 0
        for i in marks:
            for k in range(i, max(-1, i - 20), -1):  # each mark looks back at most 20 blocks
                if self.cache.get(prefix[k][0], 0) > now:
                    read = max(read, prefix[k][1])
                    break
        created = {"5m": 0, "1h": 0}
        upto = read
        for i in marks:
            key, size, ttl = prefix[i]
            if size < spec["cache_min"]:
                continue
            if size > upto:
                created[ttl] += size - upto
                upto = size
            self.cache[key] = now + (3600 if ttl == "1h" else 300)
        usage = {
            "input_tokens": max(0, total - upto),
            "cache_creation_input_tokens": created["5m"] + created["1h"],
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": created["5m"],
                "ephemeral_1h_input_tokens": created["1h"],
            },
            "output_tokens": 1,
            "service_tier": "standard",
            "inference_geo": "global",
            "server_tool_use": None,
        }
        return usage

    # -- choosing what to say

    def texts(self, body: dict) -> dict[str, str]:
        msgs = body.get("messages") or []

        def plain(blocks: list) -> str:
            out = []
            for b in blocks:
                if b.get("type") == "text":
                    out.append(b.get("text", ""))
                elif b.get("type") == "tool_result":
                    out.append(plain(as_blocks(b.get("content"))))
                elif b.get("type") == "tool_use":
                    out.append(json.dumps(b.get("input")))
            return "\n".join(out)

        last_user = last_result = ""
        for m in msgs:
            if m.get("role") != "user":
                continue
            blocks = as_blocks(m.get("content"))
            text = plain([b for b in blocks if b.get("type") == "text"])
            result = plain([b for b in blocks if b.get("type") == "tool_result"])
            last_user, last_result = text or last_user, result or last_result
        return {
            "last_user": last_user,
            "last_tool_result": last_result,
            "system": plain(as_blocks(body.get("system") or "")),
            "all": "\n".join(plain(as_blocks(m.get("content"))) for m in msgs),
        }

    def matches(self, turn: dict, body: dict, texts: dict) -> bool:
        cond = turn.get("match") or {}
        names = {t.get("name") for t in body.get("tools") or []}
        for key, want in cond.items():
            if key in ("last_user", "last_tool_result", "system"):
                ok = re.search(want, texts[key]) is not None
            elif key == "any":
                ok = re.search(want, texts["all"] + texts["system"]) is not None
            elif key == "model":
                ok = re.search(want, body.get("model", "")) is not None
            elif key == "has_tool":
                ok = want in names
            elif key == "has_tools":
                ok = bool(names) is bool(want)
            elif key == "stream":
                ok = bool(body.get("stream")) is bool(want)
            elif key == "min_messages":
                ok = len(body.get("messages") or []) >= want
            else:
                raise ValueError(f"messages_api: unknown match key {key!r}")
            if not ok:
                return False
        return True

    def pick(self, body: dict, record: dict) -> dict:
        if self.responder is not None:
            turn = self.responder(body, record)
            if turn is not None:
                return {**turn, "_faults": faults_of(turn)}
        texts = self.texts(body)
        for n, turn in enumerate(self.rules + self.turns):
            if turn["_left"] > 0 and self.matches(turn, body, texts):
                record["turn"] = n
                self.last_turn = turn
                return turn
        how = self.defaults["model_answers_when_exhausted"]
        if how == "repeat_last" and self.last_turn is not None:
            return self.last_turn
        if how == "echo":
            return {
                "blocks": [
                    {"type": "text", "text": "You said: " + (texts["last_user"] or "(nothing)")}
                ],
                "_faults": [],
            }
        raise ApiError(
            400,
            "invalid_request_error",
            "messages_api: no scripted turn is left for this request",
            {"x-should-retry": "false"},
        )

    def fill(self, value: Any, texts: dict) -> Any:
        if isinstance(value, dict):
            if "$find" in value:
                found = re.search(
                    value["$find"], texts.get(value.get("in", "last_tool_result"), "")
                )
                if found:
                    return found.group(1) if found.groups() else found.group(0)
                return value.get("default", "")
            return {k: self.fill(v, texts) for k, v in value.items()}
        if isinstance(value, list):
            return [self.fill(v, texts) for v in value]
        return value

    WORDS = (
        "the cell reads a frame and plots its mean by group so the kernel can show one figure "
        "while data "
        "columns rows index value error output result table".split()
    )

    def expand(self, turn: dict, body: dict, spec: dict, thinking_on: bool) -> list[dict]:
        """The content blocks of the answer, ids and signatures made."""
        texts = self.texts(body)
        cfg = body.get("thinking") or {}
        shown = cfg.get("display") or (
            "omitted" if spec["thinking"] == "adaptive" else "summarized"
        )
        prefix = [strip_marks(as_blocks(body.get("system"))), strip_marks(body.get("tools") or [])]
        thought = ("thinking", "redacted_thinking")
        prefix += [
            [
                m.get("role"),
                [
                    strip_marks(b)
                    for b in as_blocks(m.get("content"))
                    if b.get("type") not in thought
                ],
            ]
            for m in body.get("messages") or []
        ]
        earlier = [
            b.get("signature") or b.get("data")
            for m in body.get("messages") or []
            for b in as_blocks(m.get("content"))
            if b.get("type") in thought
        ]
        before = earlier[-1] if earlier else None
        out: list[dict] = []
        signatures: list[str] = []
        for raw in turn.get("blocks", []):
            b = copy.deepcopy(raw)
            kind = b["type"]
            if kind == "text":
                if "words" in b:
                    rng = random.Random(b.get("seed", 7))
                    b["text"] = " ".join(rng.choice(self.WORDS) for _ in range(b.pop("words")))
                    b.pop("seed", None)
                out.append({"type": "text", "text": b["text"]})
            elif kind in ("thinking", "redacted_thinking"):
                if not thinking_on:
                    continue
                tag = base64.b64encode(
                    hashlib.sha512(f"{len(self.thinking_store)}{time.time_ns()}".encode()).digest()
                    * 3
                ).decode()
                if kind == "thinking":
                    text = b.get("thinking", "") if shown == "summarized" else ""
                    block = {
                        "type": "thinking",
                        "thinking": text,
                        "signature": b.get("signature") or "Fk" + tag,
                    }
                    key = block["signature"]
                else:
                    text, block = (
                        "",
                        {"type": "redacted_thinking", "data": b.get("data") or "Rd" + tag},
                    )
                    key = block["data"]
                said = [strip_marks(x) for x in out if x["type"] not in thought]
                self.thinking_store[key] = {
                    "text": text,
                    "prefix": digest([*prefix, said]),
                    "before": before,
                }
                before = key
                signatures.append(key)
                out.append(block)
                if kind == "thinking" and b.get("thinking"):
                    block["_hidden"] = tokens_of(
                        b["thinking"]
                    )  # billed even where the text is not shown
            elif kind == "tool_use":
                block = {
                    "type": "tool_use",
                    "id": b.get("id") or new_id("toolu"),
                    "name": b["name"],
                    "input": self.fill(b.get("input", {}), texts),
                }
                self.tool_thinking[block["id"]] = list(signatures)
                out.append(block)
            else:
                out.append(b)
        return out

    def limit(self, blocks: list[dict], max_tokens: int) -> tuple[list[dict], int, bool]:
        """Cut the answer at max_tokens, in the middle of a block if need be."""
        used = 0
        kept: list[dict] = []
        for b in blocks:
            size = b.get("_hidden", 0) or block_tokens(b)
            if used + size <= max_tokens:
                kept.append(b)
                used += size
                continue
            room = max(0, max_tokens - used)
            if room and b["type"] == "text":
                kept.append(
                    {**b, "text": b["text"][: int(room * CHARS_PER_TOKEN)] or b["text"][:1]}
                )
            elif room and b["type"] == "tool_use":
                text = json.dumps(b["input"], ensure_ascii=False)
                kept.append({**b, "_partial": text[: int(room * CHARS_PER_TOKEN)]})
            return kept, max_tokens, True
        return kept, used, False
