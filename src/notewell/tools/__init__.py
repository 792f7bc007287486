"""What an agent uses: four tools over one memory, and three more over entries.

ask.py        START HERE: the use case behind every question, also for the CLI and HTTP
wire.py       the JSON of hits, excerpts, status and sync reports, for every surface
calls.py      memory_search, memory_get, memory_append, memory_status
inputs.py     JSON arguments to typed values; the conversation that a tool is called from
outputs.py    typed values to the text that a model reads, and to JSON
failures.py   our errors as an agent sees them, each with a next step
fence.py      text from notes is marked as data, and cannot close its own mark
specs.py      the tools as hosts list them: descriptions and JSON Schemas
forget.py     what was said is found and removed, for `notewell forget`
forget_traces.py  nothing of it stays in indexes, caches and exports
keep.py       what was said is kept, for programs without hooks
flush.py      memory_flush: a host asks whether to write notes before a compaction
nearness.py   whether a hit is near enough for a prompt that did not ask
ordinary_words.py  words of a prompt that do not say what it is about, by language
recall.py     the system prompt's section on memory, and the context of a new session
entry_tools.py  memory_recall, memory_store, memory_forget; recall before a turn, capture after
entry_capture.py  capture from the transcript of a host
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.tools.ask import AskResult, OutOfTime, ask_memory, refresh_words, stop_after
    from notewell.tools.calls import (
        Output,
        call,
        memory_append,
        memory_get,
        memory_search,
        memory_status,
        refusal,
    )
    from notewell.tools.entry_capture import capture_transcript
    from notewell.tools.entry_tools import (
        Capture,
        Injection,
        capture_turn,
        memory_forget,
        memory_recall,
        memory_store,
        recall_for_turn,
    )
    from notewell.tools.failures import DISABLED, UNEXPECTED, Failure, failure_of
    from notewell.tools.fence import REMINDER, escaped, fenced
    from notewell.tools.flush import (
        MAX_SESSION_CHARS,
        MAX_TOKENS,
        FlushInput,
        FlushOutput,
        flush_decision,
        memory_flush,
    )
    from notewell.tools.forget import (
        Findings,
        NotePlace,
        find_forgettable,
        finish_forgetting,
        forget_found,
        has_unfinished,
        request_of,
    )
    from notewell.tools.inputs import (
        HERE,
        MAX_LINE,
        MAX_PATH_CHARS,
        MAX_SECTION_CHARS,
        AppendInput,
        CallContext,
        GetInput,
        SearchInput,
    )
    from notewell.tools.keep import KeptSaid, keep_said, keep_transcript, store_turns
    from notewell.tools.nearness import is_near, nearness_of
    from notewell.tools.outputs import (
        AppendOutput,
        GetOutput,
        SearchOutput,
        StatusOutput,
        ToolHit,
    )
    from notewell.tools.recall import (
        TOOLS_LINE,
        bootstrap,
        last_session,
        recall_section,
        recalled_for,
    )
    from notewell.tools.specs import ENTRY_TOOLS, TOOLS, ToolSpec
    from notewell.tools.wire import (
        JSON_VERSION,
        answer_json,
        excerpt_json,
        fallback_json,
        hit_json,
        ignored_json,
        pick,
        public_status_json,
        report_figures,
        report_json,
        score_json,
        status_json,
        without_private,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "ask": "AskResult OutOfTime ask_memory refresh_words stop_after",
            "calls": ("Output call memory_append memory_get memory_search memory_status refusal"),
            "entry_capture": "capture_transcript",
            "entry_tools": (
                "Capture Injection capture_turn memory_forget memory_recall memory_store "
                "recall_for_turn"
            ),
            "failures": "DISABLED Failure UNEXPECTED failure_of",
            "fence": "REMINDER escaped fenced",
            "flush": (
                "FlushInput FlushOutput MAX_SESSION_CHARS MAX_TOKENS flush_decision memory_flush"
            ),
            "forget": (
                "Findings NotePlace find_forgettable finish_forgetting forget_found "
                "has_unfinished request_of"
            ),
            "inputs": (
                "AppendInput CallContext GetInput HERE MAX_LINE MAX_PATH_CHARS "
                "MAX_SECTION_CHARS SearchInput"
            ),
            "outputs": "AppendOutput GetOutput SearchOutput StatusOutput ToolHit",
            "keep": "KeptSaid keep_said keep_transcript store_turns",
            "nearness": "is_near nearness_of",
            "recall": "TOOLS_LINE bootstrap last_session recall_section recalled_for",
            "specs": "ENTRY_TOOLS TOOLS ToolSpec",
            "wire": (
                "JSON_VERSION answer_json excerpt_json fallback_json hit_json ignored_json pick "
                "public_status_json report_figures report_json score_json status_json "
                "without_private"
            ),
        },
    )
