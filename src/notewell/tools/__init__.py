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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.tools.caller import Talk
    from notewell.tools.calls import (
        HERE,
        Output,
        call,
        memory_append,
        memory_get,
        memory_search,
        memory_status,
        note_answer,
    )
    from notewell.tools.entry_tools import memory_forget, memory_recall, memory_store
    from notewell.tools.failures import DISABLED, UNEXPECTED, Failure, failure_of, without_places
    from notewell.tools.fence import REMINDER, escaped, fenced
    from notewell.tools.first_index import take_in_first
    from notewell.tools.inputs import (
        MAX_LINE,
        MAX_PATH_CHARS,
        MAX_SECTION_CHARS,
        AppendInput,
        GetInput,
        SearchInput,
    )
    from notewell.tools.outputs import AppendOutput, Found, GetOutput, SearchOutput, StatusOutput
    from notewell.tools.recall import bootstrap, recall_section, recalled_for
    from notewell.tools.specs import ENTRY_TOOLS, TOOLS, ToolSpec
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "caller": "Talk",
            "calls": (
                "HERE Output call memory_append memory_get memory_search memory_status note_answer"
            ),
            "entry_tools": "memory_forget memory_recall memory_store",
            "failures": "DISABLED Failure UNEXPECTED failure_of without_places",
            "fence": "REMINDER escaped fenced",
            "first_index": "take_in_first",
            "inputs": "AppendInput GetInput MAX_LINE MAX_PATH_CHARS MAX_SECTION_CHARS SearchInput",
            "outputs": "AppendOutput Found GetOutput SearchOutput StatusOutput",
            "recall": "bootstrap recall_section recalled_for",
            "specs": "ENTRY_TOOLS TOOLS ToolSpec",
        },
    )
