"""Having Vitto installed must cost a server start next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys

START = """
import json, sys
from jupyter_server.serverapp import ServerApp
import jupyter_server.extension.application

before = set(sys.modules)
import vitto_jupyter
(point,) = vitto_jupyter._jupyter_server_extension_points()
imported = set(sys.modules)

app = ServerApp()
app.initialize(
    ["--no-browser", "--allow-root", "--ServerApp.port_retries=0"],
    find_extensions=False, new_httpserver=False,
)
linked = set(sys.modules)
app.extension_manager.add_extension("vitto_jupyter", enabled=True)
app.extension_manager.link_extension("vitto_jupyter")
app.extension_manager.load_extension("vitto_jupyter")
loaded = set(sys.modules)
print(json.dumps(sorted((imported - before) | (loaded - linked))))
"""
HEAVY = (
    "anthropic",
    "httpx",
    "httpx2",
    "pydantic",
    "nbformat",
    "nbconvert",
    "nbclient",
    "jupyter_client",
    "jupyterlab",
    "IPython",
    "pyflakes",
    "pathspec",
    "terminado",
)


def modules_of_a_start(tmp_path) -> list[str]:
    environment = {"HOME": str(tmp_path), "JUPYTER_NO_CONFIG": "1"}
    done = subprocess.run(
        [sys.executable, "-c", START], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_starting_the_extension_imports_only_what_it_needs(tmp_path) -> None:
    modules = modules_of_a_start(tmp_path)
    ours = {name for name in modules if name.startswith("vitto_jupyter")}
    assert ours == {
        "vitto_jupyter",
        "vitto_jupyter.app",
        "vitto_jupyter.handlers",
        "vitto_jupyter.handlers.routes",
        "vitto_jupyter.settings",
    }
    heavy = {name for name in modules if name.split(".")[0] in HEAVY}
    assert heavy == set()
