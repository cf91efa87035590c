"""The routes, without the code behind them: a handler is imported at its first request."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler, stream_request_body

PREFIX = "vitto/api"
ID = "([^/]+)"

# path below the prefix -> module and class in this package
ROUTES = (
    ("sessions", "sessions.SessionsHandler"),
    (f"sessions/{ID}", "sessions.SessionHandler"),
    (f"sessions/{ID}/turns", "turns.TurnsHandler"),
    (f"sessions/{ID}/cancel", "turns.CancelHandler"),
    (f"sessions/{ID}/events", "events.EventsHandler"),
    (f"sessions/{ID}/approvals/{ID}", "approvals.ApprovalHandler"),
    (f"sessions/{ID}/questions/{ID}", "questions.QuestionHandler"),
    (f"hosts/{ID}", "hosts.HostHandler"),
    (f"hosts/{ID}/calls", "hosts.HostCallsHandler"),
    (f"hosts/{ID}/calls/{ID}", "hosts.HostCallHandler"),
    ("context", "context.ContextHandler"),
    ("providers", "providers.ProvidersHandler"),
    ("agent-session", "agent_session.AgentSessionHandler"),
    (f"agent-session/{ID}/tool-result", "agent_session.AgentToolResultHandler"),
    (f"agent-session/{ID}/cancel", "agent_session.AgentCancelHandler"),
    ("(.*)", "missing.MissingHandler"),
)


@cache
def handler_class(where: str) -> type[RequestHandler]:
    """The class behind an entry of ROUTES."""
    module, name = where.split(".")
    return getattr(import_module(f".{module}", __package__), name)


def lazy_handler(where: str) -> type[RequestHandler]:
    """A class that makes handlers of the class at `where`, importing it at the first one.

    A route takes the argument `services`, a function that gives them.
    """

    @stream_request_body
    class LazyHandler(RequestHandler):
        def __new__(  # type: ignore[misc]
            cls, application: Application, request: HTTPServerRequest, *, services: Callable
        ) -> RequestHandler:
            return handler_class(where)(application, request, services=services())

        def data_received(self, chunk: bytes) -> None:
            raise AssertionError("the handler that was made receives the data")

    return LazyHandler
