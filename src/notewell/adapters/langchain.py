"""Tools for LangChain and LangGraph: whatever takes a `BaseTool` takes these.

model.bind_tools(tools(memory));  ToolNode(tools(memory));  create_agent(model, tools(memory))
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from notewell.adapters.tool_calls import call_tool, offered_tools, require_package
from notewell.adapters.turns import TurnFacts
from notewell.core import token_weight
from notewell.tools import HERE, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool

    from notewell.adapters.turns import AfterTurn, Turns
    from notewell.memory import Memory
    from notewell.tools import CallContext, ToolSpec


def tools(memory: Memory, context: CallContext = HERE) -> list[BaseTool]:
    """A tool message has the text for the model; its `artifact` has the same as JSON."""
    return [_tool(memory, spec, context) for spec in offered_tools(context)]


def after_turn(
    turns: Turns, messages: Sequence[BaseMessage], *, compactions: int | None = None
) -> AfterTurn:
    """After each turn, with all messages of the conversation: entries of what the user said, and
    whether a flush is due."""
    said = [message.text for message in messages if message.type == "human"][-1:]
    facts = TurnFacts(tuple(said), _used_tokens(messages), tuple(_replied(messages)))
    return turns.after(facts, compactions=compactions)


def _replied(messages: Sequence[BaseMessage]) -> list[str]:
    """What the assistant said after the last message of the user."""
    replied: list[str] = []
    for message in reversed(messages):
        if message.type == "human":
            break
        if message.type == "ai" and message.text:
            replied.insert(0, message.text)
    return replied


def _used_tokens(messages: Sequence[BaseMessage]) -> int:
    """As the model counted them in its last reply; estimated if it did not."""
    for message in reversed(messages):
        usage = getattr(message, "usage_metadata", None)
        if usage:
            return int(usage["total_tokens"])
    # `token_weight` counts quarters of a token.
    return sum(token_weight(message.text) for message in messages) // 4


def _tool(memory: Memory, spec: ToolSpec, context: CallContext) -> BaseTool:
    with require_package("langchain-core"):
        from langchain_core.tools import BaseTool, ToolException

    def run(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        output = call_tool(memory, spec.name, arguments, context)
        if isinstance(output, Failure):
            # `handle_tool_error` turns it into a message whose status is "error".
            raise ToolException(output.to_text())
        return output.to_text(), output.to_json()

    class NotewellTool(BaseTool):
        """Not a StructuredTool: that one reserves the argument names `config` and `self`."""

        def _run(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
            return run(arguments)

        async def _arun(self, /, *_: Any, **arguments: Any) -> tuple[str, dict[str, Any]]:
            return await asyncio.to_thread(run, arguments)

    return NotewellTool(
        name=spec.name,
        description=spec.description,
        args_schema=deepcopy(spec.input_schema),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )
