"""Variables of real kernels: nothing of the user runs, and nothing of the kernel changes."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from real_workspace import Changes, RealKernels, real_kernels

from vitto_jupyter.errors import ToolError
from vitto_jupyter.workspace.base import Execution

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATE = """
import json, random, sys, warnings
import numpy
print(json.dumps([
    repr([_, __, ___, len(In), sorted(Out), get_ipython().execution_count]),
    sorted(globals()), sorted(vars(__builtins__)), sorted(sys.modules), repr(warnings.filters),
    repr(getattr(warnings, "_onceregistry", None)), repr(random.getstate()),
    repr(numpy.random.get_state()), repr(sys.displayhook), sys.getrecursionlimit(),
    repr(vars(model)), repr(sorted(vars(frame))), repr(sorted(frame.columns._cache)),
    list(get_ipython().history_manager.get_tail(50)),
]))
"""
SETUP = """
import numpy, pandas
class Model:
    def __init__(self):
        self.weights = [1, 2]
model = Model()
when = pandas.date_range("2026-01-01", periods=2, tz="UTC")
frame = pandas.DataFrame({"a": [1, 2], "when": when})
array = numpy.arange(12.0).reshape(3, 4)
41
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RealKernels]:
    async with real_kernels(tmp_path_factory.mktemp("root")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def python(kernels: RealKernels) -> str:
    return (await kernels.port.for_notebook("p.ipynb", kernel_name="python3")).kernel_id


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bash(kernels: RealKernels) -> str:
    pytest.importorskip("bash_kernel")
    return (await kernels.port.for_notebook("b.ipynb", kernel_name="bash")).kernel_id


async def run(
    kernels: RealKernels, kernel_id: str, code: str, *, cell_id: str | None = "c1"
) -> Execution:
    return await kernels.port.execute(
        kernel_id, code, cell_id=cell_id, timeout_s=60, on_change=Changes()
    )


async def state(kernels: RealKernels, kernel_id: str) -> Any:
    found = await run(kernels, kernel_id, STATE, cell_id=None)
    return json.loads(found.outputs[0]["text"])


async def test_a_kernel_is_the_same_afterwards(kernels: RealKernels, python: str) -> None:
    pytest.importorskip("pandas")
    await run(kernels, python, SETUP)
    before = await state(kernels, python)
    found = {v.name: v for v in await kernels.port.variables(python, [])}
    asked = {v.name: v for v in await kernels.port.variables(python, ["frame", "_", "nope"])}
    assert await state(kernels, python) == before
    assert found["model"].summary == "attributes: weights"
    assert found["frame"].summary.startswith(
        "2 rows × 2 columns, 32 B: a: int64, when: datetime64["
    )
    assert found["array"].summary.startswith("3 × 4, float64, 96 B (0 to 11, mean 5.5); first row:")
    assert set(asked) == {"frame", "_"} and asked["_"].summary == "41"
    again = await run(kernels, python, "print(_)")
    assert again.execution_count == 2 and again.outputs[0]["text"] == "41\n"


async def test_hostile_values_and_libraries_run_nothing(
    kernels: RealKernels, python: str, tmp_path: Path
) -> None:
    pytest.importorskip("pandas")
    canary = tmp_path / "canary"
    await run(
        kernels,
        python,
        f"""
import builtins, pandas
def touch(*args, **options):
    open({str(canary)!r}, "w").close()
    raise AttributeError
lazy = property(touch)
class Meta(type):
    __getattribute__ = __repr__ = __instancecheck__ = __eq__ = __hash__ = touch
class E(metaclass=Meta):
    __repr__ = __getattr__ = __len__ = __str__ = _repr_html_ = _ipython_display_ = touch
    __class__ = __dict__ = shape = lazy
class Frame(pandas.DataFrame):
    shape = columns = index = dtypes = lazy
    __repr__ = __len__ = _repr_html_ = __getattr__ = touch
one, many, sub = E(), [E(), {{"k": E()}}], Frame({{"a": [1, 2]}})
objects = pandas.DataFrame({{"o": pandas.Series([1, "x"], dtype=object)}})
objects._mgr.blocks[0].values[0, 0] = E()
pandas.DataFrame.shape = pandas.DataFrame.columns = lazy
""",
    )
    canary.unlink(missing_ok=True)
    found = {v.name: v for v in await kernels.port.variables(python, [])}
    assert not canary.exists()
    assert found["one"].type == "E" and found["one"].summary == ""
    assert found["many"].summary == "2 items: [<E>, {'k': <E>}]"
    assert found["sub"].summary == "2 rows × 1 columns, 16 B: a: int64; rows 0: (1), 1: (2)"
    assert found["objects"].summary.endswith("o: object; rows 0: (<E>), 1: ('x')")
    await kernels.port.restart(python)


async def test_hundred_million_rows_are_described_at_once(
    kernels: RealKernels, python: str
) -> None:
    pytest.importorskip("pandas")
    memory = "print(int(open('/proc/self/statm').read().split()[1]) * 4096)"
    await run(
        kernels,
        python,
        "import numpy, pandas\n"
        "big = pandas.DataFrame({'n': numpy.zeros(100_000_000, dtype='i1')}, copy=False)",
    )
    before = int((await run(kernels, python, memory, cell_id=None)).outputs[0]["text"])
    began = time.monotonic()
    (found,) = await kernels.port.variables(python, ["big"])
    assert time.monotonic() - began < 3
    after = int((await run(kernels, python, memory, cell_id=None)).outputs[0]["text"])
    assert after - before < 30_000_000
    assert found.summary.startswith("100000000 rows × 1 columns, 100 MB: n: int8; rows 0: (0)")


async def test_another_kernel_says_what_its_protocol_offers(
    kernels: RealKernels, python: str, bash: str
) -> None:
    assert (await run(kernels, bash, "x=3")).state == "ok"
    with pytest.raises(ToolError, match="Only the variables of Python kernels"):
        await kernels.port.variables(bash, [])
    assert isinstance(await kernels.port.inspect(bash, "x"), str)
    after = await run(kernels, bash, "echo $x")
    assert after.outputs[0]["text"].strip() == "3"
    with pytest.raises(ToolError, match="runs user code"):
        await kernels.port.inspect(python, "x")


async def test_the_probe_is_valid_python_without_imports_or_classes() -> None:
    from vitto_jupyter.workspace.kernels.kernel_probe_text import PROBE

    banned = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.With, ast.AsyncFunctionDef)
    assert not [node for node in ast.walk(ast.parse(PROBE)) if isinstance(node, banned)]
