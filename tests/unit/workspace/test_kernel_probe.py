"""The probe, run on namespaces in this process: what it says and what it never touches."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from vitto_jupyter.errors import KernelUnavailable, ToolError
from vitto_jupyter.workspace.base import Variable
from vitto_jupyter.workspace.kernel_probe import KEY, expression, variables_from


def probe(namespace: dict[str, Any], *names: str) -> dict[str, Variable]:
    """As IPython does it: evaluate in the user's namespace, send the repr."""
    value = eval(expression(names), namespace)
    found = {"status": "ok", "data": {"text/plain": repr(value)}}
    variables = variables_from({"status": "ok", "user_expressions": {KEY: found}})
    return {variable.name: variable for variable in variables}


class Trap(BaseException):
    """Raised by everything the probe must not call."""


def _trap(*args: Any, **options: Any) -> Any:
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
        ([1, "a", [2]], "list", "3 items: [1, 'a', <list>]"),
        ((), "tuple", "0 items: ()"),
        ({1}, "set", "1 items: {1}"),
        (frozenset(), "frozenset", "0 items: frozenset({})"),
        ({"a": 1, 2: []}, "dict", "2 items: {'a': 1, 2: <list>}"),
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


def test_arrays_and_frames_show_shape_and_types() -> None:
    import numpy as np
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    found = probe({"m": np.zeros((2, 3)), "df": frame, "s": frame["a"], "e": pd.DataFrame()})
    assert found["m"].summary == "2 × 3, float64"
    assert found["df"].summary == "2 rows × 2 columns: a: int64, b: float64"
    assert found["s"].summary == "2 values, int64, name 'a'"
    assert found["e"].summary == "0 rows × 0 columns: "
    assert found["df"].type == "pandas.DataFrame"


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
    assert found["loop"].summary == "1 items: [<list>]"
    assert all(len(variable.summary) < 4_000 for variable in found.values())


def test_a_failed_probe_says_why() -> None:
    found = {"status": "error", "ename": "NameError", "evalue": "no"}
    with pytest.raises(ToolError, match="NameError: no"):
        variables_from({"status": "ok", "user_expressions": {KEY: found}})


def test_a_refused_request_is_an_error() -> None:
    with pytest.raises(KernelUnavailable):
        variables_from({"status": "aborted"})
