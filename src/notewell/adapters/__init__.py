"""Thin adapters for Python agent frameworks. They translate; the tools are those of `tools`.

tool_calls.py       a tool call from any framework, answered without raising
turns.py            before and after a turn: start of a session, entries, flush
openai_agents.py    OpenAI Agents SDK: tools(memory), after_turn(turns, result)
langchain.py        LangChain and LangGraph: tools(memory), after_turn(turns, messages)
pydantic_ai.py      Pydantic AI: toolset(memory), after_turn(turns, result)
claude.py           Anthropic SDK: memory_tool(memory), async_memory_tool(memory), after_turn
claude_commands.py  the six commands of Claude's memory tool, over a folder of the workspace

No framework is a dependency: each is imported by the function that returns its objects.
"""
