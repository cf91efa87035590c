"""Settings of the whole product as one frozen value. Filled from traitlets in app.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Effort = Literal["low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What an administrator or user configured; never holds a key or token.

    `provider` "auto" means: anthropic when it has credentials, else demo.
    Sizes are in characters (`_chars`), bytes (`_bytes`) or seconds (`_s`).
    """

    data_dir: Path = field(default_factory=lambda: Path.home() / ".local/share/jupyter/vitto")
    provider: str = "auto"
    model: str = ""
    effort: Effort | None = None
    base_url: str = ""
    max_requests_per_turn: int = 60
    max_same_failure: int = 3
    max_retries: int = 6
    command_timeout_s: float = 120.0
    cell_wait_s: float = 60.0  # for cells, then the run goes on without the call
    cell_timeout_s: float = 600.0  # the longest such wait that the model may ask for
    read_timeout_s: float = 60.0
    max_body_bytes: int = 8 * 1024 * 1024
