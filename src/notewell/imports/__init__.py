"""Imports: what another memory program, or a chat app, has kept, taken over into this memory.

registry.py       START HERE: PROGRAMS, by the name that `notewell import` takes
records.py        the form that all of them are read into
files.py          JSON, zip archives, SQLite and Markdown of other programs, opened without trust
claude_mem.py, mem0.py, basic_memory.py, memsearch.py, server_memory.py   memory programs
markdown.py       what those that keep Markdown have in common
chatgpt.py, claude_export.py   data exports of chat apps
conversations.py  what those have in common
plan.py           which notes are made of entries and notes: a pure decision
write.py          the notes made, and recorded in the history

Conversations are kept as `notewell sessions import` keeps them (`capture.importing`).

Invariants: the files of other programs are only read; an import only makes new notes; what is
there already is not imported again; secrets are masked before anything is written.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.imports.plan import ImportPlan
    from notewell.imports.records import (
        ImportedConversation,
        ImportedEntry,
        ImportedNote,
        MemoryProgram,
        Reading,
    )
    from notewell.imports.registry import PROGRAMS
    from notewell.imports.write import Imported, import_reading, preview_reading
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "plan": "ImportPlan",
            "records": "ImportedConversation ImportedEntry ImportedNote MemoryProgram Reading",
            "registry": "PROGRAMS",
            "write": "Imported import_reading preview_reading",
        },
    )
