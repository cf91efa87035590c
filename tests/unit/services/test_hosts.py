"""Hosts: which page is asked, how calls travel, and what silence means."""

from __future__ import annotations

import asyncio

import pytest
from simulated_page import SimulatedPage

from vitto_jupyter.errors import (
    DeadlineExceeded,
    DocumentNotFound,
    EditConflict,
    NotFound,
    NotText,
    ToolError,
    WriteFailed,
)
from vitto_jupyter.protocol.base import CallId, HostId
from vitto_jupyter.protocol.context import Diagnostic
from vitto_jupyter.protocol.requests import HeldDocument, HostAnswer, HostCall, RegisterHost
from vitto_jupyter.services.hosts import LIMIT_CALLS, LIMIT_HOSTS, Hosts, Patience
from vitto_jupyter.testing.doubles import FakeClock
from vitto_jupyter.workspace.documents.pages import PageGone

A, B = HostId("a"), HostId("b")
QUICK = Patience(fetch_s=0.06, wake_s=0.02, again_s=4.0)


class Bell:
    """Wake-ups as they were sent, to wait for."""

    def __init__(self) -> None:
        self.woken: asyncio.Queue[HostId] = asyncio.Queue()

    def __call__(self, host_id: HostId) -> None:
        self.woken.put_nowait(host_id)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def bell() -> Bell:
    return Bell()


@pytest.fixture
def hosts(bell: Bell, clock: FakeClock) -> Hosts:
    return Hosts(bell, clock)


@pytest.fixture
def hasty(bell: Bell, clock: FakeClock) -> Hosts:
    """Hosts that give up on a page after a blink."""
    return Hosts(bell, clock, patience=QUICK)


def holding(*paths: str, active: str = "", dirty: bool = False) -> RegisterHost:
    return RegisterHost(
        documents=tuple(
            HeldDocument(path=path, type="file", dirty=dirty, active=path == active)
            for path in paths
        )
    )


async def ask(hosts: Hosts, path: str = "x", method: str = "read_text", timeout_s: float = 5.0):
    return await hosts.call(path, method, {"path": path}, timeout_s=timeout_s)


async def fetched(hosts: Hosts, bell: Bell) -> HostCall:
    """The one call that a woken page gets."""
    host_id = await bell.woken.get()
    (call,) = hosts.calls(host_id).calls
    return call


# -- who holds what ------------------------------------------------------------------------------


def test_the_page_where_a_document_is_active_is_asked_else_the_latest(hosts: Hosts) -> None:
    assert hosts.holder("x") is None
    hosts.register(A, holding("x"))
    hosts.register(B, holding("x"))
    assert hosts.holder("x") == B
    hosts.register(A, holding("x", active="x"))
    hosts.register(B, holding("x", "y"))
    assert (hosts.holder("x"), hosts.holder("y")) == (A, B)


def test_a_page_holds_what_it_said_last_and_nothing_after_closing(hosts: Hosts) -> None:
    hosts.register(A, holding("x"))
    hosts.register(A, holding("y"))
    assert (hosts.holder("x"), hosts.holder("y")) == (None, A)
    hosts.register(A, RegisterHost(documents=(), closing=True))
    assert hosts.holder("y") is None
    with pytest.raises(NotFound):
        hosts.calls(A)


def test_what_is_seen_is_what_all_pages_show(hosts: Hosts) -> None:
    problem = Diagnostic(path="x", line=1, severity="error", message="m")
    hosts.register(A, holding("x", "y", active="y").model_copy(update={"diagnostics": (problem,)}))
    hosts.register(B, holding("x", "z", active="z").model_copy(update={"diagnostics": (problem,)}))
    seen = hosts.seen()
    assert (seen.active_path, seen.open_paths) == ("z", ("x", "y", "z"))
    assert seen.diagnostics == (problem,)


def test_the_number_of_pages_is_bounded(hosts: Hosts) -> None:
    for number in range(LIMIT_HOSTS + 1):
        hosts.register(HostId(f"h{number}"), holding(f"x{number}", dirty=True))
    assert (hosts.holder("x0"), hosts.has_unsaved("x0")) == (None, True)
    assert hosts.holder("x1") == "h1"


# -- calls ---------------------------------------------------------------------------------------


async def test_a_call_reaches_only_the_holder_and_its_answer_comes_back(
    hosts: Hosts, bell: Bell
) -> None:
    hosts.register(B, holding("y"))
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts))
    assert await bell.woken.get() == A
    assert hosts.calls(B).calls == ()
    (call,) = hosts.calls(A).calls
    assert (call.method, call.params) == ("read_text", {"path": "x"})
    with pytest.raises(NotFound):
        hosts.answer(B, CallId(call.call_id), HostAnswer(value={"text": "forged"}))
    hosts.answer(A, CallId(call.call_id), HostAnswer(value={"text": "t"}))
    assert await task == {"text": "t"}


async def test_a_call_is_handed_out_again_only_after_a_while(
    hosts: Hosts, bell: Bell, clock: FakeClock
) -> None:
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts))
    call = await fetched(hosts, bell)
    assert hosts.calls(A).calls == ()
    await clock.sleep(4.0)
    assert hosts.calls(A).calls == (call,)
    hosts.answer(A, CallId(call.call_id), HostAnswer())
    assert hosts.calls(A).calls == ()
    assert await task == {}


async def test_answering_twice_is_fine_and_the_first_answer_counts(
    hosts: Hosts, bell: Bell
) -> None:
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts))
    call_id = CallId((await fetched(hosts, bell)).call_id)
    hosts.answer(A, call_id, HostAnswer(value={"n": 1}))
    hosts.answer(A, call_id, HostAnswer(value={"n": 2}))
    assert await task == {"n": 1}
    hosts.answer(A, call_id, HostAnswer(value={"n": 3}))
    with pytest.raises(NotFound):
        hosts.answer(A, CallId("call_unknown"), HostAnswer())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("edit_conflict", EditConflict),
        ("not_found", DocumentNotFound),
        ("write_failed", WriteFailed),
        ("not_text", NotText),
        ("something_new", ToolError),
    ],
)
async def test_an_error_of_the_page_keeps_its_kind_and_words(
    hosts: Hosts, bell: Bell, code: str, error: type[ToolError]
) -> None:
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts))
    call = await fetched(hosts, bell)
    hosts.answer(A, CallId(call.call_id), HostAnswer(error_code=code, error="the page's words"))
    with pytest.raises(error, match="the page's words"):
        await task


async def test_a_page_that_misses_a_wake_up_is_woken_again(hasty: Hosts, bell: Bell) -> None:
    hasty.register(A, holding("x"))
    task = asyncio.create_task(ask(hasty))
    await bell.woken.get()
    call = await fetched(hasty, bell)
    hasty.answer(A, CallId(call.call_id), HostAnswer(value={"text": "late"}))
    assert await task == {"text": "late"}


# -- silence -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dirty", [False, True])
async def test_a_page_that_never_fetches_is_forgotten(hasty: Hosts, dirty: bool) -> None:
    hasty.register(A, holding("x", dirty=dirty))
    with pytest.raises(PageGone) as caught:
        await ask(hasty)
    assert (caught.value.unsaved, hasty.holder("x")) == (dirty, None)
    assert hasty.has_unsaved("x") is dirty
    with pytest.raises(NotFound):
        hasty.calls(A)


async def test_all_waiting_calls_learn_of_the_unsaved_changes(hasty: Hosts) -> None:
    hasty.register(A, holding("x", dirty=True))
    results = await asyncio.gather(*(ask(hasty) for _ in range(3)), return_exceptions=True)
    assert [getattr(result, "unsaved", None) for result in results] == [True] * 3


async def test_unsaved_changes_count_until_the_page_is_heard_of_or_the_document_opened_anew(
    hasty: Hosts, clock: FakeClock
) -> None:
    hasty.register(A, holding("x", dirty=True))
    hasty.register(B, holding("y", dirty=True))
    for path in ("x", "y"):
        with pytest.raises(PageGone):
            await ask(hasty, path)
    hasty.register(A, holding("x"))
    assert (hasty.has_unsaved("x"), hasty.has_unsaved("y")) == (False, True)
    await clock.sleep(1_000_000)
    assert hasty.has_unsaved("y")
    hasty.register(A, holding("x", "y"))
    assert not hasty.has_unsaved("y")


@pytest.mark.parametrize(
    ("method", "words"), [("read_text", "nothing was read"), ("write_text", "is unknown")]
)
async def test_a_page_that_fetched_and_does_not_answer_leaves_the_outcome_open(
    hosts: Hosts, bell: Bell, method: str, words: str
) -> None:
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts, method=method, timeout_s=0.02))
    call = await fetched(hosts, bell)
    with pytest.raises(DeadlineExceeded, match=words):
        await task
    assert hosts.holder("x") == A
    assert hosts.calls(A).calls == ()
    hosts.answer(A, CallId(call.call_id), HostAnswer())  # too late, and no error


async def test_closing_a_page_ends_the_wait_for_it(hosts: Hosts, bell: Bell) -> None:
    hosts.register(A, holding("x", dirty=True))
    read, save = (asyncio.create_task(ask(hosts, method=m)) for m in ("read_text", "save"))
    await bell.woken.get()
    hosts.register(A, RegisterHost(documents=(), closing=True))
    with pytest.raises(PageGone) as caught:
        await read
    assert not caught.value.unsaved
    with pytest.raises(WriteFailed):
        await save


async def test_a_stopped_call_is_not_handed_out_any_more(hosts: Hosts, bell: Bell) -> None:
    hosts.register(A, holding("x"))
    task = asyncio.create_task(ask(hosts))
    await bell.woken.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert hosts.calls(A).calls == ()


async def test_the_number_of_waiting_calls_is_bounded(hosts: Hosts, bell: Bell) -> None:
    hosts.register(A, holding("x"))
    tasks = [asyncio.create_task(ask(hosts)) for _ in range(LIMIT_CALLS)]
    for _ in tasks:
        await bell.woken.get()
    with pytest.raises(ToolError) as caught:
        await ask(hosts)
    assert caught.value.code == "busy"
    hosts.register(A, RegisterHost(documents=(), closing=True))
    assert len(await asyncio.gather(*tasks, return_exceptions=True)) == LIMIT_CALLS


async def test_a_simulated_page_answers(clock: FakeClock) -> None:
    """The double that other tests rely on works over the real Hosts."""
    page = SimulatedPage()
    page.texts["x"] = "t"
    hosts = Hosts(page.wake, clock)
    page.connect(hosts)
    assert (await ask(hosts))["text"] == "t"
