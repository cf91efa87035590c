"""The probe, run on namespaces in this process: what it says and what it never touches."""

from __future__ import annotations

import builtins
import functools
import sys
import time
import tracemalloc
from collections import OrderedDict
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from vitto_jupyter.errors import KernelUnavailable, ToolError
from vitto_jupyter.workspace.base import Variable
from vitto_jupyter.workspace.kernels.kernel_probe import KEY, expression, variables_from


def probe(namespace: dict[str, Any], *names: str) -> dict[str, Variable]:
    """As IPython does it: evaluate in the user's namespace, send the repr."""
    source = expression(names)
    ARMED.append(True)
    try:
        value = eval(source, namespace)
    finally:
        ARMED.clear()
    found = {"status": "ok", "data": {"text/plain": repr(value)}}
    variables = variables_from({"status": "ok", "user_expressions": {KEY: found}})
    return {variable.name: variable for variable in variables}


class Trap(BaseException):
    """Raised by everything the probe must not call."""


ARMED: list[bool] = []  # only while the probe runs: making hostile values may call them


def _trap(*args: Any, **options: Any) -> Any:
    if ARMED:
        raise Trap


class Hostile:
    __module__ = "__main__"
    __repr__ = __str__ = __len__ = __iter__ = __getattr__ = __getattribute__ = _trap
    __eq__ = __hash__ = __bool__ = __getitem__ = __format__ = _trap  # type: ignore[assignment]
    __class__ = property(_trap)  # type: ignore[assignment]


class HostileMeta(type):
    __getattribute__ = __repr__ = __eq__ = __hash__ = __instancecheck__ = _trap  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "type_name", "summary"),
    [
        (3, "int", "3"),
        (True, "bool", "True"),
        (None, "NoneType", "None"),
        (1.5, "float", "1.5"),
        ("it's", "str", '"it\'s"'),
        (b"ab", "bytes", "b'ab'"),
        ([1, "a", [2]], "list", "3 items: [1, 'a', [2]]"),
        ((), "tuple", "0 items: ()"),
        ({1}, "set", "1 items: {1}"),
        (frozenset(), "frozenset", "0 items: frozenset({})"),
        ({"a": 1, 2: []}, "dict", "2 items: {'a': 1, 2: []}"),
        ({"a": {"b": {"c": {}}}}, "dict", "1 items: {'a': {'b': {'c': <dict>}}}"),
        ([range(9)] * 5, "list", "5 items: [" + "range(0, 9, 1), " * 4 + "range(0, 9, 1)]"),
        ([[1, 2, 3, 4]], "list", "1 items: [[1, 2, 3, …]]"),
        (OrderedDict(a=1), "collections.OrderedDict", "1 items: {'a': 1}"),
        (datetime(2026, 1, 2, 3), "datetime.datetime", "2026-01-02T03:00:00"),
        (Decimal("1.50"), "decimal.Decimal", "1.50"),
        (list(range(9)), "list", "9 items: [0, 1, 2, 3, 4, …]"),
        ("x" * 500, "str", f"500 characters: '{'x' * 120}'…"),
        pytest.param(10**5000, "int", "about 2**16610", id="huge"),
        (sys, "module", "sys"),
        (ToolError, "type", "class vitto_jupyter.errors.ToolError"),
    ],
)
def test_values_of_builtin_types_are_summed_up(value: Any, type_name: str, summary: str) -> None:
    found = probe({"x": value})["x"]
    assert (found.type, found.summary) == (type_name, summary)


def test_functions_show_their_parameters() -> None:
    def load(path: str, *, rows: int = 3) -> None: ...

    assert probe({"f": load})["f"].summary == "load(path, rows)"


def test_arrays_show_shape_type_size_and_a_sample() -> None:
    import numpy as np

    class Grid(np.ndarray):
        __array_finalize__ = __getitem__ = __len__ = __repr__ = _trap  # type: ignore[assignment]
        shape = dtype = tolist = view = property(_trap)  # type: ignore[assignment]

    objects = np.empty(2, dtype=object)
    objects[0] = Hostile()
    grid = np.zeros(3).view(Grid)
    masked = np.ma.masked_array([1, 2, 3, 4], [0, 1, 0, 0])
    found = probe(
        {
            "matrix": np.arange(6.0).reshape(2, 3),
            "scalar": np.array(3.5),
            "empty": np.zeros((0, 3)),
            "record": np.array([(1, "a")], dtype=[("x", "i4"), ("n", "U3")]),
            "masked": masked,
            "objects": objects,
            "dates": np.array(["2020-01-02", "NaT"], dtype="M8[D]"),
            "nan": np.array([1, np.nan, 3, 4]),
            "one": np.float32(1.5),
            "grid": grid,
        }
    )
    assert {name: variable.summary for name, variable in found.items()} == {
        "matrix": "2 × 3, float64, 48 B (0 to 5, mean 2.5); first row: [0.0, 1.0, 2.0]",
        "scalar": "scalar, float64, 8 B: 3.5",
        "empty": "0 × 3, float64, 0 B",
        "record": "1, record(x: int32, n: str3), 16 B: [(1, 'a')]",
        "masked": "4, int64, 32 B, masked: [1, --, 3, 4]",
        "objects": "2, object, 16 B: [<Hostile>, None]",
        "dates": "2, datetime64[D], 16 B: [2020-01-02, NaT]",
        "nan": "4, float64, 32 B (1 to 4, mean 2.66667, 1 NaN): [1.0, nan, 3.0, 4.0]",
        "one": "1.5",
        "grid": "3, float64, 24 B: [0.0, 0.0, 0.0]",
    }


def test_frames_show_columns_sizes_and_first_rows() -> None:
    import pandas as pd

    numbers = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5]})
    mixed = pd.DataFrame(
        {
            "s": pd.Series(list("vwxy"), dtype=pd.StringDtype("python", na_value=float("nan"))),
            "c": pd.Categorical(["u", "u", None, "t"]),
            "d": pd.date_range("2026-01-01", periods=4, unit="us"),
            "e": pd.date_range("2027-01-01", periods=4, unit="us"),
            "z": pd.date_range("2026-01-01", periods=4, tz="Europe/Berlin", unit="us"),
            "i": pd.array([1, None, 3, 4], dtype="Int64"),
            "t": pd.to_timedelta([1, 2, 3, 4], "s").as_unit("s"),
            "p": pd.arrays.SparseArray([0, 0, 1, 0]),
            "r": pd.period_range("2026-01", periods=4, freq="M"),
        }
    )
    levels = pd.MultiIndex.from_product([["x"], [1, 2]])
    found = probe(
        {
            "numbers": numbers,
            "mixed": mixed,
            "twice": pd.DataFrame([[1, "x"]], columns=["a", "a"], dtype=object),
            "rows": pd.DataFrame({"a": [1, 2]}, index=levels),
            "columns": pd.DataFrame([[1, 2]], columns=levels),
            "nothing": pd.DataFrame(),
            "wide": pd.DataFrame([range(50)]),
            "series": numbers["a"],
            "labels": mixed.set_index("d").index,
        }
    )
    shown = {name: variable.summary for name, variable in found.items()}
    assert found["numbers"].type == "pandas.DataFrame"
    assert shown["numbers"] == (
        "4 rows × 2 columns, 64 B: a: int64 (1 to 4, mean 2.5), b: float64 (0.5 to 3.5, mean 2); "
        "rows 0: (1, 0.5), 1: (2, 1.5), 2: (3, 2.5), …"
    )
    head, rows = shown["mixed"].split("; rows ")
    assert head.split(": ", 1)[1] == (
        "s: str, c: category, d: datetime64[us], e: datetime64[us], "
        "z: datetime64[us, Europe/Berlin], i: int64 with NA, t: timedelta64[s], "
        "p: Sparse[int64], r: pandas.arrays.PeriodArray"
    )
    first = "0: ('v', 'u', 2026-01-01, 2027-01-01, 2025-12-31T23:00:00Z, 1, 1 s, ?, …)"
    assert rows.startswith(first)
    assert "2: ('x', NaN, 2026-01-03, 2027-01-03, 2026-01-02T23:00:00Z, 3" in rows
    assert "1: ('w', 'u', 2026-01-02, 2027-01-02, 2026-01-01T23:00:00Z, <NA>" in rows
    assert shown["twice"].endswith(": a: object, a: object; rows 0: (1, 'x')")
    assert shown["rows"].endswith("a: int64; rows ('x', 1): (1), ('x', 2): (2)")
    assert "('x', 1): int64, ('x', 2): int64" in shown["columns"]
    assert shown["nothing"].startswith("0 rows × 0 columns")
    assert "19: int64, …; rows 0: (0, 1, 2, 3, 4, 5, 6, 7, …)" in shown["wide"]
    assert shown["series"] == "4 values, int64, 32 B, name 'a' (1 to 4, mean 2.5): [1, 2, 3, 4]"
    assert shown["labels"] == "4 labels: [2026-01-01, 2026-01-02, 2026-01-03, 2026-01-04]"


def test_arrow_and_polars_columns_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1], "s": ["x"]}).convert_dtypes(dtype_backend="pyarrow")
    shown = probe({"f": frame})["f"].summary
    assert shown.endswith("a: int64[pyarrow], s: string[pyarrow]; rows 0: (1, 'x')")


def test_subclasses_of_frames_and_containers_are_read_past_their_methods() -> None:
    import pandas as pd

    class Frame(pd.DataFrame):
        shape = columns = index = dtypes = axes = property(_trap)  # type: ignore[assignment]
        __len__ = __getattr__ = __repr__ = head = __getitem__ = _trap  # type: ignore[assignment]

    class Map(dict):  # type: ignore[type-arg]
        __len__ = __iter__ = items = __getitem__ = keys = __repr__ = _trap  # type: ignore[assignment]

    class Row(list):  # type: ignore[type-arg]
        __len__ = __iter__ = __getitem__ = __repr__ = _trap  # type: ignore[assignment]

    found = probe({"frame": Frame({"a": [1]}), "map": Map(a=1), "row": Row([1, Row([2])])})
    assert found["frame"].summary.startswith("1 rows × 1 columns, 8 B: a: int64; rows 0: (1)")
    assert found["map"].summary == "1 items: {'a': 1}"
    assert found["row"].summary == "2 items: [1, [2]]"


def test_objects_show_the_names_of_their_public_attributes() -> None:
    class Model:
        lazy = property(_trap)
        __getattr__ = _trap

        def __init__(self) -> None:
            self.coef_ = Hostile()
            self.count = 1
            self._hidden = 2

    class Slots:
        __slots__ = ("a",)

    class Liar:
        __dict__ = property(_trap)  # type: ignore[assignment]

    found = probe({"model": Model(), "slots": Slots(), "liar": Liar(), "gen": iter([1])})
    assert found["model"].summary == "attributes: coef_, count"
    assert [found[name].summary for name in ("slots", "liar", "gen")] == ["", "", ""]


def test_names_and_descriptors_that_users_lend_are_not_called() -> None:
    class Name(str):
        __add__ = __radd__ = __len__ = __format__ = __getitem__ = _trap  # type: ignore[assignment]

    class Call(functools.partial):  # type: ignore[type-arg]
        """Its C-level call would run `_trap`."""

        __str__ = to_pylist = slice = functools.partial.__dict__["__call__"]  # type: ignore[assignment]

    class Array:
        __module__ = "pandas.core.internals.managers"

        def __init__(self, value: Any) -> None:
            self.axes = [self, self]
            self.blocks = (self,)
            self._data = self._codes = self._levels = self._mgr = self
            self._pa_array = self.type = self._dtype = self._tz = value

    class Slotted:
        __slots__ = ("__len__", "nbytes", "to_pylist", "type")

    slotted = Slotted()
    for name in Slotted.__slots__:
        object.__setattr__(slotted, name, _trap)
    kind = type("Odd", (), {})
    kind.__qualname__ = Name("Odd")
    keyed = type("Keyed", (), {Name("__dict__"): _trap})
    namespace = {"odd": kind(), "call": Array(Call(_trap)), "slots": Array(slotted)}
    found = probe({**namespace, "keyed": keyed()})
    assert found["odd"].type == "?"
    assert set(found) == {"odd", "call", "slots", "keyed"}


def test_libraries_that_the_user_changed_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np
    import pandas as pd

    frame, array = pd.DataFrame({"a": [1, 2]}), np.arange(3)
    for owner, name in (
        (pd.DataFrame, "shape"), (pd.DataFrame, "columns"), (pd.Index, "__len__"),
        (pd.DataFrame, "__len__"), (pd.core.internals.BlockManager, "__len__"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, property(_trap))
    for name in ("ndarray", "dtype", "asarray"):
        monkeypatch.setattr(np, name, Hostile())
    monkeypatch.setattr(np._core._dtype, "_name_get", _trap)  # type: ignore[attr-defined]
    source, names = expression(["frame", "array"]), ("len", "type", "repr", "slice", "Exception")
    run, own = eval, {name: builtins.__dict__[name] for name in names}
    builtins.__dict__.update(dict.fromkeys(own, _trap))
    ARMED.append(True)
    try:  # nothing else may run while the built-ins are traps
        value = run(source, {"frame": frame, "array": array})
    finally:
        ARMED.clear()
        builtins.__dict__.update(own)
    monkeypatch.undo()
    assert "2 rows × 1 columns, 16 B: a: int64" in value and "3, int64, 24 B: [0, 1, 2]" in value


def test_a_frame_of_a_hundred_million_rows_is_not_copied() -> None:
    import numpy as np
    import pandas as pd

    # one value, seen a hundred million times: only a copy would take memory
    column = np.broadcast_to(np.int8(7), (100_000_000,))
    frame = pd.DataFrame({"a": column}, copy=False)
    huge = np.broadcast_to(np.float64(1), (10_000, 10_000, 1_000))
    tracemalloc.start()
    try:
        started = time.monotonic()
        found = probe({"frame": frame, "huge": huge, "series": frame["a"]})
        assert time.monotonic() - started < 2
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert found["frame"].summary.startswith(
        "100000000 rows × 1 columns, 100 MB: a: int8; rows 0: (7)"
    )
    assert found["huge"].summary.startswith(
        "10000 × 10000 × 1000, float64, 800 GB; first row: [1.0"
    )


def test_no_method_of_a_user_type_is_called() -> None:
    hostile = Hostile()
    kind = HostileMeta("Odd", (), {"__module__": "__main__"})
    namespace = {"one": hostile, "many": [hostile, 1], "key": {1: hostile}, "odd": kind()}
    found = probe({**namespace, "kind": kind})
    assert found["one"] == Variable("one", "Hostile", "")
    assert found["many"].summary == "2 items: [<Hostile>, 1]"
    assert found["key"].summary == "1 items: {1: <Hostile>}"
    assert found["odd"] == Variable("odd", "Odd", "")


def test_subclasses_of_builtin_types_count_as_user_types() -> None:
    class Text(str):
        __len__ = __getitem__ = __repr__ = _trap  # type: ignore[assignment]

    assert probe({"t": Text("x")})["t"].summary == ""


def test_names_the_user_rebound_are_not_used() -> None:
    rebound = dict.fromkeys(
        ["len", "type", "repr", "str", "list", "dict", "print", "json", "exec", "__import__"], _trap
    )
    assert probe({**rebound, "x": [1]}, "x")["x"].summary == "1 items: [1]"


def test_a_false_library_is_not_believed() -> None:
    class Module:
        __getattr__ = _trap

    class DataFrame:
        shape = property(_trap)

    before = sys.modules.get("polars")
    sys.modules["polars"] = Module()  # type: ignore[assignment]
    try:
        assert probe({"d": DataFrame()})["d"].summary == ""
    finally:
        del sys.modules["polars"]
        if before is not None:
            sys.modules["polars"] = before


def test_a_key_with_its_own_equality_is_not_compared() -> None:
    class Key(str):
        __hash__ = str.__hash__
        __eq__ = _trap  # type: ignore[assignment]

    namespace: dict[str, Any] = {Key("x"): 1, "y": 2}
    assert list(probe(namespace, "y")) == ["y"]


def test_it_leaves_no_name_behind() -> None:
    namespace: dict[str, Any] = {"x": 1}
    probe(namespace)
    assert set(namespace) == {"x", "__builtins__"}


def test_private_and_ipython_names_are_left_out_unless_asked_for() -> None:
    namespace = {"_": 1, "_i": "", "In": [], "Out": {}, "x": 1}
    assert list(probe(namespace)) == ["x"]
    assert list(probe(namespace, "_")) == ["_"]


def test_large_values_cost_nothing() -> None:
    loop: list[Any] = []
    loop.append(loop)
    namespace = {"s": "x" * 50_000_000, "r": dict.fromkeys(range(1_000_000)), "loop": loop}
    started = time.monotonic()
    found = probe(namespace)
    assert time.monotonic() - started < 1
    assert found["loop"].summary == "1 items: [[[<list>]]]"
    assert all(len(variable.summary) < 4_000 for variable in found.values())


def test_a_failed_probe_says_why() -> None:
    found = {"status": "error", "ename": "NameError", "evalue": "no"}
    with pytest.raises(ToolError, match="NameError: no"):
        variables_from({"status": "ok", "user_expressions": {KEY: found}})


def test_a_refused_request_is_an_error() -> None:
    with pytest.raises(KernelUnavailable):
        variables_from({"status": "aborted"})
