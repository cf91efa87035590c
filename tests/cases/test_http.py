"""HTTP: who may call, what a browser cannot be tricked into, and what never leaves."""

from __future__ import annotations

import pytest
from cases import Cases, Row
from http_server import Server

from vitto_jupyter.handlers.routes import ROUTES

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECURITY = "tests/integration/http/test_security.py::"
BODIES = "tests/integration/http/test_bodies.py::"
CASES = Cases(
    "http",
    covered={
        "S-186": f"{SECURITY}test_every_registered_route_needs_a_token",
        "S-187": f"{SECURITY}test_a_cookie_needs_the_xsrf_token",
        "S-188": f"{SECURITY}test_a_simple_request_of_a_foreign_page_is_refused",
        "S-189": f"{SECURITY}test_get_changes_nothing",
        "S-190": f"{SECURITY}test_a_foreign_page_cannot_read_the_event_stream",
        "S-191": f"{SECURITY}test_a_foreign_host_name_is_refused",
        "S-193": f"{SECURITY}test_the_allowed_origin_pattern_is_anchored",
        "S-194": "tests/integration/http/test_events.py::test_text_cannot_forge_an_event",
        "S-196": f"{SECURITY}test_neither_token_nor_key_is_written_anywhere",
        "S-197": f"{SECURITY}test_neither_token_nor_key_is_written_anywhere",
        "S-198": f"{BODIES}test_a_body_that_does_not_fit_is_refused "
        f"{BODIES}test_an_unexpected_fault_tells_only_where_to_look",
        "S-199": f"{SECURITY}test_a_session_id_cannot_be_a_path",
        "S-201": f"{BODIES}test_a_huge_chunked_body_is_refused_without_being_kept "
        f"{BODIES}test_a_deeply_nested_body_is_refused",
    },
)
EVIL = "https://evil.example"


@CASES.check("S-192")
async def web_socket(row: Row, site: Server) -> None:
    """There is no WebSocket of ours, and asking for one opens no other way in."""
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Origin": EVIL,
    }
    async with site.logged_in() as browser:
        for path, _ in ROUTES:
            url = path.replace("([^/]+)", "x").replace("(.*)", "y")
            answer = await browser.get(url, headers=upgrade)
            assert answer.status_code == 403, path


@CASES.check("S-200")
async def page_made_by_the_agent(row: Row, site: Server) -> None:
    """Jupyter serves files in a sandbox: a script in one has no cookie to call us with."""
    for name in ("report.html", "report.svg"):
        (site.root / name).write_text("<script>fetch('/vitto/api/sessions')</script>")
        async with site.logged_in() as browser:
            own = {"Referer": site.base}
            answer = await browser.get(f"{site.base}files/{name}", headers=own)
            assert answer.status_code == 200
            policy = answer.headers["Content-Security-Policy"]
            assert "sandbox" in policy and "allow-same-origin" not in policy
            called = await browser.get("sessions", headers={"Origin": "null"})
            assert called.status_code == 403


@pytest.mark.parametrize("id", sorted(CASES.checks))
async def test_http(id: str, site: Server) -> None:
    await CASES.checks[id](CASES.rows[id], site)


async def test_every_row_is_accounted_for() -> None:
    CASES.assert_all_accounted_for()
