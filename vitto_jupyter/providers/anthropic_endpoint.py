"""Where the Messages API is, and whether the environment holds credentials for it.

No SDK here: most of the time plain environment variables decide, and importing the SDK takes
seconds. Used by anthropic.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

OFFICIAL_HOST = "api.anthropic.com"
_OFFICIAL_DOMAINS = ("anthropic.com", "claude.com")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server. `base_url` is "" when the SDK decides: its default or a profile's."""

    base_url: str = ""

    @property
    def host(self) -> str:
        """Host and port, never user or password: this is shown to people."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or OFFICIAL_HOST
        port = self.base_url and _port(parts.netloc)
        return f"{host}:{port}" if port else host

    @property
    def is_official(self) -> bool:
        host = urlsplit(self.base_url).hostname or OFFICIAL_HOST
        return any(host == d or host.endswith(f".{d}") for d in _OFFICIAL_DOMAINS)


def endpoint_of(configured: str, environ: Mapping[str, str]) -> Endpoint:
    """The server that is configured, else that of ANTHROPIC_BASE_URL, else the SDK's choice.

    A final `/v1` is dropped, since the SDK adds it; a missing scheme becomes http.
    """
    if not configured and environ.get("ANTHROPIC_BASE_URL") == "":
        return Endpoint(f"https://{OFFICIAL_HOST}")  # the SDK would take "" for an address
    url = (configured or environ.get("ANTHROPIC_BASE_URL") or "").strip().rstrip("/")
    if url.endswith("/v1"):
        url = url.removesuffix("/v1").rstrip("/")
    if url and "://" not in url:
        url = f"http://{url}"
    return Endpoint(url)


def credentials_in(environ: Mapping[str, str]) -> Literal["static", "discoverable", "none"]:
    """What the environment says about credentials, without asking the SDK.

    "static": a key, token or header is set. "discoverable": a profile or workload identity
    seems to be set up, which only the SDK can read. "none": neither.
    """
    if environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN"):
        return "static"
    headers = environ.get("ANTHROPIC_CUSTOM_HEADERS", "").lower()
    names = {line.partition(":")[0].strip() for line in headers.splitlines()}
    if names & {"authorization", "x-api-key"}:
        return "static"
    set_up = ("ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_FEDERATION_RULE_ID")
    if any(environ.get(name) for name in set_up) or config_dir(environ).is_dir():
        return "discoverable"
    return "none"


def config_dir(environ: Mapping[str, str]) -> Path:
    """Where the SDK looks for profiles."""
    if environ.get("ANTHROPIC_CONFIG_DIR"):
        return Path(environ["ANTHROPIC_CONFIG_DIR"])
    if os.name == "nt":
        return Path(environ.get("APPDATA") or os.path.expanduser("~/AppData/Roaming"), "Anthropic")
    return Path(os.path.expanduser("~/.config/anthropic"))


def _port(netloc: str) -> str:
    tail = netloc.rpartition("@")[2].rpartition("]")[2]
    return tail.rpartition(":")[2] if ":" in tail else ""
