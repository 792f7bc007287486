"""Tools for the OpenAI Agents SDK.

agent = Agent(name="assistant", tools=tools(memory), instructions=recall_section(...))
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING

from notewell.adapters.answer import answer_json, offered
from notewell.adapters.packages import needing
from notewell.tools import HERE

if TYPE_CHECKING:
    from agents import FunctionTool, Tool
    from agents.tool_context import ToolContext

    from notewell.memory import Memory
    from notewell.tools import CallContext, ToolSpec


def tools(memory: Memory, context: CallContext = HERE) -> list[Tool]:
    """What goes into `Agent(tools=…)`; none where `context` has no memory."""
    return [_tool(memory, spec, context) for spec in offered(context)]


def _tool(memory: Memory, spec: ToolSpec, context: CallContext) -> FunctionTool:
    with needing("openai-agents"):
        from agents import FunctionTool

    async def invoke(_: ToolContext[object], arguments: str) -> str:
        # In a thread, because the library is synchronous; a write goes on when a run is cancelled.
        output = await asyncio.to_thread(answer_json, memory, spec.name, arguments, context)
        return output.to_text()

    return FunctionTool(
        name=spec.name,
        description=spec.description,
        params_json_schema=deepcopy(spec.input_schema),
        on_invoke_tool=invoke,
        # Strict mode makes every argument required, and most of ours are better left out.
        strict_json_schema=False,
    )
