"""Thin adapters for Python agent frameworks. They translate; the tools are those of `tools`.

tool_calls.py       a tool call from any framework, answered without raising
openai_agents.py    OpenAI Agents SDK: tools(memory)
langchain.py        LangChain and LangGraph: tools(memory)
pydantic_ai.py      Pydantic AI: toolset(memory)
claude.py           Anthropic SDK: memory_tool(memory), async_memory_tool(memory)
claude_commands.py  the six commands of Claude's memory tool, over a folder of the workspace

No framework is a dependency: each is imported by the function that returns its objects.
"""
