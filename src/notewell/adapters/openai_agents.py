"""Tools for the OpenAI Agents SDK.

agent = Agent(name="assistant", tools=tools(memory), instructions=recall_section(...))
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING

from notewell.adapters.tool_calls import call_tool_json, offered_tools, require_package
from notewell.tools import HERE

if TYPE_CHECKING:
    from agents import FunctionTool, Tool
    from agents.tool_context import ToolContext

    from notewell.memory import Memory
    from notewell.tools import CallContext, ToolSpec


def tools(memory: Memory, context: CallContext = HERE) -> list[Tool]:
    """The tools for `Agent(tools=…)`; none if the context has no memory."""
    return [_tool(memory, spec, context) for spec in offered_tools(context)]


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
