"""The OpenAI Agents SDK runs its own loop over our tools; only the model is a script."""

from __future__ import annotations

import asyncio
import json

import pytest
from agents import Agent, FunctionTool, RunConfig, Runner
from tests.adapters.scripted import ScriptedModel

from notewell import Memory
from notewell.adapters.openai_agents import tools
from notewell.adapters.tool_calls import call_tool_json
from notewell.tools import TOOLS, CallContext, Failure


def run(memory: Memory, *calls: tuple[str, str], talk: CallContext | None = None) -> ScriptedModel:
    model = ScriptedModel(*calls)
    agent = Agent(name="a", model=model, tools=tools(memory, talk or CallContext()))
    # Traces would be sent to OpenAI.
    done = asyncio.run(Runner.run(agent, "Hello.", run_config=RunConfig(tracing_disabled=True)))
    assert done.final_output == "done"
    return model


def test_an_agent_remembers_and_finds_it_in_the_next_call(memory: Memory) -> None:
    model = run(
        memory,
        ("memory_append", json.dumps({"text": "Berta prefers tea."})),
        ("memory_search", json.dumps({"query": "tea"})),
        ("memory_get", json.dumps({"path": "MEMORY.md", "from": 3, "lines": 1})),
        ("memory_status", ""),
    )
    appended, found, read, status = model.answers
    assert "memory/" in appended
    assert "Berta prefers tea." in found
    assert "<recalled" in found
    assert "The router ships in May." in read
    assert "2 notes" in status


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_search", "{not json"),
        ("memory_search", "[]"),
        ("memory_search", "null"),
        ("memory_search", "{}"),
        ("memory_search", '{"query": 7}'),
        ("memory_search", '{"query": "x", "agent": "other"}'),
        ("memory_get", '{"path": "../../etc/passwd"}'),
        ("memory_append", '{"text": ""}'),
    ],
    ids=lambda value: value[:30],
)
def test_a_bad_call_is_answered_and_the_run_goes_on(
    memory: Memory, name: str, arguments: str
) -> None:
    (answer,) = run(memory, (name, arguments)).answers
    assert "Next step: " in answer


def test_json_that_no_reader_gets_to_the_end_of_is_answered_too(memory: Memory) -> None:
    output = call_tool_json(memory, "memory_status", "[" * 100_000, CallContext())
    assert isinstance(output, Failure)


def test_the_tools_are_described_as_everywhere(memory: Memory) -> None:
    for spec, tool in zip(TOOLS, tools(memory), strict=True):
        assert isinstance(tool, FunctionTool)
        assert (tool.name, tool.description) == (spec.name, spec.description)
        assert tool.params_json_schema == spec.input_schema
        assert tool.params_json_schema is not spec.input_schema


def test_no_tools_where_there_is_no_memory(memory: Memory) -> None:
    assert run(memory, talk=CallContext(enabled=False)).offered == []
