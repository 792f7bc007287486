"""Notes as MCP resources, and what a session begins with as one more.

    memory://MEMORY.md, memory://memory/2026-11-15.md   notes
    notewell://bootstrap                                MEMORY.md and the last two days

The URI of a note is its path, percent-encoded. It is decoded once and then treated like any other
path from a client: the package `notes` decides what may be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from notewell.errors import ConversationDenied, NotANote
from notewell.mcp_server.catalogue import SCHEME, SESSION_START
from notewell.tools import MAX_PATH_CHARS, bootstrap, escaped

if TYPE_CHECKING:
    from notewell.memory import Memory
    from notewell.tools import CallContext

MAX_NOTE_CHARS = 200_000
"""Of one note. More does not fit into the context of a conversation."""


def path_of(uri: str) -> str:
    """Raises `NotANote` for a URI that is not ours."""
    # A percent-encoded byte takes three characters.
    if not uri.startswith(SCHEME) or len(uri) > 3 * MAX_PATH_CHARS:
        raise NotANote(uri[:60])
    try:
        return unquote(uri.removeprefix(SCHEME), errors="strict")
    except UnicodeDecodeError:
        raise NotANote(uri[:60]) from None


def read_resource(memory: Memory, uri: str, context: CallContext) -> str:
    if uri != SESSION_START["uri"]:
        return read_note(memory, path_of(uri), context.session_key)
    if not context.is_private:
        raise ConversationDenied("the start of a session is for private conversations")
    return bootstrap(memory, context=context)


def read_note(memory: Memory, path: str, session_key: str | None = None) -> str:
    """The text of a note, truncated if it is very long."""
    text: str | None = None
    line = char = 1
    # `get` returns a limited number of lines, so a note is read in pages.
    while text is None or len(text) < MAX_NOTE_CHARS:
        page = memory.get(path, from_line=line, from_char=char, session_key=session_key)
        text = page.joined_to(text)
        if page.next_from is None:
            return escaped(text)
        line, char = page.next_from, page.next_char or 1
    return f"{escaped(text[:MAX_NOTE_CHARS])}\n… (truncated; continue with memory_get)"
