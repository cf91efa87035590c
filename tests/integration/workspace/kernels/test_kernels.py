"""JupyterKernels over jupyter_server's managers and real kernels."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from real_workspace import Changes, RealKernels, real_kernels, until

from vitto_jupyter.errors import KernelUnavailable, ToolError
from vitto_jupyter.workspace.base import (
    AddOutput,
    ClearOutputs,
    Execution,
    Question,
    SetOutput,
)
from vitto_jupyter.workspace.kernels.jupyter_kernel_channels import KernelChannels
from vitto_jupyter.workspace.notebooks.output_fold import fold_output

SLEEP = "import time\nprint('started', flush=True)\ntime.sleep(60)"


async def started(kernels: RealKernels, path: str = "a.ipynb") -> str:
    return (await kernels.port.for_notebook(path, kernel_name="python3")).kernel_id


async def execute(
    kernels: RealKernels,
    kernel_id: str,
    code: str,
    *,
    cell_id: str | None = "c1",
    timeout_s: float = 60,
    on_change: Any = None,
    **options: Any,
) -> Execution:
    return await kernels.port.execute(
        kernel_id,
        code,
        cell_id=cell_id,
        timeout_s=timeout_s,
        on_change=on_change or Changes(),
        **options,
    )


class Running:
    """An execution in the background; `started` once it has printed something."""

    def __init__(self, kernels: RealKernels, kernel_id: str, code: str = SLEEP) -> None:
        self.printed = asyncio.Event()
        self.task = asyncio.create_task(
            execute(kernels, kernel_id, code, on_change=self._on_change)
        )

    async def _on_change(self, edits: Any) -> None:
        self.printed.set()

    async def started(self) -> Running:
        async with asyncio.timeout(30):
            await self.printed.wait()
        return self

    async def end(self, within_s: float) -> tuple[Execution, float]:
        began = time.monotonic()
        async with asyncio.timeout(within_s):
            execution = await self.task
        return execution, time.monotonic() - began


class Gate:
    """A file that code in the kernel waits for."""

    def __init__(self, kernels: RealKernels) -> None:
        self._path = Path(kernels.manager.root_dir, "gate")
        self.wait = (
            f"import os, time\nwhile not os.path.exists({str(self._path)!r}): time.sleep(.01)\n"
        )

    def open(self) -> None:
        self._path.touch()


def text(execution: Execution) -> str:
    return "".join(str(output.get("text", "")) for output in execution.outputs)


# -- which kernels -------------------------------------------------------------------------------


async def test_the_kernel_of_a_notebook_is_the_one_jupyterlab_would_find(
    kernels: RealKernels,
) -> None:
    info = await kernels.port.for_notebook("sub/a.ipynb", kernel_name="python3")
    (session,) = await kernels.sessions.list_sessions()
    assert (session["type"], session["path"], session["name"]) == (
        "notebook",
        "sub/a.ipynb",
        "a.ipynb",
    )
    assert session["kernel"]["id"] == info.kernel_id
    assert (info.name, info.path) == ("python3", "sub/a.ipynb")


async def test_a_kernel_that_the_user_started_is_used(kernels: RealKernels) -> None:
    session = await kernels.sessions.create_session(
        path="a.ipynb", name="a.ipynb", type="notebook", kernel_name="python3"
    )
    assert await started(kernels) == session["kernel"]["id"]


async def test_two_calls_at_once_start_one_kernel(kernels: RealKernels) -> None:
    ids = await asyncio.gather(started(kernels), started(kernels))
    assert ids[0] == ids[1]
    assert len(await kernels.port.running()) == 1


async def test_running_kernels_name_their_notebook(kernels: RealKernels) -> None:
    loose = await kernels.manager.start_kernel()
    kernel_id = await started(kernels)
    found = {info.kernel_id: info.path for info in await kernels.port.running()}
    assert found == {loose: "", kernel_id: "a.ipynb"}


async def test_a_notebook_without_kernel_has_none(kernels: RealKernels) -> None:
    assert await kernels.port.find("none.ipynb") is None


async def test_a_kernel_knows_when_its_process_began(kernels: RealKernels) -> None:
    before = datetime.now(UTC)
    kernel_id = await started(kernels)
    (first,) = await kernels.port.running()
    await kernels.port.restart(kernel_id)
    (second,) = await kernels.port.running()
    after = datetime.now(UTC)
    times = [datetime.fromisoformat(info.started_at) for info in (first, second)]
    slack = timedelta(seconds=2)  # /proc counts in hundredths from a boot time in whole seconds
    assert before - slack < times[0] < times[1] < after + slack


async def test_specs_name_the_language(kernels: RealKernels) -> None:
    specs = {spec.name: spec.language for spec in await kernels.port.specs()}
    assert specs["python3"] == "python"


async def test_an_unknown_kernel_name_is_refused_with_the_known_ones(kernels: RealKernels) -> None:
    with pytest.raises(KernelUnavailable) as caught:
        await kernels.port.for_notebook("a.ipynb", kernel_name="cobol")
    assert "python3" in caught.value.hint


async def test_an_unknown_kernel_id_is_refused(kernels: RealKernels) -> None:
    with pytest.raises(KernelUnavailable):
        await execute(kernels, "no-such-kernel", "1")


# -- running code --------------------------------------------------------------------------------


async def test_a_manager_with_blocking_clients_works_too(home: Path, root: Path) -> None:
    async with real_kernels(root, blocking=True) as kernels:
        execution = await execute(kernels, await started(kernels), "print('hi')\n6 * 7")
        assert (execution.state, text(execution)) == ("ok", "hi\n")
        assert (await kernels.port.variables(await started(kernels), [])) == ()


async def test_outputs_arrive_while_the_cell_runs(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    seen: list[str] = []

    gate = Gate(kernels)

    async def on_change(edits: Any) -> None:
        seen.extend(edit.output["text"] for edit in edits)
        gate.open()  # the cell goes on only when its first line has arrived here

    code = f"print('one', flush=True)\n{gate.wait}print('two')"
    execution = await execute(kernels, kernel_id, code, on_change=on_change)
    assert seen == ["one\n", "two\n"]
    assert text(execution) == "one\ntwo\n"


async def test_all_kinds_of_output_and_the_timing(kernels: RealKernels) -> None:
    code = (
        "import sys\nfrom IPython.display import display, Markdown\n"
        "print('out'); print('err', file=sys.stderr)\ndisplay(Markdown('*m*'))\n6 * 7"
    )
    execution = await execute(kernels, await started(kernels), code)
    kinds = [output["output_type"] for output in execution.outputs]
    assert sorted(kinds) == ["display_data", "execute_result", "stream", "stream"]
    assert execution.outputs[-1]["data"] == {"text/plain": "42"}
    assert execution.execution_count == 1
    assert set(execution.timing) == {
        "iopub.status.busy",
        "iopub.execute_input",
        "iopub.status.idle",
        "shell.execute_reply.started",
        "shell.execute_reply",
    }


async def test_an_error_ends_the_run_with_its_traceback(kernels: RealKernels) -> None:
    execution = await execute(kernels, await started(kernels), "1 / 0")
    assert execution.state == "error"
    assert execution.outputs[-1]["ename"] == "ZeroDivisionError"
    assert any("1 / 0" in line or "1" in line for line in execution.outputs[-1]["traceback"])  # type: ignore[union-attr]


async def test_a_progress_bar_is_one_line(kernels: RealKernels) -> None:
    code = "for i in range(5):\n    print(f'{i}%', end='\\r')\nprint('done')"
    assert text(await execute(kernels, await started(kernels), code)) == "done\n"


# -- input() -------------------------------------------------------------------------------------


class User:
    """Answers questions in turn; waits for ever when no answer is left."""

    def __init__(self, *answers: str | None) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []
        self.void = False

    async def __call__(self, question: Question) -> str | None:
        self.asked.append(question)
        if self.answers:
            return self.answers.pop(0)
        try:
            return await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.void = True
            raise


async def test_input_without_anybody_is_an_error_at_once(kernels: RealKernels) -> None:
    execution = await execute(kernels, await started(kernels), "input('password: ')", timeout_s=30)
    assert execution.outputs[-1]["ename"] == "StdinNotImplementedError"


@pytest.mark.parametrize("cell_id", ["c1", None])
async def test_questions_are_answered_one_after_the_other_and_shown_as_jupyter_does(
    kernels: RealKernels, cell_id: str | None
) -> None:
    user, changes = User("Bob", "sesame", "7"), Changes()
    code = (
        "from getpass import getpass\n"
        "name = input('name? '); pw = getpass('pw? '); n = input()\n"
        "print(name, len(pw), n)"
    )
    execution = await execute(
        kernels, await started(kernels), code, cell_id=cell_id, on_input=user, on_change=changes
    )
    assert user.asked == [Question("name? "), Question("pw? ", secret=True), Question("")]
    assert text(execution) == "name? Bob\npw? ········\n7\nBob 6 7\n"
    assert [output["name"] for output in execution.outputs] == ["stdin", "stdout"]
    assert "sesame" not in str(changes.edits) + str(execution)


async def test_a_question_that_nobody_will_answer_interrupts(kernels: RealKernels) -> None:
    execution = await execute(kernels, await started(kernels), "input()", on_input=User(None))
    assert execution.state == "interrupted"


async def test_time_does_not_run_while_the_user_is_asked(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "")

    async def slow(question: Question) -> str:
        await asyncio.sleep(1.2)  # longer than the deadline: that is what is tested
        return "late"

    execution = await execute(kernels, kernel_id, "print(input())", on_input=slow, timeout_s=1)
    assert (execution.state, text(execution)) == ("ok", "late\nlate\n")


@pytest.mark.parametrize("end", ["interrupt", "kill", "restart"])
async def test_a_question_is_void_when_its_cell_ends(kernels: RealKernels, end: str) -> None:
    kernel_id = await started(kernels)
    user = User()
    task = asyncio.create_task(execute(kernels, kernel_id, "input('?')", on_input=user))
    await until(lambda: bool(user.asked))
    if end == "interrupt":
        await kernels.manager.interrupt_kernel(kernel_id)
    elif end == "restart":
        await kernels.port.restart(kernel_id)
    else:
        os.kill(kernels.manager.get_kernel(kernel_id).provisioner.pid, signal.SIGKILL)
    execution = await asyncio.wait_for(task, 15)
    states = {"interrupt": "interrupted", "kill": "died", "restart": "restarted"}
    assert execution.state == states[end]
    await until(lambda: user.void)
    after = await execute(kernels, kernel_id, "print(input())", on_input=User("again"))
    assert text(after) == "again\nagain\n"


# -- displays ------------------------------------------------------------------------------------


async def test_help_text_is_an_output(kernels: RealKernels) -> None:
    execution = await execute(kernels, await started(kernels), "len?")
    assert "Return the number of items" in str(execution.outputs[0]["data"])


async def test_a_later_cell_updates_an_earlier_display(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    await execute(
        kernels,
        kernel_id,
        "print('x')\nh = display('old', display_id='d')",
        cell_id="c1",
    )
    changes = Changes()
    await execute(kernels, kernel_id, "h.update('new')", cell_id="c2", on_change=changes)
    (edit,) = changes.edits
    assert isinstance(edit, SetOutput)
    assert (edit.cell_id, edit.index) == ("c1", 1)
    assert edit.output["data"] == {"text/plain": "'new'"}


async def test_clear_output_leaves_the_last_frame(kernels: RealKernels) -> None:
    code = (
        "from IPython.display import clear_output\n"
        "for i in range(3):\n    clear_output(wait=True); print('frame', i)"
    )
    changes = Changes()
    execution = await execute(kernels, await started(kernels), code, on_change=changes)
    assert text(execution) == "frame 2\n"
    outputs: tuple = ()
    for edit in changes.edits:
        outputs = fold_output(outputs, edit)
    assert outputs == execution.outputs


async def test_what_an_output_widget_captures_is_in_the_widget_and_not_in_the_cell(
    kernels: RealKernels,
) -> None:
    pytest.importorskip("ipywidgets")
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "import ipywidgets\nout = ipywidgets.Output()")
    code = "print('before')\nwith out:\n    print('inside')\nprint('after')"
    execution = await execute(kernels, kernel_id, code, cell_id="c2")
    assert text(execution) == "before\nafter\n"
    await execute(kernels, kernel_id, "with out: print('again')", cell_id="c3")
    shown = await execute(kernels, kernel_id, "print([o['text'] for o in out.outputs])")
    assert text(shown) == "['inside\\n', 'again\\n']\n"


async def test_scratch_code_is_not_in_the_history(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "kept = 1", cell_id="c1")
    changes = Changes()
    scratch = await execute(kernels, kernel_id, "print('scratch')", cell_id=None, on_change=changes)
    after = await execute(kernels, kernel_id, "print(In)", cell_id="c1")
    assert scratch.execution_count is None
    assert changes.edits[0].cell_id == ""
    assert after.execution_count == 2
    assert "scratch" not in text(after)


async def test_a_huge_print_is_cut_in_the_middle_and_told_at_a_bounded_rate(
    kernels: RealKernels,
) -> None:
    code = "for i in range(300):\n    print('x' * 100_000)\nprint('the end')"
    changes = Changes()
    execution = await execute(kernels, await started(kernels), code, on_change=changes)
    printed = text(execution)
    assert len(printed) < 400_000
    assert "characters left out" in printed
    assert printed.endswith("the end\n")
    told = sum(
        len(str(edit.output)) for edit in changes.edits if not isinstance(edit, ClearOutputs)
    )
    assert told < 400_000 * (execution.seconds + 3)
    assert len(changes.calls) < 12 * execution.seconds + 5


async def test_what_a_thread_prints_after_the_end_belongs_to_its_cell(
    kernels: RealKernels,
) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    changes = Changes()
    code = (
        "import contextvars, os, threading, time\n"
        f"def late():\n    while not os.path.exists({str(gate._path)!r}): time.sleep(.01)\n"
        "    print('la', end='', flush=True); print('te', flush=True)\n"
        "run = contextvars.copy_context().run\n"  # ipykernel keeps the cell in the context
        "t = threading.Thread(target=run, args=(late,)); t.start()"
    )
    execution = await execute(kernels, kernel_id, code, on_change=changes)
    assert (text(execution), changes.calls) == ("", [])
    gate.open()
    other = await execute(kernels, kernel_id, "t.join(); print('own')", cell_id="c2")
    assert text(other) == "own\n"
    await until(lambda: bool(changes.calls))
    assert changes.edits == [
        AddOutput("c1", {"output_type": "stream", "name": "stdout", "text": "late\n"})
    ]


async def test_a_cell_that_runs_again_hears_nothing_of_its_old_threads(
    kernels: RealKernels,
) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    changes = Changes()
    code = (
        "import contextvars, os, threading, time\n"
        f"def late():\n    while not os.path.exists({str(gate._path)!r}): time.sleep(.01)\n"
        "    print('old', flush=True)\n"
        "run = contextvars.copy_context().run\n"  # ipykernel keeps the cell in the context
        "t = threading.Thread(target=run, args=(late,)); t.start()"
    )
    await execute(kernels, kernel_id, code, on_change=changes)
    again = await execute(kernels, kernel_id, "print('new')", on_change=changes)
    gate.open()
    await execute(kernels, kernel_id, "t.join()", cell_id="c2")
    await kernels.port.close()  # delivers what waits
    assert text(again) == "new\n"
    assert [edit.output["text"] for edit in changes.edits] == ["new\n"]


async def test_runs_of_one_kernel_queue_up(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    results = await asyncio.gather(
        *(execute(kernels, kernel_id, f"print({n})", cell_id=f"c{n}") for n in range(3))
    )
    assert [text(result) for result in results] == ["0\n", "1\n", "2\n"]
    assert [result.execution_count for result in results] == [1, 2, 3]


async def test_a_failed_change_ends_the_call_and_not_the_kernel(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)

    async def on_change(edits: Any) -> None:
        raise ToolError("the page is gone")

    with pytest.raises(ToolError):
        await execute(kernels, kernel_id, "print(1)", on_change=on_change)
    assert (await execute(kernels, kernel_id, "2")).state == "ok"


async def test_a_connection_that_meets_itself_is_no_open_port(
    kernels: RealKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "")
    channels = kernels.port._links[kernel_id]._channels
    assert await channels.are_listening()
    connect = asyncio.open_connection

    async def connect_to_itself(ip: str, port: int) -> Any:
        own = socket.socket()
        own.bind((ip, 0))
        own.connect(own.getsockname())
        return await connect(sock=own)

    monkeypatch.setattr(asyncio, "open_connection", connect_to_itself)
    assert not await channels.are_listening()


async def test_a_connection_that_never_comes_about_is_made_anew(
    kernels: RealKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ZeroMQ can give one up as the kernel begins to listen: requests then wait for ever."""
    sent = KernelChannels.send
    lost: list[KernelChannels] = []

    def send(channels: KernelChannels, name: str, message: dict[str, Any]) -> None:
        if not lost or channels in lost:
            lost.append(channels)
        else:
            sent(channels, name, message)

    monkeypatch.setattr(KernelChannels, "send", send)
    execution = await execute(kernels, await started(kernels), "40 + 2")
    assert execution.outputs[-1]["data"] == {"text/plain": "42"}
    assert len(lost) > 1


async def test_a_kernel_that_dies_as_it_starts_is_tried_again(
    kernels: RealKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is when another program took one of its ports."""
    kernel_id = await started(kernels)
    first = kernels.manager.get_kernel(kernel_id).provisioner.pid
    sent = KernelChannels.send

    def send(channels: KernelChannels, name: str, message: dict[str, Any]) -> None:
        if kernels.manager.get_kernel(kernel_id).provisioner.pid == first:
            os.kill(first, signal.SIGKILL)
        sent(channels, name, message)

    monkeypatch.setattr(KernelChannels, "send", send)
    execution = await execute(kernels, kernel_id, "40 + 2")
    assert execution.outputs[-1]["data"] == {"text/plain": "42"}
    assert kernels.manager.get_kernel(kernel_id).provisioner.pid != first


# -- deadline, stop, interrupt -------------------------------------------------------------------


async def test_at_the_deadline_the_kernel_works_on(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    code = f"print('one', flush=True)\n{gate.wait}done = True"
    await execute(kernels, kernel_id, "")  # the kernel is up: the deadline is for the code alone
    execution = await execute(kernels, kernel_id, code, timeout_s=1.0)
    assert (execution.state, text(execution)) == ("running", "one\n")
    gate.open()
    after = await execute(kernels, kernel_id, "print(done)", cell_id="c2")
    assert text(after) == "True\n"


async def test_cancelling_stops_watching_only(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    code = f"print('one', flush=True)\n{gate.wait}done = True"
    running = await Running(kernels, kernel_id, code).started()
    running.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running.end(within_s=1)
    gate.open()
    assert text(await execute(kernels, kernel_id, "print(done)", cell_id="c2")) == "True\n"


async def test_a_run_that_nobody_watches_still_counts_as_busy(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    running = await Running(kernels, kernel_id, f"print('one', flush=True)\n{gate.wait}").started()
    running.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running.end(within_s=1)
    # what a request on another channel makes the server believe
    kernels.manager.get_kernel(kernel_id).execution_state = "idle"
    assert [kernel.state for kernel in await kernels.port.running()] == ["busy"]
    gate.open()
    await execute(kernels, kernel_id, "", cell_id="c2")
    await until(lambda: kernels.manager.kernel_model(kernel_id)["execution_state"] == "idle")
    assert [kernel.state for kernel in await kernels.port.running()] == ["idle"]


async def test_interrupt_ends_the_run_with_keyboard_interrupt(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    await kernels.port.interrupt(kernel_id)
    execution, _ = await running.end(within_s=10)
    assert execution.state == "interrupted"
    assert execution.outputs[-1]["ename"] == "KeyboardInterrupt"


async def test_an_interrupt_by_the_user_is_told_from_an_error_of_the_code(
    kernels: RealKernels,
) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    await kernels.manager.interrupt_kernel(kernel_id)
    assert (await running.end(within_s=10))[0].state == "interrupted"
    raised = await execute(kernels, kernel_id, "raise KeyboardInterrupt")
    assert raised.state == "error"


async def test_what_an_interrupt_drops_was_aborted(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    queued = asyncio.create_task(execute(kernels, kernel_id, "never = 1", cell_id="c2"))
    await until(lambda: len(kernels.port._links[kernel_id]._open_runs) == 2)
    await kernels.port.interrupt(kernel_id)
    await running.end(within_s=10)
    assert (await queued).state == "aborted"


# -- death and restart ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "state", "detail"),
    [
        ("exit()", "ended", ""),
        ("import os\nos._exit(3)", "ended", "exit status 3"),
        (SLEEP, "died", "it was killed (SIGKILL), as happens when memory runs out"),
    ],
)
async def test_how_a_kernel_ended_is_told_and_the_next_run_works(
    kernels: RealKernels, code: str, state: str, detail: str
) -> None:
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "before = 1")
    running = Running(kernels, kernel_id, code)
    if code == SLEEP:
        await running.started()
        os.kill(kernels.manager.get_kernel(kernel_id).provisioner.pid, signal.SIGKILL)
    execution, seconds = await running.end(within_s=10)
    assert (execution.state, execution.detail) == (state, detail)
    assert seconds < 5
    after = await execute(kernels, kernel_id, "'before' in globals()", cell_id="c2")
    assert after.outputs[-1]["data"] == {"text/plain": "False"}


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_restart_by_the_user_ends_the_run_as_restarted(
    home: Path, root: Path, blocking: bool
) -> None:
    async with real_kernels(root, blocking=blocking) as kernels:
        kernel_id = await started(kernels)
        running = await Running(kernels, kernel_id).started()
        restart = asyncio.create_task(kernels.manager.restart_kernel(kernel_id))
        execution, _ = await running.end(within_s=15)
        await restart
        assert execution.state == "restarted"
        after = await execute(kernels, kernel_id, "print('fresh')", cell_id="c2")
        assert (after.execution_count, text(after)) == (1, "fresh\n")


async def test_restart_works_while_busy(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    await kernels.port.restart(kernel_id)
    execution, _ = await running.end(within_s=5)
    assert execution.state == "restarted"
    assert (await execute(kernels, kernel_id, "1")).execution_count == 1


async def test_a_shutdown_during_the_run_ends_it_as_died(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    await kernels.manager.shutdown_kernel(kernel_id)
    execution, _ = await running.end(within_s=5)
    assert execution.state == "died"
    with pytest.raises(KernelUnavailable):
        await execute(kernels, kernel_id, "1")


async def test_close_ends_what_waits_and_leaves_the_kernel(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    await kernels.port.close()
    execution, _ = await running.end(within_s=5)
    assert execution.state == "died"
    assert await kernels.manager.is_alive(kernel_id)


# -- variables -----------------------------------------------------------------------------------


async def test_variables_without_a_trace(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    await execute(kernels, kernel_id, "x = [1, 2]\n41")
    state = "print(_, __, len(In), sorted(Out), sorted(n for n in globals()))"
    before = await execute(kernels, kernel_id, state, cell_id="c2")
    found = await kernels.port.variables(kernel_id, [])
    assert [(v.name, v.type, v.summary) for v in found] == [("x", "list", "2 items: [1, 2]")]
    after = await execute(kernels, kernel_id, state, cell_id="c2")
    changed = text(after).replace("4", "3").replace("'_i3', ", "")
    assert after.execution_count == 3
    assert changed.split()[:2] == text(before).replace("4", "3").split()[:2]
    assert "vitto" not in text(after)
    assert set(eval(text(after).split("] ", 1)[1])) - set(eval(text(before).split("] ", 1)[1])) == {
        "_i3"
    }


async def test_variables_run_no_user_code(kernels: RealKernels, root: Path) -> None:
    kernel_id = await started(kernels)
    canary = root / "canary"
    await execute(
        kernels,
        kernel_id,
        f"""
def touch(*args, **options):
    import pathlib
    pathlib.Path({str(canary)!r}).touch()
    raise AttributeError
class E:
    __repr__ = __getattr__ = __len__ = __str__ = _repr_html_ = _ipython_display_ = touch
e = E()
len = type = repr = json = str = touch
""",
    )
    found = {v.name: v for v in await kernels.port.variables(kernel_id, ["e", "len"])}
    assert (found["e"].type, found["e"].summary) == ("E", "")
    assert found["len"].summary == "touch()"
    assert not canary.exists()


@pytest.mark.parametrize("name", ["x; import os", "", "a.b", "x\n", "f()"])
async def test_what_is_no_name_is_refused(kernels: RealKernels, name: str) -> None:
    with pytest.raises(ToolError, match="not the name of a variable"):
        await kernels.port.variables(await started(kernels), [name])


async def test_a_busy_kernel_says_so_at_once(kernels: RealKernels) -> None:
    kernel_id = await started(kernels)
    running = await Running(kernels, kernel_id).started()
    began = time.monotonic()
    with pytest.raises(ToolError, match="busy"):
        await kernels.port.variables(kernel_id, [])
    assert time.monotonic() - began < 1
    await kernels.port.interrupt(kernel_id)
    await running.end(within_s=10)


async def test_a_first_run_while_the_user_runs_a_long_cell_still_sees_its_output(
    kernels: RealKernels,
) -> None:
    kernel_id = await started(kernels)
    gate = Gate(kernels)
    user = kernels.manager.get_kernel(kernel_id).client()
    user.start_channels()
    try:
        await user.wait_for_ready(timeout=30)
        user.execute(gate.wait)
        await until(lambda: kernels.manager.kernel_model(kernel_id)["execution_state"] == "busy")
        ours = asyncio.create_task(execute(kernels, kernel_id, "print('ours')"))
        # The link is there: the request is on its way.
        await until(lambda: kernel_id in kernels.port._links)
        gate.open()
        assert text(await ours) == "ours\n"
    finally:
        user.stop_channels()


def test_nothing_of_jupyter_is_imported_with_the_module() -> None:
    import subprocess
    import sys

    code = (
        "import sys, vitto_jupyter.workspace.kernels.jupyter_kernels, "
        "vitto_jupyter.workspace.terminals.jupyter_terminals\n"
        "print([m for m in ('jupyter_client', 'nbformat', 'zmq', 'tornado', 'jupyter_server', "
        "'terminado') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert printed.stdout.strip() == "[]", printed.stderr
