"""The layers hold, and every rule about them is seen to fail when it is broken."""

from __future__ import annotations

import json
import re

import pytest

LINT = """
from click.testing import CliRunner
from importlinter.cli import lint_imports_command
done = CliRunner().invoke(lint_imports_command, ["--no-cache"])
print(done.output)
raise SystemExit(done.exit_code)
"""

JUPYTER_USERS = """
import grimp, json
graph = grimp.build_graph("vitto_jupyter", include_external_packages=True, cache_dir=None)
targets = graph.modules & set(json.loads(%r))
users = {user for target in targets for user in graph.find_modules_that_directly_import(target)}
print(json.dumps(sorted(users)))
"""


def kept(package) -> dict[str, bool]:
    """Each contract's name, and whether it is kept."""
    output = package.python(LINT).stdout
    lines = re.findall(r"^(.+) (KEPT|BROKEN)\b", output, re.MULTILINE)
    assert lines, output
    return {name: state == "KEPT" for name, state in lines}


def test_every_contract_is_kept(package) -> None:
    contracts = kept(package)
    assert len(contracts) == 5
    assert all(contracts.values()), package.python(LINT).stdout


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        (
            "vitto_jupyter/policy/facts.py",
            "from ..agent import loop",
            "Layers point down",
        ),
        (
            "vitto_jupyter/providers/base.py",
            "from ..workspace import base",
            "Layers point down",
        ),
        (
            "vitto_jupyter/workspace/notebooks/json_spans.py",
            "from ..kernels import execution",
            "Layers of the workspace point down",
        ),
        (
            "vitto_jupyter/agent/loop.py",
            "def later():\n    import tornado.web",
            "Only the Jupyter adapters, handlers and the app know Jupyter",
        ),
        (
            "vitto_jupyter/tools/base.py",
            "import nbformat",
            "Only the Jupyter adapters, handlers and the app know Jupyter",
        ),
        (
            "vitto_jupyter/services/__init__.py",
            "def later():\n    import anthropic",
            "One module imports the Anthropic SDK",
        ),
        (
            "vitto_jupyter/services/__init__.py",
            "from ..testing import doubles",
            "The product does not use the test doubles",
        ),
    ],
    ids=[
        "upwards",
        "sideways",
        "in the workspace",
        "tornado in the loop",
        "nbformat in a tool",
        "sdk",
        "doubles",
    ],
)
def test_bad_import_breaks_its_contract(package, path: str, line: str, contract: str) -> None:
    package.add_line(path, line)
    broken = {name for name, is_kept in kept(package).items() if not is_kept}
    assert broken == {contract}


# -- who knows Jupyter: by name, so that a new module is held to it too ---------------------------

JUPYTER = [
    "IPython",
    "ipykernel",
    "jupyter_client",
    "jupyter_core",
    "jupyter_events",
    "jupyter_server",
    "jupyterlab",
    "nbclient",
    "nbformat",
    "terminado",
    "tornado",
    "traitlets",
    "zmq",
]
MAY_KNOW_JUPYTER = re.compile(
    r"vitto_jupyter\.(app|cli|composition|doctor|handlers(\..+)?|client(\..+)?|workspace\.(\w+\.)?jupyter_\w+)"
)


def jupyter_users(package) -> set[str]:
    done = package.python(JUPYTER_USERS % json.dumps(JUPYTER))
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_only_adapters_handlers_and_app_import_jupyter(package) -> None:
    users = jupyter_users(package)
    assert "vitto_jupyter.workspace.documents.jupyter_documents" in users
    assert [name for name in users if not MAY_KNOW_JUPYTER.fullmatch(name)] == []


def test_new_module_that_imports_jupyter_is_found(package) -> None:
    package.add_line("vitto_jupyter/workspace/fresh.py", "import tornado.ioloop")
    users = jupyter_users(package)
    assert {name for name in users if not MAY_KNOW_JUPYTER.fullmatch(name)} == {
        "vitto_jupyter.workspace.fresh"
    }
