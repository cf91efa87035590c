"""JSON Schema of the contract, from which the TypeScript types are generated.

`python -m vitto_jupyter.protocol.schema` writes `schema.json` beside this file;
`npm run generate` in labextension/ turns it into `src/protocol/types.ts`. A test fails when
either is stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from . import approval, context, events, requests, session, tool
from .base import Wire

SCHEMA_FILE = Path(__file__).with_name("schema.json")
JSON_VALUE = "string | number | boolean | null | JsonValue[] | { [k: string]: JsonValue }"


class _Untitled(GenerateJsonSchema):
    """Titles on fields would become a TypeScript alias for every string."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def build_schema() -> dict[str, Any]:
    """The contract as one JSON Schema document; every model is a named definition."""
    models = {
        value
        for module in (tool, approval, context, events, session, requests)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Wire) and value is not Wire
    }
    _, schema = models_json_schema(
        [(model, "serialization") for model in sorted(models, key=lambda m: m.__name__)],
        schema_generator=_Untitled,
    )
    definitions = schema["$defs"]
    for definition in definitions.values():
        definition["additionalProperties"] = False
    members = sorted(
        (
            name
            for name, definition in definitions.items()
            if "type" in definition.get("properties", {}) and "seq" in definition["properties"]
        ),
    )
    definitions["AnyEvent"] = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in members]}
    definitions["Block"] = {
        "oneOf": [
            {"$ref": f"#/$defs/{name}"}
            for name in ("TextBlock", "ThinkingBlock", "ToolBlock", "NoticeBlock")
        ]
    }
    definitions["JsonValue"] = {"tsType": JSON_VALUE}
    definitions["Preview"] = {
        "oneOf": [
            {"$ref": f"#/$defs/{name}"}
            for name in ("DiffPreview", "CommandPreview", "CodePreview", "ActionPreview")
        ]
    }
    return {
        "title": "Protocol",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in sorted(definitions)},
        "required": sorted(definitions),
        "$defs": definitions,
    }


def render_schema() -> str:
    return json.dumps(build_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(render_schema(), encoding="utf-8")
