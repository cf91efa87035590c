"""Files that hold secrets: the model reads names and structure, never the values."""

from __future__ import annotations

import re

from ..policy.paths import is_secret
from ..workspace.base import Documents

HIDDEN = "•••"
_ASSIGNED = re.compile(r"""^(\s*(?:export\s+)?["']?[#;\w.\- ]+["']?\s*[=:]\s*)\S.*$""")
_LOGIN = re.compile(r"\b(login|account|password|passwd|_authToken)\s+\S+", re.IGNORECASE)
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=_-]{16,}")
_KEPT = re.compile(r"^\s*(#|;|\[|-----(BEGIN|END) |$)")


async def holds_secrets(documents: Documents, path: str) -> bool:
    """Whether the file, or what it is a link to, is one that holds secrets."""
    return is_secret(path) or is_secret(await documents.resolved(path))


def without_values(text: str) -> str:
    """`text` with every value replaced: what is assigned, logins, and the body of keys."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned[1]}{HIDDEN}"
    if _KEPT.match(line) and not _KEY_TEXT.search(line):
        return line
    return _KEY_TEXT.sub(HIDDEN, _LOGIN.sub(rf"\1 {HIDDEN}", line))
