"""LangChain's own tool calling, and LangGraph's tool node in a graph."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from notewell import Memory
from notewell.adapters.langchain import tools
from notewell.tools import TOOLS, CallContext


def called(name: str, arguments: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": f"call-{number}", "type": "tool_call"}


def invoke(memory: Memory, name: str, arguments: dict[str, Any]) -> ToolMessage:
    (tool,) = [tool for tool in tools(memory) if tool.name == name]
    message = tool.invoke(called(name, arguments))
    assert isinstance(message, ToolMessage)
    return message


def test_a_tool_says_text_to_the_model_and_json_to_the_program(memory: Memory) -> None:
    message = invoke(memory, "memory_search", {"query": "router", "maxResults": 1})
    assert message.status == "success"
    assert "The router ships in May." in str(message.content)
    assert message.artifact["results"][0]["path"] == "MEMORY.md"


def test_an_argument_that_is_a_word_of_python_arrives(memory: Memory) -> None:
    message = invoke(memory, "memory_get", {"path": "MEMORY.md", "from": 3})
    assert message.artifact["startLine"] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": 7},
        {"query": "x", "agent": "other"},
        {"query": "x", "config": {"a": 1}},
        {"query": "x", "run_manager": "me"},
        {"query": "x", "self": 1},
        {"query": "x", "callbacks": []},
        {"query": "x", "func": 1},
    ],
    ids=str,
)
def test_a_bad_call_is_an_error_message_and_nothing_is_raised(
    memory: Memory, arguments: dict[str, Any]
) -> None:
    search = tools(memory)[0]
    now = search.invoke(called("memory_search", arguments))
    later = asyncio.run(search.ainvoke(called("memory_search", arguments)))
    assert now == later
    assert now.status == "error"
    assert "Next step: " in str(now.content)


def test_asynchronously_it_is_the_same(memory: Memory) -> None:
    search = tools(memory)[0]
    message = asyncio.run(search.ainvoke(called("memory_search", {"query": "router"})))
    assert "The router ships in May." in str(message.content)


def test_a_graph_writes_and_finds_what_it_wrote(memory: Memory) -> None:
    """A model that always makes its next call, LangGraph's node that runs it."""
    script = [
        AIMessage("", tool_calls=[called("memory_append", {"text": "Berta likes tea."}, 1)]),
        AIMessage("", tool_calls=[called("memory_search", {"query": "tea"}, 2)]),
        AIMessage("", tool_calls=[called("memory_get", {"path": "/etc/passwd"}, 3)]),
        AIMessage("done"),
    ]

    def model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [script.pop(0)]}

    def more(state: MessagesState) -> str:
        last = state["messages"][-1]
        return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode(tools(memory)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", more, ["tools", END])
    graph.add_edge("tools", "model")
    messages = graph.compile().invoke({"messages": [HumanMessage("Hello.")]})["messages"]
    told = [message for message in messages if isinstance(message, ToolMessage)]
    assert [message.status for message in told] == ["success", "success", "error"]
    assert "Berta likes tea." in str(told[1].content)
    assert messages[-1].content == "done"


def test_a_model_is_shown_our_names_words_and_schemas(memory: Memory) -> None:
    for spec, tool in zip(TOOLS, tools(memory), strict=True):
        shown = convert_to_openai_tool(tool)["function"]
        assert (shown["name"], shown["description"]) == (spec.name, spec.description)
        assert set(shown["parameters"]["properties"]) == set(spec.input_schema["properties"])


def test_no_tools_where_there_is_no_memory(memory: Memory) -> None:
    assert tools(memory, CallContext(enabled=False)) == []
