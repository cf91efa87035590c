"""What the Messages API refuses: the checks of a request, answered with its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from messages_api_conversation import ConversationChecks, check_text
from messages_api_models import ALWAYS_THINKS, MODELS
from messages_api_values import TOOL_NAME, ApiError, bad

if TYPE_CHECKING:
    from messages_api_script import ScriptedModel

STABLE_FIELDS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "metadata",
    "stop_sequences",
    "stream",
    "thinking",
    "tool_choice",
    "tools",
    "service_tier",
    "container",
    "cache_control",
    "output_config",
    "inference_geo",
    "diagnostics",
    "speed",
    "user_profile_id",
    "workspace_id",
}
BETA_FIELDS = {  # field -> the beta header must contain one of these
    "context_management": ("context-management-", "compact-2026-01-12"),
    "compaction": ("compact-2026-09-04",),
    "mcp_servers": ("mcp-client-",),
    "fallbacks": ("server-side-fallback-",),
    "fallback_credit_token": ("fallback-credit-",),
    "thread": ("message-threads-",),
    "billing_policy": ("user-profiles-billing-",),
    "output_format": ("structured-outputs-",),
}
SAMPLING_FIELDS = {"temperature", "top_p", "top_k"}
FIXED_TOOL_NAMES = {
    "bash_": "bash",
    "memory_": "memory",
    "web_search_": "web_search",
    "web_fetch_": "web_fetch",
    "code_execution_": "code_execution",
    "text_editor_20250728": "str_replace_based_edit_tool",
    "text_editor_20250429": "str_replace_based_edit_tool",
    "text_editor_20250124": "str_replace_editor",
}


class RequestChecks:
    """Raises ApiError as the API would; collects warnings for what it would let pass."""

    def __init__(
        self, fake: ScriptedModel, body: dict, headers: dict, counting: bool = False
    ) -> None:
        self.fake, self.body, self.counting = fake, body, counting
        self.version = headers.get("anthropic-version", "")
        self.betas = [b.strip() for b in headers.get("anthropic-beta", "").split(",") if b.strip()]
        self.warnings: list[str] = []
        self.breakpoints: list[tuple[str, str]] = []  # (path, ttl)
        self.dropped: list[dict] = []

    def has_beta(self, prefixes: tuple[str, ...]) -> bool:
        return any(b.startswith(p) for b in self.betas for p in prefixes)

    def run(self) -> None:
        body = self.body
        if not isinstance(body, dict):
            raise bad("Input should be a valid dictionary")
        for field in body:
            if field in STABLE_FIELDS:
                continue
            if field in SAMPLING_FIELDS and self.version < "2026-10-21":
                if MODELS.get(body.get("model"), {}).get("thinking") == "adaptive":
                    raise bad(f"`{field}` is not supported on this model")
                continue
            if field in BETA_FIELDS and self.has_beta(BETA_FIELDS[field]):
                continue
            raise bad(f"{field}: Extra inputs are not permitted")
        model = body.get("model")
        if not isinstance(model, str) or not model:
            raise bad(
                "model: Field required"
                if model is None
                else "model: Input should be a valid string"
            )
        spec = self.fake.model_spec(model)
        if spec is None:
            raise ApiError(404, "not_found_error", f"model: {model}")
        self.spec = spec
        if not self.counting:
            max_tokens = body.get("max_tokens")
            if max_tokens is None:
                raise bad("max_tokens: Field required")
            if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
                raise bad("max_tokens: Input should be greater than or equal to 1")
            if max_tokens > spec["max_out"]:
                raise bad(
                    f"max_tokens: {max_tokens} > {spec['max_out']}, which is the maximum allowed "
                    "number of "
                    f"output tokens for {model}"
                )
        self.check_tools()
        self.check_tool_choice()
        self.check_thinking_config()
        self.check_output_config()
        self.check_system()
        ConversationChecks(self).run()
        self.check_breakpoints()
        for s in body.get("stop_sequences") or []:
            if not isinstance(s, str) or not s.strip():
                raise bad("stop_sequences: each stop sequence must contain non-whitespace")
        meta = body.get("metadata")
        if meta is not None and (not isinstance(meta, dict) or set(meta) - {"user_id"}):
            raise bad("metadata: Extra inputs are not permitted")
        total = self.fake.prompt_tokens(body)
        window = self.fake.context_window or spec["window"]
        if total > window:
            raise bad(f"prompt is too long: {total} tokens > {window} maximum")

    # -- parts

    def mark(self, owner: dict, path: str) -> None:
        cc = owner.get("cache_control")
        if cc is None:
            return
        if not isinstance(cc, dict) or cc.get("type") != "ephemeral":
            raise bad(f"{path}.cache_control.type: Input should be 'ephemeral'")
        if cc.get("ttl", "5m") not in ("5m", "1h"):
            raise bad(f"{path}.cache_control.ttl: Input should be '5m' or '1h'")
        if set(cc) - {"type", "ttl"}:
            raise bad(f"{path}.cache_control: Extra inputs are not permitted")
        self.breakpoints.append((path, cc.get("ttl", "5m")))

    def check_breakpoints(self) -> None:
        automatic = self.body.get("cache_control")
        if automatic is not None:
            self.mark({"cache_control": automatic}, "automatic")
        if len(self.breakpoints) > 4:
            raise bad(
                "A maximum of 4 blocks with cache_control may be provided. Found "
                f"{len(self.breakpoints)}."
            )
        short = False
        for path, ttl in self.breakpoints:
            if ttl == "1h" and short:
                raise bad(
                    f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come "
                    "after a "
                    f"ttl='5m' cache_control block"
                )
            short = short or ttl == "5m"
        if not self.breakpoints and not self.counting:
            self.warnings.append("no cache_control: nothing of this prompt is cached")

    def check_tools(self) -> None:
        self.tool_names: set[str] = set()
        tools = self.body.get("tools")
        if tools is None:
            return
        if not isinstance(tools, list):
            raise bad("tools: Input should be a valid list")
        for i, tool in enumerate(tools):
            if not isinstance(tool, dict):
                raise bad(f"tools.{i}: Input should be a valid dictionary")
            kind = tool.get("type", "custom")
            path = f"tools.{i}.{kind}"
            name = tool.get("name")
            if kind == "custom" or kind is None:
                if not isinstance(name, str):
                    raise bad(f"{path}.name: Field required")
                if not TOOL_NAME.match(name):
                    raise bad(f"{path}.name: String should match pattern '{TOOL_NAME.pattern}'")
                schema = tool.get("input_schema")
                if not isinstance(schema, dict):
                    raise bad(f"{path}.input_schema: Field required")
                if schema.get("type") != "object":
                    raise bad(f"{path}.input_schema.type: Input should be 'object'")
                if {"oneOf", "anyOf", "allOf"} & set(schema):
                    raise bad(
                        f"{path}.input_schema: input_schema does not support oneOf, allOf, or "
                        "anyOf at the top "
                        f"level"
                    )
                extra = set(tool) - {
                    "type",
                    "name",
                    "description",
                    "input_schema",
                    "cache_control",
                    "strict",
                    "eager_input_streaming",
                    "defer_loading",
                    "allowed_callers",
                    "input_examples",
                }
                if extra:
                    raise bad(f"{path}.{sorted(extra)[0]}: Extra inputs are not permitted")
                if not tool.get("description"):
                    self.warnings.append(f"tools.{i} ({name}) has no description")
            else:
                for prefix, fixed in FIXED_TOOL_NAMES.items():
                    if kind.startswith(prefix) and name != fixed:
                        raise bad(f"{path}.name: Input should be '{fixed}'")
                name = name or kind
            if name in self.tool_names:
                raise bad("tools: Tool names must be unique.")
            self.tool_names.add(name)
            self.mark(tool, path)

    def check_tool_choice(self) -> None:
        choice = self.body.get("tool_choice")
        if choice is None:
            return
        if not isinstance(choice, dict) or choice.get("type") not in (
            "auto",
            "any",
            "tool",
            "none",
        ):
            raise bad(
                "tool_choice: Input tag found using 'type' does not match any of the expected "
                "tags: 'auto', "
                "'any', 'tool', 'none'"
            )
        if not self.tool_names:
            raise bad("tool_choice may only be specified while providing tools.")
        if choice["type"] == "tool" and choice.get("name") not in self.tool_names:
            raise bad(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")

    def check_thinking_config(self) -> None:
        cfg = self.body.get("thinking")
        spec = self.spec
        # left out: the newer models think adaptively, claude-opus-4-8 and older ones don't think
        self.thinking_on = (
            cfg is None and spec["thinking"] == "adaptive" and spec["id"] != "claude-opus-4-8"
        )
        if cfg is None:
            return
        kind = cfg.get("type") if isinstance(cfg, dict) else None
        if kind not in ("enabled", "disabled", "adaptive", "between_tools"):
            raise bad(
                "thinking: Input tag found using 'type' does not match any of the expected tags: "
                "'adaptive', "
                "'between_tools', 'disabled', 'enabled'"
            )
        if kind == "enabled":
            if spec["thinking"] == "adaptive":
                raise bad(
                    '"thinking.type.enabled" is not supported for this model. Use '
                    '"thinking.type.adaptive" and '
                    '"output_config.effort" to control thinking behavior.'
                )
            budget = cfg.get("budget_tokens")
            if not isinstance(budget, int):
                raise bad("thinking.enabled.budget_tokens: Field required")
            if budget < 1024:
                raise bad(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
                )
            if not self.counting and budget >= self.body.get("max_tokens", 0):
                raise bad("`max_tokens` must be greater than `thinking.budget_tokens`.")
        if kind == "adaptive" and spec["thinking"] == "enabled":
            raise bad("adaptive thinking is not supported on this model")
        if kind == "disabled" and spec["id"] in ALWAYS_THINKS:
            raise bad('"thinking.type.disabled" is not supported for this model.')
        if "block_binding" in cfg and not self.has_beta(("thinking-binding-controls-",)):
            raise bad(f"thinking.{kind}.block_binding: Extra inputs are not permitted")
        self.thinking_on = kind in ("enabled", "adaptive")
        choice = (self.body.get("tool_choice") or {}).get("type")
        if kind == "enabled" and choice in ("any", "tool"):
            raise bad("Thinking may not be enabled when tool_choice forces tool use.")

    def check_output_config(self) -> None:
        cfg = self.body.get("output_config")
        if cfg is None:
            return
        effort = cfg.get("effort")
        if effort is not None:
            if effort not in ("low", "medium", "high", "xhigh", "max"):
                raise bad(
                    "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or "
                    "'max'"
                )
            if not self.spec["effort"]:
                raise bad("This model does not support the effort parameter.")
        fmt = cfg.get("format")
        if fmt is not None:
            if fmt.get("type") != "json_schema" or not isinstance(fmt.get("schema"), dict):
                raise bad("output_config.format.schema: Field required")
            self._closed_objects(fmt["schema"], "output_config.format.schema")

    def _closed_objects(self, schema: Any, path: str) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
                raise bad(
                    f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to "
                    "false"
                )
            for key, value in schema.items():
                self._closed_objects(value, f"{path}.{key}")
        elif isinstance(schema, list):
            for i, value in enumerate(schema):
                self._closed_objects(value, f"{path}.{i}")

    def check_system(self) -> None:
        system = self.body.get("system")
        if system is None or isinstance(system, str):
            return
        if not isinstance(system, list):
            raise bad("system: Input should be a valid list")
        for i, block in enumerate(system):
            if not isinstance(block, dict) or block.get("type") != "text":
                raise bad(f"system.{i}.type: Input should be 'text'")
            check_text(block, f"system.{i}")
            self.mark(block, f"system.{i}")
