"""A toolset for Pydantic AI.

agent = Agent(model, toolsets=[toolset(memory)])
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from notewell.adapters.tool_calls import call_tool, offered_tools, require_package
from notewell.adapters.turns import TurnFacts
from notewell.tools import HERE, Failure, recall_section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic_ai import AgentRunResult, FunctionToolset, Tool
    from pydantic_ai.messages import ModelMessage

    from notewell.adapters.turns import AfterTurn, Turns
    from notewell.memory import Memory
    from notewell.tools import CallContext, ToolSpec

ID = "notewell"


def toolset(memory: Memory, context: CallContext = HERE, *, id: str = ID) -> FunctionToolset[Any]:  # noqa: A002 - as they call it
    """The tools, with instructions that tell the model when to use them."""
    with require_package("pydantic-ai-slim"):
        from pydantic_ai import FunctionToolset

    specs = offered_tools(context)
    instructions = recall_section([spec.name for spec in specs], context)
    return FunctionToolset(
        [_tool(memory, spec, context) for spec in specs], id=id, instructions=instructions or None
    )


def after_turn(
    turns: Turns, result: AgentRunResult[Any], *, compactions: int | None = None
) -> AfterTurn:
    """After each run: entries of what the user said, and whether a flush is due."""
    usage = result.response.usage
    used = usage.input_tokens + usage.output_tokens
    messages = result.new_messages()
    facts = TurnFacts(tuple(_said(messages)), used, tuple(_replied(messages)))
    return turns.after(facts, compactions=compactions)


def _replied(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if part.part_kind == "text":
                yield part.content


def _said(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if part.part_kind == "user-prompt":
                content = part.content
                # A prompt may also have images; only its texts count.
                texts = [content] if isinstance(content, str) else content
                yield from (text for text in texts if isinstance(text, str))


def _tool(memory: Memory, spec: ToolSpec, context: CallContext) -> Tool[Any]:
    with require_package("pydantic-ai-slim"):
        from pydantic_ai import Tool, ToolReturn
        from pydantic_ai.exceptions import ToolFailed

    def run(**arguments: object) -> ToolReturn:
        output = call_tool(memory, spec.name, arguments, context)
        if isinstance(output, Failure):
            # Not ModelRetry: that uses up the tool's retries and then ends the whole run.
            raise ToolFailed(output.to_text())
        return ToolReturn(output.to_text(), metadata=output.to_json())

    # Pydantic AI runs a function that is not a coroutine in a thread, as this library needs.
    return Tool.from_schema(run, spec.name, spec.description, deepcopy(spec.input_schema))
