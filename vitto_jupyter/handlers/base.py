"""The base of all handlers: who may call, what a body is, how an error is answered.

Handlers translate between HTTP and services; they decide nothing. Errors are mapped here,
once, for all of them.
"""

from __future__ import annotations

import secrets
from typing import Any, Protocol, TypeVar

from jupyter_server.base.handlers import APIHandler
from pydantic import BaseModel, ValidationError
from tornado.web import HTTPError, stream_request_body

from ..errors import BadRequest, NotFound, TooLarge, UserError
from ..protocol.base import is_id
from ..services.client_tools import ClientTools
from ..services.hosts import Hosts
from ..services.provider_choice import ProviderChoice
from ..services.sessions import SessionManager, Workbench
from ..settings import Settings
from .problems import UnsupportedMediaType, body_problem, problem_of

M = TypeVar("M", bound=BaseModel)
RESOURCE = "vitto"


class Services(Protocol):
    """What handlers call; built by app.py."""

    settings: Settings
    sessions: SessionManager
    hosts: Hosts
    choice: ProviderChoice
    client_tools: ClientTools

    async def workbench(self) -> Workbench: ...


@stream_request_body
class VittoHandler(APIHandler):
    """Base handler; subclasses decorate each method with `authenticated` and `authorized`."""

    auth_resource = RESOURCE

    def initialize(self, services: Services) -> None:
        self.services = services
        self._body = bytearray()
        self._body_bytes = 0
        self._log_id = ""

    async def prepare(self) -> None:
        # past APIHandler's own check, which answers a foreign Origin with 404
        await super(APIHandler, self).prepare()
        # a method that a route does not have would be let through without a login
        is_stranger = self.current_user is None and self.request.method != "OPTIONS"
        if is_stranger or not self.check_origin():
            raise HTTPError(403)

    def check_xsrf_cookie(self) -> None:
        try:
            super().check_xsrf_cookie()
        except HTTPError as err:
            raise HTTPError(403) from err

    # -- what comes in -----------------------------------------------------------------------

    def data_received(self, chunk: bytes) -> None:
        """Keep the body up to the limit; the rest is read and dropped, then refused."""
        self._body_bytes += len(chunk)
        if self._body_bytes <= self.services.settings.max_body_bytes:
            self._body += chunk

    def parse(self, model: type[M]) -> M:
        """The body as `model`.

        Raises:
            UnsupportedMediaType, TooLarge, BadRequest.
        """
        media_type = self.request.headers.get("Content-Type", "").partition(";")[0]
        if media_type.strip().lower() != "application/json":
            raise UnsupportedMediaType("The body must be JSON.")
        limit = self.services.settings.max_body_bytes
        if self._body_bytes > limit:
            raise TooLarge(f"The body is larger than {limit:,} bytes.")
        try:
            return model.model_validate_json(bytes(self._body))
        except ValidationError as err:
            raise body_problem(err) from None

    def query(self, name: str, default: str = "") -> str:
        """A query argument as it was sent; Tornado's own getter strips and replaces characters.

        Raises:
            BadRequest: it is not UTF-8.
        """
        values = self.request.query_arguments.get(name)
        try:
            return values[-1].decode() if values else default
        except UnicodeDecodeError:
            raise BadRequest(f"{name} is not UTF-8.") from None

    def number(self, name: str, default: int) -> int:
        """A whole number, not negative, from the query."""
        text = self.query(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 16):
            raise BadRequest(f"{name} must be a whole number, not negative.")
        return int(text)

    def id(self, text: str) -> str:
        """An id from the path. Raises NotFound for what cannot be one."""
        if not is_id(text):
            raise NotFound("There is nothing with this id.")
        return text

    # -- what goes out -----------------------------------------------------------------------

    def reply(self, status: int, body: BaseModel | None = None) -> None:
        """Answer with a wire value, or with nothing."""
        self.set_status(status)
        self.finish(body.model_dump_json() if body is not None else None)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs["exc_info"][1] if "exc_info" in kwargs else None
        problem = problem_of(error, status=status_code, log_id=self._log_id)
        self.set_status(problem.status)
        self.finish({"code": problem.code, "message": problem.message, "hint": problem.hint})

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Expected refusals in one line; everything else for an operator, under an id.

        Never the address with its query: it may hold the token.
        """
        where = f"{self.request.method} {self.request.path}"
        if isinstance(error, (UserError, HTTPError)):
            self.log.debug("%s was refused: %s", where, error)
            return
        self._log_id = secrets.token_hex(4)
        self.log.error("%s failed (log id %s)", where, self._log_id, exc_info=(kind, error, trace))
