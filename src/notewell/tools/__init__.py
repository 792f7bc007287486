"""What an agent sees: four tools over one memory, their wording and their JSON; and three more
over entries, where there are any.

talk.py       the conversation a tool is called from: set by the host, never by the model
inputs.py     JSON arguments to typed values
outputs.py    typed values to JSON, and to the text a model reads
failures.py   our errors as an agent may see them, with the next step
fence.py      text from notes is marked as data, and cannot end its mark
budget.py     how much of it goes into a conversation
freshness.py  a first question makes the first index
calls.py      START HERE: memory_search, memory_get, memory_append, memory_status
lance_tools.py  memory_recall, memory_store, memory_forget
lance_turns.py  what a host may recall before a turn and capture after it
specs.py      the tools as hosts list them: descriptions and JSON Schemas
page.py       the page about them in the documentation
recall.py     what a system prompt says about them, and what a session begins with
"""

from notewell.tools.calls import (
    call,
    memory_append,
    memory_get,
    memory_search,
    memory_status,
)
from notewell.tools.failures import Failure
from notewell.tools.inputs import AppendInput, GetInput, SearchInput
from notewell.tools.lance_tools import memory_forget, memory_recall, memory_store
from notewell.tools.outputs import AppendOutput, Found, GetOutput, SearchOutput, StatusOutput
from notewell.tools.recall import bootstrap, recall_section
from notewell.tools.specs import ENTRY_TOOLS, TOOLS, ToolSpec
from notewell.tools.talk import Talk

__all__ = [
    "ENTRY_TOOLS",
    "TOOLS",
    "AppendInput",
    "AppendOutput",
    "Failure",
    "Found",
    "GetInput",
    "GetOutput",
    "SearchInput",
    "SearchOutput",
    "StatusOutput",
    "Talk",
    "ToolSpec",
    "bootstrap",
    "call",
    "memory_append",
    "memory_forget",
    "memory_get",
    "memory_recall",
    "memory_search",
    "memory_status",
    "memory_store",
    "recall_section",
]
