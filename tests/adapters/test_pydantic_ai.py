"""Pydantic AI runs its own loop over our toolset; the models are its own doubles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from notewell import Memory
from notewell.adapters.pydantic_ai import toolset
from notewell.tools import TOOLS, CallContext

Reply = Callable[[list[ModelMessage], AgentInfo], ModelResponse]


def scripted(*calls: tuple[str, str | dict[str, Any]]) -> tuple[FunctionModel, list[AgentInfo]]:
    """A model that makes these calls one after another, and what it was told each time."""
    left, told = list(calls), []

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info)
        if not left:
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = left.pop(0)
        return ModelResponse(parts=[ToolCallPart(name, arguments)])

    return FunctionModel(reply), told


def answers(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]


def run(memory: Memory, *calls: tuple[str, str | dict[str, Any]]) -> list[ToolReturnPart]:
    model, _ = scripted(*calls)
    done = asyncio.run(Agent(model, toolsets=[toolset(memory)]).run("Hello."))
    assert done.output == "done"
    return answers(done.all_messages())


def test_an_agent_remembers_and_finds_it_in_the_next_call(memory: Memory) -> None:
    appended, found, read = run(
        memory,
        ("memory_append", {"text": "Berta prefers tea."}),
        ("memory_search", {"query": "tea"}),
        ("memory_get", {"path": "MEMORY.md", "from": 3, "lines": 1}),
    )
    assert appended.metadata["added"] is True
    assert "Berta prefers tea." in str(found.content)
    assert found.metadata["results"]
    assert "The router ships in May." in str(read.content)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_search", {}),
        ("memory_search", {"query": 7}),
        ("memory_search", {"query": "x", "agent": "other"}),
        ("memory_get", {"path": "../../etc/passwd"}),
        ("memory_append", {"text": ""}),
    ],
    ids=str,
)
def test_bad_calls_use_up_no_retries_and_end_no_run(
    memory: Memory, name: str, arguments: dict[str, Any]
) -> None:
    for part in run(memory, *[(name, arguments)] * 5):
        assert part.outcome == "failed"
        assert "Next step: " in str(part.content)


def test_every_tool_can_be_called_from_its_schema(memory: Memory) -> None:
    """Their test model makes up arguments that fit the schema, and calls every tool."""
    done = asyncio.run(Agent(TestModel(), toolsets=[toolset(memory)]).run("Hello."))
    assert {part.tool_name for part in answers(done.all_messages())} == {s.name for s in TOOLS}


def test_the_model_is_told_when_to_search(memory: Memory) -> None:
    model, told = scripted()
    asyncio.run(Agent(model, toolsets=[toolset(memory)]).run("Hello."))
    assert "call memory_search" in (told[0].instructions or "")
    assert [tool.name for tool in told[0].function_tools] == [spec.name for spec in TOOLS]


def test_no_tools_and_no_words_where_there_is_no_memory(memory: Memory) -> None:
    model, told = scripted()
    asyncio.run(Agent(model, toolsets=[toolset(memory, CallContext(enabled=False))]).run("Hello."))
    assert told[0].function_tools == []
    assert not told[0].instructions
