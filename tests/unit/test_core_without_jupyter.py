"""The core runs where no Jupyter is: whole turns in a plain script, nothing heavy imported.

Each script runs in a process of its own, since the test run itself has Jupyter loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = (
    "IPython",
    "anthropic",
    "httpx2",
    "ipykernel",
    "jupyter",
    "mcp",
    "nbclient",
    "nbformat",
    "notebook",
    "terminado",
    "tornado",
    "traitlets",
    "zmq",
)

LOADED = """
import json, sys
heavy = tuple(json.loads(%r))
print(json.dumps(sorted({m.split(".")[0] for m in sys.modules if m.startswith(heavy)})))
"""

EVERY_CORE_MODULE = """
import importlib, pkgutil, re
import vitto_jupyter
outside = re.compile(
    r"vitto_jupyter\\.(app|cli|composition|handlers|client|static)(\\..*)?|.*\\.jupyter_\\w+|.*\\.__main__"
)
found = pkgutil.walk_packages(vitto_jupyter.__path__, "vitto_jupyter.")
names = [module.name for module in found if not outside.fullmatch(module.name)]
assert len(names) > 40, names
for name in names:
    importlib.import_module(name)
"""

A_WHOLE_TURN = """
import asyncio
from vitto_jupyter.providers.scripted import ScriptedProvider, call, say
from vitto_jupyter.testing.doubles import AutoApprover
from vitto_jupyter.testing.requests import check_messages, check_requests
from vitto_jupyter.testing.turns import Agent
from vitto_jupyter.tools.toolset import builtin_toolset
from vitto_jupyter.workspace.memory import memory_workspace, python_evaluator

workspace = memory_workspace(
    files={"load.py": "x = 1\\n"},
    notebooks={"a.ipynb": ["total = 1 +", "print(total)"]},
    evaluate=python_evaluator(),
)
provider = ScriptedProvider(
    [call("read_notebook", {"path": "a.ipynb"}), call("read_file", {"path": "load.py"})],
    [call("edit_cell", {"path": "a.ipynb", "cell_id": "c1", "source": "total = 1 + 1"})],
    [call("run_cells", {"path": "a.ipynb", "cell_ids": ["c1", "c2"]})],
    say("Cell 2 prints 2."),
)
agent = Agent(provider, toolset=builtin_toolset(), workspace=workspace)

async def main():
    outcome = await agent.run("Fix cell 1.")
    assert outcome.reason == "done", outcome
    texts = [r["content"][0]["text"] for r in agent.results()]
    assert not any(r.get("is_error") for r in agent.results()), texts
    assert "total = 1 +" in texts[0] and "x = 1" in texts[1], texts
    assert "2" in texts[3], texts
    notebook = await workspace.documents.read_notebook("a.ipynb")
    assert notebook.cells[0].source == "total = 1 + 1"
    assert notebook.cells[1].outputs[0]["text"].strip() == "2", notebook.cells[1].outputs
    assert [q.tool_call_id for q in agent.approver.questions] == ["call_3", "call_4"]
    provider.assert_finished()
    check_requests(provider.requests)
    check_messages(agent.conversation.messages)

asyncio.run(main())
"""


def loaded_after(script: str) -> list[str]:
    """The heavy packages that a plain interpreter has loaded after `script`."""
    done = subprocess.run(
        [sys.executable, "-c", script + LOADED % json.dumps(HEAVY)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_check_sees_what_is_loaded() -> None:
    assert "tornado" in loaded_after("import tornado.ioloop")


def test_importing_the_package_loads_nothing_heavy_and_no_pydantic() -> None:
    script = "import vitto_jupyter, sys\nassert 'pydantic' not in sys.modules\n"
    assert loaded_after(script) == []


def test_no_core_module_loads_jupyter_or_the_sdk() -> None:
    assert loaded_after(EVERY_CORE_MODULE) == []


def test_whole_turn_runs_in_a_plain_script() -> None:
    assert loaded_after(A_WHOLE_TURN) == []
