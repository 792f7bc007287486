"""Thin adapters for Python agent frameworks. They translate; the tools are those of `tools`.

answer.py          a tool call from any framework, answered without raising
packages.py        what to install when a framework is missing
openai_agents.py   OpenAI Agents SDK: tools(memory)
langchain.py       LangChain and LangGraph: tools(memory)
pydantic_ai.py     Pydantic AI: toolset(memory)
memories.py        the six commands of Claude's memory tool, over a folder of the workspace
wording.py         what the model may write to it, and the words it gets back
claude.py          Anthropic SDK: memory_tool(memory), async_memory_tool(memory)

No framework is a dependency of ours: each is imported by the function that hands out its objects.
"""
