"""`vitto doctor`: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TextIO

from . import __version__
from .errors import ProviderError
from .settings import Settings

PROVIDER_TIMEOUT_S = 15.0
MARKS = {"good": "ok", "missing": "--", "bad": "!!"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. "missing" is fine to be without, "bad" needs doing something."""

    state: Literal["good", "missing", "bad"]
    what: str
    hint: str = ""


def examine(out: TextIO) -> int:
    """Write the report; returns 1 when something needs doing, else 0."""
    findings = list(_findings(configured_settings()))
    for finding in findings:
        out.write(f"{MARKS[finding.state]}  {finding.what}\n")
        if finding.hint:
            out.write(f"    {finding.hint}\n")
    bad = sum(finding.state == "bad" for finding in findings)
    out.write(f"\n{bad} thing(s) to mend.\n" if bad else "\nAll is well.\n")
    return 1 if bad else 0


def configured_settings() -> Settings:
    """Settings as a server would have them, from Jupyter's configuration files."""
    from jupyter_server.serverapp import ServerApp

    from .app import VittoApp

    server = ServerApp()
    server.load_config_file()
    return VittoApp(config=server.config, serverapp=server).to_settings()


def _findings(settings: Settings) -> Iterator[Finding]:
    yield Finding("good", f"Vitto {__version__}, Python {platform.python_version()}")
    yield Finding(
        "good", f"JupyterLab {version('jupyterlab')}, Jupyter Server {version('jupyter-server')}"
    )
    yield server_extension()
    yield lab_extension()
    yield asyncio.run(provider(settings))
    yield terminals()
    yield kernels()
    yield sessions(settings.data_dir)


def server_extension() -> Finding:
    from jupyter_core.paths import jupyter_config_path
    from jupyter_server.extension.config import ExtensionConfigManager

    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    if manager.get_jpserver_extensions().get("vitto_jupyter"):
        return Finding("good", "The server extension is enabled.")
    return Finding(
        "bad",
        "The server extension is not enabled.",
        "Run: jupyter server extension enable vitto_jupyter",
    )


def lab_extension() -> Finding:
    from jupyter_core.paths import jupyter_path

    folders = [Path(folder, "vitto-jupyter") for folder in jupyter_path("labextensions")]
    found = next((f for f in folders if (f / "package.json").is_file()), None)
    if found is None:
        return Finding(
            "bad",
            "The JupyterLab side is not installed.",
            "Install the package again: pip install --force-reinstall vitto-jupyter",
        )
    built = json.loads((found / "package.json").read_text(encoding="utf-8"))["version"]
    if built != __version__:
        return Finding(
            "bad",
            f"The JupyterLab side has version {built}, the server {__version__}.",
            "Install the package again, then reload the page.",
        )
    return Finding("good", "The JupyterLab side is installed.")


async def provider(settings: Settings) -> Finding:
    """Whether there are credentials, and whether the service answers."""
    from .providers.anthropic import AnthropicProvider

    source = AnthropicProvider(settings)
    availability = await source.availability()
    if not availability.available:
        what = f"{source.label}: {availability.reason} The demo answers instead."
        return Finding("missing", what, availability.hint)
    try:
        async with asyncio.timeout(PROVIDER_TIMEOUT_S):
            models = await source.models()
    except ProviderError as err:
        return Finding("bad", f"{source.label}: {err.message}", err.hint)
    except TimeoutError:
        what = f"{source.label} did not answer within {PROVIDER_TIMEOUT_S:g} s."
        return Finding("bad", what, "Check the network, the proxy and the base URL.")
    finally:
        await source.close()
    first = f", first of them {models[0].id}" if models else ""
    return Finding("good", f"{source.label} answers: {len(models)} model(s){first}.")


def terminals() -> Finding:
    if find_spec("jupyter_server_terminals") is None:
        hint = "Run: pip install jupyter-server-terminals"
        return Finding("bad", "Terminals are not available: a package is missing.", hint)
    if shutil.which("bash") is None:
        return Finding("missing", "No bash was found: Vitto cannot run commands.", "Install bash.")
    return Finding("good", "Terminals are available.")


def kernels() -> Finding:
    from jupyter_client.kernelspec import KernelSpecManager

    names = sorted(KernelSpecManager().find_kernel_specs())
    if not names:
        return Finding("bad", "There is no kernel.", "Run: pip install ipykernel")
    return Finding("good", f"Kernels: {', '.join(names)}")


def sessions(data_dir: Path) -> Finding:
    """Whether sessions can be kept."""
    existing = next(folder for folder in (data_dir, *data_dir.parents) if folder.exists())
    if os.access(existing, os.W_OK | os.X_OK):
        return Finding("good", f"Sessions are kept in {data_dir}")
    return Finding(
        "bad",
        f"Sessions cannot be kept in {data_dir}: no permission to write.",
        "Mend the permissions, or set VittoApp.data_dir to another folder.",
    )
