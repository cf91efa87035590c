"""The error tree. Imported by every layer; imports nothing of ours.

Three audiences: the *model* (ToolError, turned into a tool result), the *user* (UserError,
turned into an HTTP status with `{code, message, hint}`, and ProviderError, shown in the
transcript) and the *operator* (everything else: 500 and a log entry).
"""

from __future__ import annotations


class VittoError(Exception):
    """Base of all our errors.

    Args:
        message: What happened, in one sentence.
        code: A stable word, e.g. `edit_conflict`.
        hint: What to do about it; may be empty.
    """

    code = "internal"
    hint = ""

    def __init__(self, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.hint = hint or type(self).hint


# -- for the model ---------------------------------------------------------------------------


class ToolError(VittoError):
    """A tool could not do what was asked; becomes a failed tool result."""

    code = "tool_failed"


class DocumentNotFound(ToolError):
    code = "not_found"


class PathRefused(ToolError):
    """The path leaves the contents root, is not a usable name, or is protected."""

    code = "path_refused"


class NotText(ToolError):
    """The file is binary, a directory, or in an encoding that cannot be decoded."""

    code = "not_text"


class EditConflict(ToolError):
    """What is there is not what the edit was based on; nothing was written."""

    code = "edit_conflict"


class WriteFailed(ToolError):
    """Writing or reading back failed; the message says what is on disk now."""

    code = "write_failed"


class KernelUnavailable(ToolError):
    """No kernel, an unknown kernel, or one that died."""

    code = "kernel_unavailable"


class DeadlineExceeded(ToolError):
    """A call did not end in time; the message says what it waited for."""

    code = "deadline"


# -- for the user ----------------------------------------------------------------------------


class UserError(VittoError):
    """A request that cannot be met; `status` is the HTTP status."""

    code = "bad_request"
    status = 400


class BadRequest(UserError):
    pass


class NotFound(UserError):
    code = "not_found"
    status = 404


class Conflict(UserError):
    """The state of the session or approval does not allow this now."""

    code = "conflict"
    status = 409


class TooLarge(UserError):
    code = "too_large"
    status = 413


class ProviderError(VittoError):
    """The language model could not answer.

    `retryable` tells whether the same request may succeed later; `retry_after_s` is the
    server's own wish in seconds, when it gave one.
    """

    code = "provider_failed"

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        hint: str = "",
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class StorageFailed(VittoError):
    """A session's own files could not be written; nothing after that was kept."""

    code = "storage_failed"
    hint = "Free space or mend the permissions of Vitto's data folder, then send it again."
