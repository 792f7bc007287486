"""The programs that memories can be imported from, by the name that `notewell import` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.imports import (
    basic_memory,
    chatgpt,
    claude_export,
    claude_mem,
    mem0,
    memsearch,
    server_memory,
)

if TYPE_CHECKING:
    from notewell.imports.records import MemoryProgram

PROGRAMS: dict[str, MemoryProgram] = {
    module.PROGRAM.id: module.PROGRAM
    for module in (
        claude_mem,
        mem0,
        basic_memory,
        memsearch,
        server_memory,
        chatgpt,
        claude_export,
    )
}
