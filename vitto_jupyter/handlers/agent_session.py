"""agent-session: the one-shot form; one POST whose response is the stream of the turn."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from ..protocol.events import EVENT
from ..protocol.requests import AgentSession, AgentToolResult, CreateSession, StartTurn
from ..services.event_hub import Subscription
from . import sse
from .agent_events import Translator, encode
from .base import VittoHandler


class AgentSessionHandler(VittoHandler):
    """Every message carries `session_id`, which the two other routes need."""

    @authenticated
    @authorized
    async def post(self) -> None:
        body = self.parse(AgentSession)
        sessions = self.services.sessions
        session_id = await self._session(body)
        after = await sessions.last_seq(session_id)
        calls, toolset = self.services.client_tools.prepare(
            wanted=body.tools,
            server=(await self.services.workbench()).toolset,
            mode=body.autonomy_level,
        )
        start = StartTurn(prompt=body.message, context=body.context, mode=body.autonomy_level)
        turn_id = await sessions.start_turn(session_id, start, toolset=toolset)
        self.services.client_tools.attach(session_id, calls)
        names = {tool if isinstance(tool, str) else tool.name for tool in body.tools}
        async with sessions.events(session_id, after=after) as subscription:
            await self._tell(
                subscription, Translator(names), session_id=session_id, turn_id=turn_id
            )

    async def _session(self, body: AgentSession) -> str:
        if body.session_id is not None:
            return (await self.services.sessions.get(body.session_id)).session_id
        path = body.context.path
        notebook_path = path if path is not None and path.endswith(".ipynb") else None
        created = await self.services.sessions.create(CreateSession(notebook_path=notebook_path))
        return created.session_id

    async def _tell(
        self,
        subscription: Subscription,
        translator: Translator,
        *,
        session_id: str,
        turn_id: str,
    ) -> None:
        self.set_header("Vitto-Session-Id", session_id)
        stream = sse.EventStream(self)
        await stream.flush()
        while not stream.gone:
            batch = await subscription.next(timeout_s=sse.HEARTBEAT_S)
            if not batch and subscription.closed:
                return
            if not batch:
                await stream.comment()
            for written in batch:
                event = EVENT.validate_json(written.line)
                if event.turn_id != turn_id:
                    continue
                for message in translator.messages(event):
                    line = encode({**message, "session_id": session_id})
                    await stream.send(line, event=str(message["type"]))
                if event.type == "turn.finished":
                    self.services.client_tools.end(session_id)
                    await stream.flush()
                    return
            await stream.flush()


class AgentToolResultHandler(VittoHandler):
    @authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        body = self.parse(AgentToolResult)
        self.services.client_tools.answer(self.id(session_id), body)
        self.finish({})


class AgentCancelHandler(VittoHandler):
    @authenticated
    @authorized
    async def post(self, session_id: str) -> None:
        self.reply(200, await self.services.sessions.cancel(self.id(session_id)))
