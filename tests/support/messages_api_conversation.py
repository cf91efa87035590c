"""The checks of `messages`: blocks, tool pairs, and thinking that is sent back."""

from __future__ import annotations

import base64
import binascii
import itertools
from typing import TYPE_CHECKING, Any

from messages_api_values import (
    IMAGE_TYPES,
    TOOL_ID,
    as_blocks,
    bad,
    digest,
    image_size,
    strip_marks,
)

if TYPE_CHECKING:
    from messages_api_checks import RequestChecks

Turns = list[tuple[str, list[tuple[str, dict]]]]


def check_text(block: dict, path: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise bad(f"{path}.text: Field required")
    if text == "":
        if block.get("cache_control"):
            raise bad(f"{path}: cache_control cannot be set for empty text blocks")
        raise bad(f"{path.split('.')[0]}: text content blocks must be non-empty")
    if not text.strip():
        raise bad(f"{path.split('.')[0]}: text content blocks must contain non-whitespace text")


class ConversationChecks:
    """Checks of the messages of one request. Raises ApiError; warnings go to the request."""

    def __init__(self, request: RequestChecks) -> None:
        self.request = request
        self.images = 0
        self.big_image = False

    def check_image(self, block: dict, path: str) -> None:
        self.images += 1
        src = block.get("source") or {}
        if src.get("type") == "base64":
            if src.get("media_type") not in IMAGE_TYPES:
                raise bad(
                    f"{path}.image.source.base64.media_type: Input should be 'image/jpeg', "
                    "'image/png', "
                    f"'image/gif' or 'image/webp'"
                )
            data = src.get("data")
            if not isinstance(data, str) or not data:
                raise bad(f"{path}.image.source.base64.data: image cannot be empty")
            try:
                raw = base64.b64decode(data, validate=True)
            except (binascii.Error, ValueError):
                raise bad(f"{path}.image.source.base64: invalid base64 data") from None
            if len(data) > 10 * 1024 * 1024:
                raise bad(
                    f"{path}.image.source.base64: image exceeds 10 MB maximum: {len(data)} bytes "
                    "> 10485760 "
                    f"bytes"
                )
            if len(data) > 5 * 1024 * 1024:
                self.request.warnings.append(
                    f"{path}: image over 5 MB (refused on some platforms and models)"
                )
            found, w, h = image_size(raw)
            if not found:
                raise bad("Could not process image")
            if found != src["media_type"]:
                raise bad(
                    f"{path}.image.source.base64: The image was specified using the "
                    f"{src['media_type']} media "
                    f"type, but the image appears to be a {found} image"
                )
            if max(w, h) > 8000:
                raise bad(
                    f"{path}.image.source.base64.data: At least one of the image dimensions "
                    "exceed max allowed "
                    f"size: 8000 pixels"
                )
            self.big_image = self.big_image or max(w, h) > 2000
        elif src.get("type") not in ("url", "file"):
            raise bad(
                f"{path}.image.source: Input tag found using 'type' does not match any of the "
                "expected tags: "
                f"'base64', 'url', 'file'"
            )

    def check_document(self, block: dict, path: str) -> None:
        src = block.get("source") or {}
        kind = src.get("type")
        if kind == "base64" and src.get("media_type") != "application/pdf":
            raise bad(
                f"{path}.document.source.base64.media_type: Input should be 'application/pdf'"
            )
        if kind == "text" and src.get("media_type") != "text/plain":
            raise bad(f"{path}.document.source.text.media_type: Input should be 'text/plain'")
        if kind not in ("base64", "text", "content", "url", "file"):
            raise bad(f"{path}.document.source: Input tag does not match any of the expected tags")

    def merged(self) -> Turns:
        """Turns as the model sees them: neighbours of one role joined, blocks with their path."""
        turns: Turns = []
        for i, msg in enumerate(self.request.body["messages"]):
            blocks = [
                (f"messages.{i}.content.{j}", b) for j, b in enumerate(as_blocks(msg["content"]))
            ]
            if msg["role"] == "system":
                continue
            if turns and turns[-1][0] == msg["role"]:
                if self.request.fake.strict_alternation:
                    raise bad(
                        'messages: roles must alternate between "user" and "assistant", but found '
                        "multiple "
                        f'"{msg["role"]}" roles in a row'
                    )
                self.request.warnings.append(
                    f"messages.{i}: two '{msg['role']}' messages in a row (joined)"
                )
                turns[-1][1].extend(blocks)
            else:
                turns.append((msg["role"], blocks))
        return turns

    def run(self) -> None:
        messages = self.request.body.get("messages")
        if not isinstance(messages, list):
            raise bad(
                "messages: Field required"
                if messages is None
                else "messages: Input should be a valid list"
            )
        if not messages:
            raise bad("messages: at least one message is required")
        if len(messages) > 100_000:
            raise bad("messages: at most 100000 messages are allowed")
        for i, msg in enumerate(messages):
            path = f"messages.{i}"
            if not isinstance(msg, dict):
                raise bad(f"{path}: Input should be a valid dictionary")
            role = msg.get("role")
            if role not in ("user", "assistant", "system"):
                raise bad(f'{path}.role: Input should be "user", "assistant" or "system"')
            extra = (
                set(msg)
                - {"role", "content"}
                - ({"clear_at", "output_config"} if role == "system" else set())
            )
            if extra:
                raise bad(f"{path}.{sorted(extra)[0]}: Extra inputs are not permitted")
            content = msg.get("content")
            if role == "system":
                self.check_system_message(messages, i)
                continue
            if i == 0 and role != "user":
                raise bad('messages: first message must use the "user" role')
            last = i == len(messages) - 1
            if isinstance(content, str):
                if not content.strip() and not (last and role == "assistant"):
                    raise bad("messages: text content blocks must be non-empty")
                continue
            if not isinstance(content, list):
                raise bad(f"{path}.content: Input should be a valid list")
            if not content and not (last and role == "assistant"):
                raise bad(
                    f"{path}: all messages must have non-empty content except for the optional "
                    "final assistant "
                    f"message"
                )
            for j, block in enumerate(content):
                self.check_block(block, f"{path}.content.{j}", role)
        if self.images > 20 and self.big_image:
            raise bad(
                "At least one of the image dimensions exceed max allowed size for many-image "
                "requests: 2000 "
                "pixels"
            )
        if self.images > (100 if self.request.spec["window"] <= 200_000 else 600):
            raise bad("Too many images")
        turns = self.merged()
        if not turns or turns[0][0] != "user":
            raise bad('messages: first message must use the "user" role')
        self.check_tool_pairs(turns)
        if turns[-1][0] == "assistant":
            if not self.request.spec["prefill"]:
                if not self.request.counting and not self._pause_turn(turns[-1]):
                    raise bad(
                        "This model does not support assistant message prefill. The conversation "
                        "must end with "
                        "a user message."
                    )
            else:
                tail = turns[-1][1][-1][1] if turns[-1][1] else {}
                if tail.get("type") == "text" and tail["text"] != tail["text"].rstrip():
                    raise bad(
                        "messages: final assistant content cannot end with trailing whitespace"
                    )
        self.check_thinking_replay(turns)
        if (
            any(b.get("type") in ("tool_use", "tool_result") for _, bl in turns for _, b in bl)
            and not self.request.tool_names
        ):
            self.request.warnings.append(
                "tool blocks in messages but no `tools` (refused on some platforms)"
            )

    @staticmethod
    def _pause_turn(turn: tuple[str, list[tuple[str, dict]]]) -> bool:
        return any(b.get("type") in ("server_tool_use", "compaction") for _, b in turn[1])

    def check_system_message(self, messages: list, i: int) -> None:
        path = f"messages.{i}"
        if not self.request.spec["system_msgs"]:
            raise bad(f"{path}: role 'system' is not supported on this model")
        if i == 0:
            raise bad(
                "messages: a 'system' message can't be the first message; use the top-level "
                "`system`"
            )
        before = messages[i - 1].get("role")
        if before not in ("user", "system"):
            raise bad(f"{path}: a 'system' message must follow a 'user' message")
        if i + 1 < len(messages) and messages[i + 1].get("role") not in ("assistant", "system"):
            raise bad(
                f"{path}: a 'system' message must be last or be followed by an 'assistant' message"
            )
        for j, block in enumerate(as_blocks(messages[i].get("content"))):
            if block.get("type") == "text":
                check_text(block, f"{path}.content.{j}")
                self.request.mark(block, f"{path}.content.{j}")
            elif block.get("type") not in ("tool_addition", "tool_removal"):
                raise bad(f"{path}.content.{j}.type: Input should be 'text'")

    def check_block(self, block: Any, path: str, role: str) -> None:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise bad(f"{path}.type: Field required")
        kind = block["type"]
        if kind in ("thinking", "redacted_thinking"):
            if role != "assistant":
                raise bad(f"{path}: `{kind}` blocks are only allowed in `assistant` messages")
            if "cache_control" in block:
                raise bad(f"{path}.{kind}.cache_control: Extra inputs are not permitted")
            if kind == "thinking" and not isinstance(block.get("signature"), str):
                raise bad(f"{path}.thinking.signature: Field required")
            if kind == "thinking" and not isinstance(block.get("thinking"), str):
                raise bad(f"{path}.thinking.thinking: Field required")
            return
        self.request.mark(block, path)
        if kind == "text":
            check_text(block, path)
        elif kind == "image":
            if role != "user":
                raise bad(f"{path}: `image` blocks are only allowed in `user` messages")
            self.check_image(block, path)
        elif kind == "document":
            if role == "assistant" and self.request.version >= "2026-10-21":
                raise bad(f"{path}: `document` blocks are not allowed in `assistant` messages")
            self.check_document(block, path)
        elif kind == "tool_use":
            if role != "assistant":
                raise bad(f"{path}: `tool_use` blocks can only be in `assistant` messages")
            if not isinstance(block.get("id"), str) or not TOOL_ID.match(block["id"]):
                raise bad(f"{path}.tool_use.id: String should match pattern '{TOOL_ID.pattern}'")
            if not isinstance(block.get("name"), str) or not 1 <= len(block["name"]) <= 200:
                raise bad(f"{path}.tool_use.name: String should have at most 200 characters")
            if not isinstance(block.get("input"), dict):
                raise bad(f"{path}.tool_use.input: Input should be a valid dictionary")
            extra = set(block) - {
                "type",
                "id",
                "name",
                "input",
                "cache_control",
                "caller",
                "toolset_name",
            }
            if extra:
                raise bad(f"{path}.tool_use.{sorted(extra)[0]}: Extra inputs are not permitted")
        elif kind == "tool_result":
            if role != "user":
                raise bad(f"{path}: `tool_result` blocks can only be in `user` messages")
            if not isinstance(block.get("tool_use_id"), str):
                raise bad(f"{path}.tool_result.tool_use_id: Field required")
            extra = set(block) - {
                "type",
                "tool_use_id",
                "content",
                "is_error",
                "cache_control",
                "toolset_name",
            }
            if extra:
                raise bad(f"{path}.tool_result.{sorted(extra)[0]}: Extra inputs are not permitted")
            inner = block.get("content")
            if inner is not None and not isinstance(inner, (str, list)):
                raise bad(f"{path}.tool_result.content: Input should be a valid string")
            if isinstance(inner, list):
                for k, sub in enumerate(inner):
                    sub_path = f"{path}.tool_result.content.{k}"
                    if sub.get("type") == "text":
                        check_text(sub, sub_path)
                    elif sub.get("type") == "image":
                        self.check_image(sub, sub_path)
                    elif sub.get("type") == "document":
                        self.check_document(sub, sub_path)
                    elif sub.get("type") not in (
                        "search_result",
                        "tool_reference",
                        "browser_state",
                    ):
                        raise bad(
                            f"{sub_path}: Input tag '{sub.get('type')}' found using 'type' does "
                            "not match any "
                            f"of the expected tags: 'document', 'image', 'search_result', 'text', "
                            f"'tool_reference'"
                        )
                    if block.get("is_error") and sub.get("type") != "text":
                        raise bad(
                            f'{path}.tool_result: all content must be type "text" if `is_error` '
                            "is true"
                        )
                    self.request.mark(sub, sub_path)
        elif kind not in (
            "server_tool_use",
            "web_search_tool_result",
            "web_fetch_tool_result",
            "search_result",
            "code_execution_tool_result",
            "bash_code_execution_tool_result",
            "compaction",
            "text_editor_code_execution_tool_result",
            "tool_search_tool_result",
            "container_upload",
            "mcp_tool_use",
            "mcp_tool_result",
            "fallback",
            "advisor_tool_result",
        ):
            raise bad(
                f"{path}: Input tag '{kind}' found using 'type' does not match any of the "
                "expected tags"
            )

    def check_tool_pairs(self, turns: list) -> None:
        seen: set[str] = set()
        for n, (role, blocks) in enumerate(turns):
            if role == "assistant":
                for path, b in blocks:
                    if b.get("type") == "tool_use":
                        if b["id"] in seen:
                            raise bad(
                                f"{path.rsplit('.content', 1)[0]}: `tool_use` ids must be unique"
                            )
                        seen.add(b["id"])
                        if self.request.tool_names and b["name"] not in self.request.tool_names:
                            self.request.warnings.append(
                                f"{path}: tool_use of {b['name']}, which is not in `tools`"
                            )
                wanted = [b["id"] for _, b in blocks if b.get("type") == "tool_use"]
                if not wanted or n + 1 >= len(turns):
                    if wanted and n + 1 >= len(turns):
                        raise bad(
                            f"{blocks[0][0].rsplit('.content', 1)[0]}: `tool_use` ids were found "
                            "without "
                            f"`tool_result` blocks immediately after: {', '.join(wanted)}. Each "
                            "`tool_use` block "
                            f"must have a corresponding `tool_result` block in the next message."
                        )
                    continue
                lead = [
                    b["tool_use_id"]
                    for _, b in itertools.takewhile(
                        lambda pb: pb[1].get("type") == "tool_result", turns[n + 1][1]
                    )
                ]
                missing = [w for w in wanted if w not in lead]
                if missing:
                    raise bad(
                        f"{blocks[0][0].rsplit('.content', 1)[0]}: `tool_use` ids were found "
                        "without "
                        f"`tool_result` blocks immediately after: {', '.join(missing)}. Each "
                        "`tool_use` block "
                        f"must have a corresponding `tool_result` block in the next message."
                    )
            else:
                before = (
                    {b["id"] for _, b in turns[n - 1][1] if b.get("type") == "tool_use"}
                    if n
                    else set()
                )
                answered: set[str] = set()
                for path, b in blocks:
                    if b.get("type") != "tool_result":
                        continue
                    tid = b["tool_use_id"]
                    if tid not in before:
                        raise bad(
                            f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: "
                            f"{tid}. Each "
                            "`tool_result` block must have a corresponding `tool_use` block in "
                            "the previous "
                            f"message."
                        )
                    if tid in answered:
                        raise bad(
                            f"{path}: each tool_use must have a single result. Found multiple "
                            "`tool_result` "
                            f"blocks with id: {tid}"
                        )
                    answered.add(tid)

    def check_thinking_replay(self, turns: list) -> None:
        """Signatures, text and, for models with preserved thinking, the unchanged prefix.

        In an open tool loop no thinking block may be missing.
        """
        fake = self.request.fake
        self.request.dropped: list[dict] = []
        binding = (
            ((self.request.body.get("thinking") or {}).get("block_binding") or {})
            if self.request.body.get("thinking")
            else {}
        )
        drop = binding.get("prefix_mismatch_behavior") == "drop_block"
        walked: list[Any] = [
            strip_marks(as_blocks(self.request.body.get("system"))),
            strip_marks(self.request.body.get("tools") or []),
        ]
        compacted, before = False, None
        for i, msg in enumerate(self.request.body["messages"]):
            flat: list[Any] = []
            for j, b in enumerate(as_blocks(msg["content"])):
                path = f"messages.{i}.content.{j}"
                kind = b.get("type")
                if kind == "compaction":
                    compacted, before = True, None
                if kind in ("thinking", "redacted_thinking"):
                    key = b.get("signature") if kind == "thinking" else b.get("data")
                    known = fake.thinking_store.get(key)
                    if known is None:
                        if fake.foreign_signatures != "allow":
                            raise bad(
                                f"{path}: Invalid "
                                f"`{'signature' if kind == 'thinking' else 'data'}` in "
                                f"`{kind}` block"
                            )
                    elif kind == "thinking" and known["text"] != b.get("thinking"):
                        raise bad(
                            f"{path}: `thinking` or `redacted_thinking` blocks in the latest "
                            "assistant message "
                            "cannot be modified. These blocks must remain as they were in the "
                            "original "
                            f"response."
                        )
                    elif self.request.spec["preserved"] and fake.check_binding and not compacted:
                        # not part of the prefix, but each remembers the one before it: they can be
                        # left out from the start of the conversation, not from its middle
                        if known["prefix"] != digest([*walked, flat]) or before not in (
                            None,
                            known["before"],
                        ):
                            if not drop:
                                raise bad(
                                    f"{path}: Invalid `signature` in `thinking` block. The block "
                                    "is bound to a "
                                    f"different conversation. Remove the block, or set "
                                    "`thinking.block_binding.prefix_mismatch_behavior` to "
                                    '"drop_block".'
                                )
                            self.request.dropped.append(
                                {
                                    "type": "thinking_dropped",
                                    "path": path,
                                    "reason": "prefix_binding_mismatch",
                                }
                            )
                    before = key
                    continue
                flat.append(strip_marks(b))
            walked.append([msg["role"], flat])
        # the assistant turns since the last plain user message form the open tool loop
        if not self.request.thinking_on:
            return
        for role, blocks in reversed(turns):
            if role == "user":
                if not any(b.get("type") == "tool_result" for _, b in blocks):
                    break
                continue
            have = [
                b.get("signature") or b.get("data")
                for _, b in blocks
                if b.get("type") in ("thinking", "redacted_thinking")
            ]
            for path, b in blocks:
                want = fake.tool_thinking.get(b.get("id")) if b.get("type") == "tool_use" else None
                if want and have[: len(want)] != want and not drop:
                    raise bad(
                        f"{path.rsplit('.', 1)[0]}.0.type: Expected `thinking` or "
                        "`redacted_thinking`, but found "
                        f"`{blocks[0][1].get('type')}`. When thinking is on, the thinking blocks "
                        "of the last "
                        "assistant turn must be sent back before its `tool_use` blocks, "
                        "unmodified."
                    )
