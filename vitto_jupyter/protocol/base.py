"""Base of all wire models and the ids. Imported by every protocol module."""

from __future__ import annotations

import re
import secrets
from typing import NewType

from pydantic import BaseModel, ConfigDict, JsonValue

JsonObject = dict[str, JsonValue]

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
ToolCallId = NewType("ToolCallId", str)
ApprovalId = NewType("ApprovalId", str)
HostId = NewType("HostId", str)
CallId = NewType("CallId", str)

ID_PATTERN = r"^[A-Za-z0-9_-]{1,80}$"
_ID = re.compile(ID_PATTERN)


class Wire(BaseModel):
    """A value on the wire: frozen, unknown fields refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


def new_id(prefix: str) -> str:
    """A fresh random id such as `ses_1f0c…`, safe in URLs and file names."""
    return f"{prefix}_{secrets.token_hex(10)}"


def is_id(text: str) -> bool:
    """True when `text` may be an id: letters, digits, `_` and `-`, at most 80."""
    return _ID.fullmatch(text) is not None
