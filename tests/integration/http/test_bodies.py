"""What is sent wrongly is refused in one shape, and nothing else happens."""

from __future__ import annotations

import json

import pytest

LIMIT = 20_000


@pytest.fixture
async def server(start_server):
    return await start_server(args=(f"--VittoApp.max_body_bytes={LIMIT}",))


def shape(answer) -> tuple[int, str]:
    body = answer.json()
    assert set(body) == {"code", "message", "hint"}, body
    assert answer.headers["Content-Type"].startswith("application/json")
    for leak in ("Traceback", 'File "', "/site-packages/", "/work/"):
        assert leak not in answer.text
    return answer.status_code, body["code"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ('{"prompt": "a"} {}', "invalid_json"),
        ('{"prompt": "\\ud800"}', "invalid_json"),
        (b'{"prompt": "\xff"}', "invalid_json"),
        ("[]", "invalid_body"),
        ("null", "invalid_body"),
        ("{}", "invalid_body"),
        ('{"prompt": {"a": 1}}', "invalid_body"),
        ('{"prompt": 1}', "invalid_body"),
        ('{"prompt": ""}', "invalid_body"),
        ('{"prompt": "a", "unknown": 1}', "invalid_body"),
        ('{"prompt": "a", "mode": "trusted"}', "invalid_body"),
        ('{"prompt": "a", "turn_id": "../x"}', "invalid_body"),
        (
            '{"prompt": "a", "attachments": [{"media_type": "text/html", "data": ""}]}',
            "invalid_body",
        ),
    ],
)
async def test_a_body_that_does_not_fit_is_refused(server, content, code: str) -> None:
    session_id = await server.new_session()
    headers = {"Content-Type": "application/json"}
    answer = await server.api.post(f"sessions/{session_id}/turns", content=content, headers=headers)
    assert shape(answer) == (400, code)
    assert (await server.api.get(f"sessions/{session_id}")).json()["turns"] == 0


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
async def test_a_body_that_is_not_declared_json_is_refused(server, content_type: str) -> None:
    answer = await server.api.post("sessions", content="{}", headers={"Content-Type": content_type})
    assert shape(answer) == (415, "unsupported_media_type")


async def test_json_with_a_charset_is_taken(server) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert (await server.api.post("sessions", content="{}", headers=headers)).status_code == 201


async def test_a_body_beyond_the_limit_is_refused(server) -> None:
    answer = await server.api.post("sessions", json={"title": "x" * LIMIT})
    assert shape(answer) == (413, "too_large")


async def test_a_huge_chunked_body_is_refused_without_being_kept(server) -> None:
    async def chunks():
        for _ in range(500):
            yield b"x" * 100_000

    headers = {"Content-Type": "application/json"}
    answer = await server.api.post("sessions", content=chunks(), headers=headers)
    assert shape(answer) == (413, "too_large")


@pytest.mark.parametrize("text", ["[" * 9000 + "]" * 9000, '{"a":' * 3000 + "1" + "}" * 3000])
async def test_a_deeply_nested_body_is_refused(server, text: str) -> None:
    session_id = await server.new_session()
    content = f'{{"type": "x", "value": {text}}}'
    headers = {"Content-Type": "application/json"}
    for method, path in (("PUT", "hosts/h1/calls/c1"), ("POST", f"sessions/{session_id}/turns")):
        answer = await server.api.request(method, path, content=content, headers=headers)
        assert shape(answer) == (413, "too_large")


async def test_a_wrong_method_is_answered_in_the_same_shape(server) -> None:
    assert shape(await server.api.put("sessions", json={})) == (405, "method_not_allowed")
    assert shape(await server.api.delete("context")) == (405, "method_not_allowed")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
async def test_an_unknown_route_is_answered_in_the_same_shape(server, method: str) -> None:
    for path in ("nothing", "sessions/a/b/c/d", "", "sessions/"):
        answer = await server.api.request(method, path, json={})
        assert shape(answer) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "sessions/ses_1", None),
        ("PATCH", "sessions/ses_1", {"title": "x"}),
        ("DELETE", "sessions/ses_1", None),
        ("POST", "sessions/ses_1/turns", {"prompt": "x"}),
        ("POST", "sessions/ses_1/cancel", {}),
        ("GET", "sessions/ses_1/events", None),
        ("PUT", "sessions/ses_1/approvals/apr_1", {"decision": "approve"}),
        ("GET", "hosts/h1/calls", None),
        ("PUT", "hosts/h1/calls/c1", {}),
        ("POST", "agent-session", {"message": "x", "session_id": "ses_1"}),
        ("POST", "agent-session/ses_1/tool-result", {"tool_use_id": "x", "result": "y"}),
        ("POST", "agent-session/ses_1/cancel", {}),
        ("GET", "providers?session_id=ses_1", None),
    ],
)
async def test_an_unknown_id_is_not_found(server, method: str, path: str, body) -> None:
    answer = await server.api.request(method, path, json=body)
    assert shape(answer)[0] == 404


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "after=1e3", "after=99999999999999999", "idle=maybe"]
)
async def test_a_bad_query_is_refused(server, query: str) -> None:
    session_id = await server.new_session()
    assert shape(await server.api.get(f"sessions/{session_id}/events?{query}"))[0] == 400


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", "a%00b", "~/x"])
async def test_a_context_path_stays_below_the_root(server, path: str) -> None:
    answer = await server.api.get(f"context?path={path}")
    assert shape(answer) == (400, "path_refused")


async def test_an_unexpected_fault_tells_only_where_to_look(server, caplog) -> None:
    def fault(*args, **kwargs):
        raise RuntimeError("secret detail in /work/secret.py")

    server.vitto.services().sessions.list = fault
    answer = await server.api.get("sessions")
    assert shape(answer) == (500, "internal")
    assert "secret" not in answer.text
    log_id = answer.json()["hint"].rsplit(" ", 1)[-1].strip(".")
    (record,) = [r for r in caplog.records if log_id in r.getMessage()]
    assert record.exc_info[1].args[0].startswith("secret detail")


async def test_replies_are_plain_json(server) -> None:
    session_id = await server.new_session(title="Ünïcode 🙂 \u2028 <script>")
    answer = await server.api.get(f"sessions/{session_id}")
    assert json.loads(answer.content)["title"] == "Ünïcode 🙂 \u2028 <script>"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
