"""Vitto, an agent that works inside Jupyter.

Owns the version and the entry points that Jupyter looks up; imports nothing heavy, so that
having Vitto installed costs a server start next to nothing.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .app import VittoApp

    return [{"module": "vitto_jupyter", "app": VittoApp}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "static/lab", "dest": "vitto-jupyter"}]
