"""How a turn ends, in words for a person. Pure; imported by agent and services."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import VittoError
from ..protocol.events import ErrorInfo, FinishReason


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a turn; `error` explains every reason but "done"."""

    reason: FinishReason
    error: ErrorInfo | None = None


DONE = Outcome("done")
_GO_ON = "Send “go on” to continue from here."
_NEW_SESSION = "Start a new session; copy over what still matters."


def failure(err: VittoError) -> Outcome:
    """The turn failed; the prompt is kept."""
    return Outcome("error", ErrorInfo(code=err.code, message=err.message, hint=err.hint))


def refused(detail: str) -> Outcome:
    said = f" It says: {detail}" if detail else ""
    return Outcome(
        "error",
        ErrorInfo(
            code="refusal",
            message=f"The model declined to answer.{said}",
            hint="Put it differently, or start a new session: what is in this one may be why.",
        ),
    )


def context_full() -> Outcome:
    return Outcome(
        "limit",
        ErrorInfo(
            code="context_full",
            message="This session has filled the model's context; the answer was cut off.",
            hint=_NEW_SESSION,
        ),
    )


def cut_too_often() -> Outcome:
    return Outcome(
        "limit",
        ErrorInfo(
            code="output_limit",
            message="The answer kept running into the model's output limit.",
            hint=f"{_GO_ON} Asking for less at once helps.",
        ),
    )


def never_handed_over() -> Outcome:
    return Outcome(
        "limit",
        ErrorInfo(
            code="unrun_calls",
            message="The model kept writing tool calls without handing over, so none was run.",
            hint="Try another model: this one may not support tools.",
        ),
    )


def too_many_requests(limit: int) -> Outcome:
    return Outcome(
        "limit",
        ErrorInfo(
            code="request_limit",
            message=f"The turn reached its limit of {limit} requests to the model.",
            hint=_GO_ON,
        ),
    )


def same_failure() -> Outcome:
    return Outcome(
        "limit",
        ErrorInfo(
            code="same_failure",
            message="The model kept repeating a call that fails, so the turn was ended.",
            hint="Look at the failed call above, and say what it should do instead.",
        ),
    )


def unknown_stop(stop_reason: str) -> Outcome:
    return Outcome(
        "error",
        ErrorInfo(
            code="unknown_stop_reason",
            message=f"The model stopped for a reason that Vitto does not know: {stop_reason}.",
            hint=_GO_ON,
        ),
    )
