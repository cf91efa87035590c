"""Kernels in memory: sources answered from a table, or by a given function."""

from __future__ import annotations

import ast
import contextlib
import io
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...errors import KernelUnavailable
from ..base import (
    AddOutput,
    Ask,
    Execution,
    KernelInfo,
    KernelSpec,
    Output,
    OutputChange,
    Overflow,
    Question,
    Variable,
)

Evaluate = Callable[[str], Sequence[Output]]
Answer = str | Sequence[Output] | Execution | Question | Callable[[], Awaitable[Execution]]

_RAISED = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
    OSError, RuntimeError, SyntaxError, TypeError, ValueError,
)  # fmt: skip
PYTHON = KernelSpec("python3", "Python 3", "python")


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def error(ename: str, evalue: str, *frames: str) -> Output:
    lines = [*frames, f"{ename}: {evalue}"]
    return {"output_type": "error", "ename": ename, "evalue": evalue, "traceback": lines}


def result(text: str, **more: str) -> Output:
    """An execute_result; further mime types by name, `text_html="<b>"` for text/html."""
    data = {"text/plain": text} | {mime.replace("_", "/", 1): body for mime, body in more.items()}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


@dataclass(slots=True)
class MemoryKernels:
    """A kernel for each notebook that asks.

    `answers` maps a source to what it does: stdout text, outputs, a whole Execution (for
    "died", "running", …), a question as of `input()`, whose answer is echoed, or a coroutine
    function, which may wait. Any other source goes to `evaluate`, or prints nothing. `ran` lists
    what was executed as (path, source, cell_id), `acts` lists restarts and interrupts.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    evaluate: Evaluate | None = None
    known_specs: tuple[KernelSpec, ...] = (PYTHON,)
    known_variables: tuple[Variable, ...] = ()
    ran: list[tuple[str, str, str | None]] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)
    acts: list[tuple[str, str]] = field(default_factory=list)
    _infos: dict[str, KernelInfo] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    async def specs(self) -> tuple[KernelSpec, ...]:
        return self.known_specs

    async def running(self) -> tuple[KernelInfo, ...]:
        return tuple(self._infos.values())

    async def for_notebook(self, path: str, *, kernel_name: str) -> KernelInfo:
        found = await self.find(path)
        if found is not None:
            return found
        if kernel_name not in {spec.name for spec in self.known_specs}:
            raise KernelUnavailable(f'There is no kernel "{kernel_name}".')
        info = KernelInfo(f"kernel-{len(self._infos) + 1}", kernel_name, "idle", path)
        self._infos[info.kernel_id] = info
        return info

    async def find(self, path: str) -> KernelInfo | None:
        return next((info for info in self._infos.values() if info.path == path), None)

    async def execute(
        self,
        kernel_id: str,
        code: str,
        *,
        cell_id: str | None,
        timeout_s: float,
        on_change: OutputChange,
        on_input: Ask | None = None,
        overflow: Overflow | None = None,
    ) -> Execution:
        info = self._known(kernel_id)
        self.ran.append((info.path, code, cell_id))
        self.timeouts_s.append(timeout_s)
        self._set_state(kernel_id, "busy")
        execution = await self._answer(code, on_input)
        if cell_id is not None and execution.state in ("ok", "error", "interrupted"):
            self._counts[kernel_id] = self._counts.get(kernel_id, 0) + 1
            execution = replace(execution, execution_count=self._counts[kernel_id])
        for output in execution.outputs:
            await on_change([AddOutput(cell_id or "", output)])
        if execution.state in ("died", "ended"):
            del self._infos[kernel_id]
        elif execution.state != "running":
            self._set_state(kernel_id, "idle")
        return execution

    async def interrupt(self, kernel_id: str) -> None:
        self._known(kernel_id)
        self.acts.append(("interrupt", kernel_id))
        self._set_state(kernel_id, "idle")

    async def restart(self, kernel_id: str) -> None:
        self._known(kernel_id)
        self.acts.append(("restart", kernel_id))
        self._counts.pop(kernel_id, None)
        self._set_state(kernel_id, "idle")

    async def variables(self, kernel_id: str, names: Sequence[str]) -> tuple[Variable, ...]:
        self._known(kernel_id)
        return tuple(var for var in self.known_variables if not names or var.name in names)

    async def inspect(self, kernel_id: str, name: str) -> str:
        self._known(kernel_id)
        return next((var.summary for var in self.known_variables if var.name == name), "")

    async def _answer(self, code: str, on_input: Ask | None) -> Execution:
        answer = self.answers.get(code)
        if isinstance(answer, Question):
            answer = await _asked(answer, on_input)
        if callable(answer):
            return await answer()
        if isinstance(answer, Execution):
            return answer
        if answer is None:
            answer = self.evaluate(code) if self.evaluate else ()
        outputs = (stream(answer),) if isinstance(answer, str) else tuple(answer)
        failed = any(output.get("output_type") == "error" for output in outputs)
        return Execution("error" if failed else "ok", None, outputs, 0.01)

    def _known(self, kernel_id: str) -> KernelInfo:
        if kernel_id not in self._infos:
            raise KernelUnavailable(f"There is no kernel {kernel_id}.")
        return self._infos[kernel_id]

    def _set_state(self, kernel_id: str, state: str) -> None:
        if kernel_id in self._infos:
            self._infos[kernel_id] = replace(self._infos[kernel_id], state=state)


async def _asked(question: Question, on_input: Ask | None) -> Answer:
    if on_input is None:
        return [error("StdinNotImplementedError", "input was not allowed")]
    text = await on_input(question)
    if text is None:
        return Execution("interrupted", None, (error("KeyboardInterrupt", ""),), 0.01)
    shown = "········" if question.secret else text
    return [stream(f"{question.prompt}{shown}\n", "stdin")]


def python_evaluator() -> Evaluate:
    """Runs code in this very process with one namespace: for trusted test sources only."""
    namespace: dict[str, object] = {}

    def evaluate(code: str) -> Sequence[Output]:
        printed = io.StringIO()
        outputs: list[Output] = []
        with contextlib.redirect_stdout(printed):
            try:
                value = _run(code, namespace)
                if value is not None:
                    outputs.append(result(repr(value)))
            except _RAISED as err:
                frames = traceback.format_tb(err.__traceback__)[2:]
                outputs.append(error(type(err).__name__, str(err), *frames))
        text = printed.getvalue()
        return [stream(text), *outputs] if text else outputs

    return evaluate


def _run(code: str, namespace: dict[str, object]) -> object:
    """Execute; the value of a last expression, else None."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
