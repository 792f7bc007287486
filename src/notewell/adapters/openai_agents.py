"""Tools for the OpenAI Agents SDK.

agent = Agent(name="assistant", tools=tools(memory), instructions=recall_section(...))
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING

from notewell.adapters.tool_calls import call_tool_json, offered_tools, require_package
from notewell.adapters.turns import TurnFacts
from notewell.tools import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents import FunctionTool, Tool
    from agents.items import TResponseInputItem
    from agents.result import RunResultBase
    from agents.tool_context import ToolContext

    from notewell.adapters.turns import AfterTurn, Turns
    from notewell.memory import Memory
    from notewell.tools import CallContext, ToolSpec


def tools(memory: Memory, context: CallContext = HERE) -> list[Tool]:
    """The tools for `Agent(tools=…)`; none if the context has no memory."""
    return [_tool(memory, spec, context) for spec in offered_tools(context)]


def after_turn(
    turns: Turns, result: RunResultBase, *, compactions: int | None = None
) -> AfterTurn:
    """After each run: entries of what the user said, and whether a flush is due."""
    # The last request held the whole conversation; the sum of all requests would count it again.
    used = result.raw_responses[-1].usage.total_tokens if result.raw_responses else 0
    output = result.final_output
    replied = (output,) if isinstance(output, str) else ()
    facts = TurnFacts(tuple(_said(result.input)), used, replied)
    return turns.after(facts, compactions=compactions)


def _said(given: str | list[TResponseInputItem]) -> Iterator[str]:
    """What the user said last; earlier messages belong to earlier turns."""
    if isinstance(given, str):
        yield given
        return
    for item in reversed(given):
        content = item.get("content") if item.get("role") == "user" else None
        if isinstance(content, str):
            yield content
            return
        if isinstance(content, list):
            yield from (str(part["text"]) for part in content if part.get("type") == "input_text")
            return


def _tool(memory: Memory, spec: ToolSpec, context: CallContext) -> FunctionTool:
    with require_package("openai-agents"):
        from agents import FunctionTool

    async def invoke(_: ToolContext[object], arguments: str) -> str:
        # In a worker thread, because the library is synchronous. A write that has started is
        # finished even if the run is cancelled.
        output = await asyncio.to_thread(call_tool_json, memory, spec.name, arguments, context)
        return output.to_text()

    return FunctionTool(
        name=spec.name,
        description=spec.description,
        params_json_schema=deepcopy(spec.input_schema),
        on_invoke_tool=invoke,
        # Strict mode makes every argument required, and most of ours are better left out.
        strict_json_schema=False,
    )
