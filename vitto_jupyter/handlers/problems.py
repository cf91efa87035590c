"""What went wrong, as an HTTP answer `{code, message, hint}`. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError
from tornado.web import HTTPError

from ..errors import BadRequest, StorageFailed, TooLarge, ToolError, UserError, VittoError

CODES = {
    400: "bad_request",
    401: "forbidden",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}
MESSAGES = {
    403: "You are not allowed to do this.",
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
}
HINTS = {403: "Log in to the Jupyter server (token, cookie and XSRF header), then try again."}


class UnsupportedMediaType(UserError):
    code = "unsupported_media_type"
    status = 415
    hint = "Send JSON with Content-Type: application/json."


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    code: str
    message: str
    hint: str = ""


def problem_of(error: BaseException | None, *, status: int, log_id: str) -> Problem:
    """The answer to an error; what is nobody's business is left out of it.

    Args:
        status: What Tornado made of it.
        log_id: Where an operator finds the rest.
    """
    if isinstance(error, UserError):
        return Problem(error.status, error.code, error.message, error.hint)
    if isinstance(error, StorageFailed):
        return Problem(507, error.code, error.message, error.hint)
    if isinstance(error, ToolError):
        return Problem(400, error.code, error.message, error.hint)
    if isinstance(error, VittoError):
        return Problem(500, error.code, error.message, error.hint)
    if isinstance(error, HTTPError) or error is None:
        message = MESSAGES.get(status, f"The request failed ({status}).")
        return Problem(status, CODES.get(status, "http_error"), message, HINTS.get(status, ""))
    return Problem(
        500,
        "internal",
        "Vitto failed on this request.",
        f"Try again; the server log has details under {log_id}.",
    )


def body_problem(err: ValidationError) -> UserError:
    """Where a body does not fit, without repeating what was sent."""
    first = err.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        if "recursion" in first["msg"]:
            return TooLarge("The body is nested too deeply.")
        return BadRequest("The body is not valid JSON.", code="invalid_json")
    if first["type"] == "recursion_loop":
        return TooLarge("The body is nested too deeply.")
    where = ".".join(str(part) for part in first["loc"])
    return BadRequest(f"{where or 'body'}: {first['msg']}", code="invalid_body")
