"""The Jupyter server extension: traits to Settings, routes, and the wake-up event.

Imported when the server starts, so it imports nothing that is only needed later.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_data_dir
from jupyter_server.extension.application import ExtensionApp
from jupyter_server.utils import url_path_join
from traitlets import Bool, Enum, Float, Integer, Unicode

from .handlers.routes import PREFIX, ROUTES, lazy_handler
from .settings import Settings

if TYPE_CHECKING:
    from .composition import Composition

WAKE_SCHEMA = "https://vitto-jupyter.invalid/wake/v1"
# an option of the page, read by the front end
OPEN_SIDEBAR = "vittoOpen"
_DEFAULTS = Settings()


def _number(kind: type, name: str, help: str) -> Any:
    return kind(getattr(_DEFAULTS, name), min=0, help=help).tag(config=True)


class VittoApp(ExtensionApp):
    """Vitto, an agent that works inside Jupyter."""

    name = "vitto"
    extension_url = "/lab"
    load_other_extensions = True

    data_dir = Unicode(
        "", help="Folder for sessions. Default: `vitto` in Jupyter's data folder."
    ).tag(config=True)
    provider = Unicode(
        _DEFAULTS.provider,
        help='"auto" (Claude where there are credentials, else the demo), "anthropic" or "demo".',
    ).tag(config=True)
    model = Unicode(_DEFAULTS.model, help="Model id; empty for the provider's default.").tag(
        config=True
    )
    effort = Enum(
        ["low", "medium", "high", "xhigh", "max"],
        default_value=None,
        allow_none=True,
        help="How much work the model puts into an answer; empty for its default.",
    ).tag(config=True)
    base_url = Unicode(
        _DEFAULTS.base_url, help="Address of a Messages API server, in place of Anthropic's."
    ).tag(config=True)
    max_requests_per_turn = _number(
        Integer, "max_requests_per_turn", "Requests to the model in one turn."
    )
    max_same_failure = _number(
        Integer, "max_same_failure", "How often the same call may fail in one turn."
    )
    max_retries = _number(Integer, "max_retries", "Repeats of a request after a passing fault.")
    command_timeout_s = _number(Float, "command_timeout_s", "Seconds a command may take.")
    cell_wait_s = _number(
        Float, "cell_wait_s", "Seconds the agent waits for cells; then they go on without it."
    )
    cell_timeout_s = _number(
        Float, "cell_timeout_s", "The longest wait for cells that the agent may ask for, seconds."
    )
    read_timeout_s = _number(Float, "read_timeout_s", "Seconds that reading may take.")
    max_body_bytes = _number(Integer, "max_body_bytes", "Largest request body, in bytes.")

    open_sidebar = Bool(
        False, help="Open the side bar in every JupyterLab page; `vitto lab` sets it."
    ).tag(config=True)

    def initialize_handlers(self) -> None:
        self.handlers.extend(
            (url_path_join("/", PREFIX, path), lazy_handler(where), {"services": self.services})
            for path, where in ROUTES
        )

    def initialize_settings(self) -> None:
        if self.open_sidebar:
            config = self.serverapp.web_app.settings.setdefault("page_config_data", {})
            config[OPEN_SIDEBAR] = "true"
        self.serverapp.event_logger.register_event_schema(
            {
                "$id": WAKE_SCHEMA,
                "version": "1",
                "title": "Vitto has news",
                "description": "Tells pages to look; carries ids only, no content.",
                "type": "object",
                "properties": {"host_id": {"type": "string"}, "session_id": {"type": "string"}},
                "required": ["host_id", "session_id"],
            }
        )

    def services(self) -> Composition:
        """Everything behind the handlers, built at the first request."""
        return self._composition

    @cached_property
    def _composition(self) -> Composition:
        from .composition import Composition

        return Composition(settings=self.to_settings(), server=self.serverapp, wake=self.wake)

    def to_settings(self) -> Settings:
        return Settings(
            data_dir=Path(self.data_dir or Path(jupyter_data_dir(), "vitto")).expanduser(),
            provider=self.provider,
            model=self.model,
            effort=self.effort,
            base_url=self.base_url,
            max_requests_per_turn=self.max_requests_per_turn,
            max_same_failure=self.max_same_failure,
            max_retries=self.max_retries,
            command_timeout_s=self.command_timeout_s,
            cell_wait_s=self.cell_wait_s,
            cell_timeout_s=self.cell_timeout_s,
            read_timeout_s=self.read_timeout_s,
            max_body_bytes=self.max_body_bytes,
        )

    def wake(self, host_id: str, session_id: str) -> None:
        """Tell pages that a host, or a session, has news for them."""
        self.serverapp.event_logger.emit(
            schema_id=WAKE_SCHEMA, data={"host_id": host_id, "session_id": session_id}
        )

    def current_activity(self) -> list[str]:
        """The sessions with a running turn: a server that works is not idle."""
        if "_composition" not in vars(self):
            return []
        return self._composition.running_sessions()

    async def stop_extension(self) -> None:
        if "_composition" in vars(self):
            await self._composition.close()
