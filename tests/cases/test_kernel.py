"""Kernels: what runs asks, what inspects runs nothing, and secrets stay in the kernel."""

from __future__ import annotations

import ast
import base64
import os
import time
from pathlib import Path

import pytest
from cases import Cases, Row

import vitto_jupyter

from .conftest import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")
CASES = Cases(
    "kernel",
    covered={
        "S-249": "tests/integration/workspace/kernels/test_kernels.py::"
        "test_variables_without_a_trace",
        "S-253": "tests/integration/workspace/kernels/test_kernels.py::"
        "test_input_without_anybody_is_an_error_at_once",
    },
    later={
        "S-251": "asks, as every run does; that the card names the file comes with earned trust",
        "S-255": "asks; the page renders outputs of a run that the user allowed as trusted",
    },
)
PACKAGE = Path(vitto_jupyter.__file__).parent


async def run(desk: Desk, code: str):
    judged = await desk.calls().call("execute_code", code=code, approve=True)
    assert judged.outcome == "ASK" and judged.result.success, judged.text
    return judged


@CASES.check("S-244")
async def repr_is_not_called(row: Row, desk: Desk) -> None:
    await run(
        desk,
        f"class Evil:\n    def __repr__(self):\n        open({str(desk.canary)!r}, 'w')\n"
        f"    __str__ = __len__ = __repr__\n"
        f"    def __getattr__(self, name):\n        open({str(desk.canary)!r}, 'w')\n"
        "e = Evil()",
    )
    judged = await desk.calls().call("inspect_variables", names=["e"])
    assert judged.outcome == "ALLOW"
    assert judged.result.output.startswith("e: ") and "Evil" in judged.result.output


@CASES.check("S-246")
async def replaced_names(row: Row, desk: Desk) -> None:
    evil = f"lambda *a, **k: open({str(desk.canary)!r}, 'w')"
    await run(desk, f"import json\nplain = 7\nlen = type = repr = json = str = isinstance = {evil}")
    judged = await desk.calls().call("inspect_variables", names=["plain"])
    await run(desk, "del len, type, repr, json, str, isinstance")
    assert judged.outcome == "ALLOW"
    assert judged.result.output.startswith("plain: int = 7")


@CASES.check("S-247")
async def name_is_data(row: Row, desk: Desk) -> None:
    await run(desk, "x = 1")
    name = row.do["name"].replace("/tmp/vitto_canary", str(desk.canary))
    judged = await desk.calls().call("inspect_variables", names=[name])
    assert judged.outcome == "DENY" or "Not defined" in judged.text


@CASES.check("S-248")
async def large_values(row: Row, desk: Desk) -> None:
    await run(
        desk,
        "text = 'a' * 300_000_000\nloop = []\nloop.append(loop)\n"
        "import pandas\nframe = pandas.DataFrame({'n': range(2_000_000)})",
    )
    memory = "int(open('/proc/self/statm').read().split()[1]) * 4096"
    before = int((await run(desk, memory)).result.output.split("\n")[-1])
    started = time.monotonic()
    judged = await desk.calls().call("inspect_variables", names=["text", "loop", "frame"])
    took = time.monotonic() - started
    after = int((await run(desk, memory)).result.output.split("\n")[-1])
    await run(desk, "del text, frame, loop")
    assert judged.outcome == "ALLOW" and took < 5
    assert after - before < 50_000_000
    assert all(len(line) < 4_000 for line in judged.result.output.split("\n"))


@CASES.check("S-250")
async def shell_escapes(row: Row, desk: Desk) -> None:
    canary = str(desk.canary)
    sources = (
        f"!touch {canary}",
        f"%%bash\ntouch {canary}",
        f"%sx touch {canary}",
        f"%system touch {canary}",
        f"get_ipython().system('touch {canary}')",
        f"import os; os.system('touch {canary}')",
        f"import subprocess; subprocess.run(['touch', '{canary}'])",
    )
    desk.notebook("n.ipynb", *({"source": source} for source in sources))
    command = await desk.calls().call("run_command", command=f"touch {canary}")
    for number, source in enumerate(sources, 1):
        judged = await desk.calls().call("run_cells", cell_ids=[f"c{number}"])
        assert judged.outcome == "ASK"
        assert judged.question.reason == command.question.reason
        assert judged.question.preview.snippets[0].source == source


@CASES.check("S-254")
async def environment(row: Row, desk: Desk) -> None:
    code = f"{row.do['source']}\nimport base64\n" + (
        "for v in ('ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY'):\n"
        "    print(base64.b64encode(os.environ[v].encode()).decode())\n"
        "    print(os.environ[v], flush=True)"
    )
    judged = await run(desk, code)
    told = judged.text + repr(judged.result.metadata) + repr(judged.sink.events)
    assert "[ANTHROPIC_API_KEY is hidden]" in told and "'HOME'" in told
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        value = os.environ[name]
        assert value not in told
        assert base64.b64encode(value.encode()[:12]).decode() not in told


@CASES.check("S-256")
async def comms(row: Row, desk: Desk) -> None:
    sources = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "labextension" / "src").rglob("*.ts*")]
    assert len(sources) > 100
    found = [path for path in sources if "registerCommTarget" in path.read_text()]
    found += [path for path in PACKAGE.rglob("*.py") if "register_target" in path.read_text()]
    assert found == []


@CASES.check("S-257")
async def pickles(row: Row, desk: Desk) -> None:
    names = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not names & {alias.name.split(".")[0] for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in names, path


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_kernel(id: str, desk: Desk) -> None:
    if not (desk.root / "n.ipynb").exists():
        desk.notebook("n.ipynb", {"source": "1"})
    await CASES.checks[id](CASES.rows[id], desk)
    assert not desk.canary.exists()


async def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
