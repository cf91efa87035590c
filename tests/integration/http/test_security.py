"""Who may call: every route, every door that a browser could be led through."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from tornado.routing import PathMatches

from vitto_jupyter.handlers.routes import ROUTES, handler_class
from vitto_jupyter.providers.scripted import call, hold, say

from .conftest import TOKEN

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EVIL = {"Origin": "https://evil.example"}


def registered_paths(server) -> list[str]:
    """Paths below our prefix, taken from the running application."""
    rules = [rule for outer in server.app.web_app.default_router.rules for rule in _inner(outer)]
    patterns = [r.matcher.regex.pattern for r in rules if isinstance(r.matcher, PathMatches)]
    ours = [pattern for pattern in patterns if "/vitto/" in pattern]
    return [pattern.rstrip("$").replace("([^/]+)", "x1").replace("(.*)", "y") for pattern in ours]


def _inner(rule) -> list:
    return list(getattr(rule.target, "rules", [rule]))


def methods_of(where: str) -> list[str]:
    cls = handler_class(where)
    return [m for m in METHODS if getattr(cls, m.lower()).__name__ != "_unimplemented_method"]


async def test_every_registered_route_needs_a_token(server) -> None:
    paths = registered_paths(server)
    assert len(paths) == len(ROUTES)
    async with server.client() as nobody:
        for path in paths:
            for method in METHODS:
                url = f"http://127.0.0.1:{server.app.port}{path}"
                answer = await nobody.request(method, url, json={})
                assert answer.status_code == 403, (method, path)
                assert set(answer.json()) == {"code", "message", "hint"}


def test_every_method_is_authenticated_and_authorized() -> None:
    for _, where in ROUTES:
        cls = handler_class(where)
        assert cls.auth_resource == "vitto"
        for method in methods_of(where):
            function = getattr(cls, method.lower())
            wrappers = []
            while hasattr(function, "__wrapped__"):
                wrappers.append(function.__code__.co_qualname.split(".")[0])
                function = function.__wrapped__
            assert wrappers == ["authenticated", "authorized"], (where, method)


async def test_a_user_without_permission_is_refused(server) -> None:
    async def refuse(handler, user, action, resource):
        return (action, resource) != ("write", "vitto")

    server.app.web_app.settings["authorizer"].is_authorized = refuse
    assert (await server.api.post("sessions", json={})).status_code == 403
    assert (await server.api.get("sessions")).status_code == 200


async def test_a_cookie_needs_the_xsrf_token(server) -> None:
    async with server.logged_in() as browser:
        refused = await browser.post("sessions", json={})
        assert refused.status_code == 403
        assert set(refused.json()) == {"code", "message", "hint"}
        wrong = await browser.post("sessions", json={}, headers={"X-XSRFToken": "2|a|b|1"})
        assert wrong.status_code == 403
        right = {"X-XSRFToken": browser.cookies["_xsrf"]}
        assert (await browser.post("sessions", json={}, headers=right)).status_code == 201


async def test_a_simple_request_of_a_foreign_page_is_refused(server) -> None:
    async with server.logged_in() as browser:
        plain = {"Content-Type": "text/plain", **EVIL}
        refused = await browser.post("sessions", content="{}", headers=plain)
        assert refused.status_code == 403
    assert (await server.api.get("sessions")).json() == []


@pytest.mark.parametrize("extra", [{}, {"Upgrade": "websocket", "Connection": "Upgrade"}])
async def test_a_foreign_page_cannot_read_the_event_stream(server, extra) -> None:
    session_id = await server.new_session()
    async with server.logged_in() as browser:
        url = f"sessions/{session_id}/events?idle=close"
        answer = await browser.get(url, headers={**EVIL, **extra})
        assert answer.status_code == 403
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert session_id not in answer.text
        own = {"Origin": server.base.rstrip("/")}
        assert (await browser.get(url, headers=own)).status_code == 200


async def test_a_foreign_host_name_is_refused(server) -> None:
    refused = await server.api.get("sessions", headers={"Host": "evil.example:8888"})
    assert refused.status_code == 403


async def test_the_allowed_origin_pattern_is_anchored(start_server) -> None:
    pattern = r"--ServerApp.allow_origin_pat=https://trusted\.example\.com"
    server = await start_server(args=(pattern,))
    async with server.logged_in() as browser:
        near = {"Origin": "https://trusted.example.com.evil.test"}
        assert (await browser.get("sessions", headers=near)).status_code == 403


async def test_get_changes_nothing(server) -> None:
    server.script(hold(asyncio.Event()))
    session_id = await server.new_session()
    await server.start_turn(session_id)
    for path in (
        f"sessions/{session_id}/turns",
        f"sessions/{session_id}/cancel",
        f"sessions/{session_id}/approvals/apr_1",
        "agent-session",
        f"agent-session/{session_id}/cancel",
        f"agent-session/{session_id}/tool-result",
        "hosts/h1",
    ):
        assert (await server.api.get(path)).status_code in (404, 405), path
    assert (await server.api.get(f"sessions/{session_id}")).json()["state"] == "running"


async def test_neither_token_nor_key_is_written_anywhere(
    server, caplog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-1234567890")
    caplog.set_level(logging.DEBUG)
    provider = server.script(say("Hi."))
    session_id = await server.new_session()
    answers = []
    async with server.client() as client:
        for path in ("sessions", "providers", "context", "nowhere", f"sessions/{session_id}"):
            answers.append(await client.get(f"{path}?token={TOKEN}"))
        await server.play(session_id)
        broken = server.vitto.services().hosts
        monkeypatch.setattr(broken, "calls", lambda host_id: 1 / 0)
        answers.append(await client.get(f"hosts/h1/calls?token={TOKEN}"))
    assert answers[-1].status_code == 500
    told = "".join(answer.text for answer in answers)
    stored = b"".join(p.read_bytes() for p in server.data_dir.rglob("*") if p.is_file())
    for secret in (TOKEN, "sk-ant-test"):
        assert secret not in told
        assert secret.encode() not in stored
        assert secret not in repr(provider.requests)
        ours = [r for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
        assert not [r for r in ours if secret in r.getMessage()]


async def test_what_a_tool_reads_of_our_own_secrets_goes_no_further(
    server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test-1234567890")
    (server.root / "notes.txt").write_text(f"token {TOKEN}, key sk-ant-test-1234567890\n")
    provider = server.script(call("read_file", {"path": "notes.txt"}), say("Done."))
    session_id = await server.new_session()
    await server.play(session_id)
    stored = b"".join(p.read_bytes() for p in server.data_dir.rglob("*") if p.is_file()).decode()
    assert "token [JUPYTER_TOKEN is hidden], key [ANTHROPIC_API_KEY is hidden]" in stored
    for told in (stored, repr(provider.requests)):
        assert TOKEN not in told and "sk-ant-test" not in told


async def test_the_sessions_are_not_the_models_to_change(start_server, tmp_path) -> None:
    """Vitto's own folder may be anywhere, also below the contents root."""
    own = tmp_path / "root" / "own"
    server = await start_server(args=(f"--VittoApp.data_dir={own}",))
    write = {"path": "own/sessions/x.json", "content": "{}", "create_if_missing": True}
    server.script(call("write_file", write), say("Done."))
    session_id = await server.new_session()
    await server.play(session_id)
    (finished,) = [e for e in await server.events(session_id) if e["type"] == "tool.finished"]
    assert "This path is protected" in finished["result"]["error"]
    assert not (own / "sessions" / "x.json").exists()


async def test_a_session_id_cannot_be_a_path(server) -> None:
    for path in ("..%2f..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "a%20b"):
        answer = await server.api.get(f"sessions/{path}")
        assert answer.status_code in (400, 404), path


def test_no_code_of_ours_checks_origins_itself() -> None:
    source = (handler_class.__wrapped__.__globals__["__file__"]).replace("routes.py", "base.py")
    with open(source, encoding="utf-8") as file:
        assert not re.search(r"re\.match|Origin\"", file.read())
