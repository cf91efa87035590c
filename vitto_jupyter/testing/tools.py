"""Small tools for tests of the loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..policy.facts import Facts
from ..protocol.approval import ActionPreview, Preview
from ..protocol.base import Wire
from ..protocol.tool import Effect, ToolResult
from ..tools.base import Grant, Proposal, Tool, ToolContext, done

Act = Callable[[ToolContext, str, str | None], Awaitable[ToolResult]]


class TextInput(Wire):
    text: str


async def echo(ctx: ToolContext, text: str, edited: str | None) -> ToolResult:
    """The act of a simple tool that was given none: answers with its input."""
    return done(text if edited is None else edited)


def simple_tool(
    name: str, effect: Effect = "read", *, act: Act = echo, preview: Preview | None = None
) -> Tool:
    """A tool with the input `{text}`; `act(ctx, text, edited)` does its work."""

    async def propose(ctx: ToolContext, args: TextInput) -> Proposal:
        async def apply(grant: Grant) -> ToolResult:
            return await act(ctx, args.text, grant.edited)

        if effect == "read":
            return Proposal(facts=Facts(effect=effect), apply=apply)
        return Proposal(
            facts=Facts(effect=effect, code=args.text),
            apply=apply,
            title=f"{name} {args.text}",
            preview=preview or ActionPreview(text=args.text),
        )

    return Tool(
        name=name,
        description=f"Test tool {name}.",
        effect=effect,
        input_model=TextInput,
        propose=propose,
    )
