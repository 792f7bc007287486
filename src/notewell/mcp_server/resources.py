"""Notes as resources: `memory://MEMORY.md`, `memory://memory/2026-11-15.md`.

An address is a note's path, percent-encoded. It is decoded once and then treated as any other path
a stranger sends: the notes room decides what it may read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from notewell.errors import BadRequest, NotANote
from notewell.tools import MAX_PATH_CHARS, escaped

if TYPE_CHECKING:
    from notewell.memory import Memory

SCHEME = "memory://"
TEMPLATE = "memory://{+path}"
PAGE = 100
"""Notes a page of the list."""
MAX_CHARS = 200_000
"""Of one note; more is no context for a conversation but a file to work on."""


class Listed(NamedTuple):
    """Some of the notes, newest names first, and where the rest begins."""

    paths: tuple[str, ...]
    next_cursor: str | None


def address_of(path: str) -> str:
    return SCHEME + quote(path, safe="/", errors="surrogatepass")


def path_of(address: str) -> str:
    """Raises `NotANote` for what is no address of ours."""
    if not address.startswith(SCHEME) or len(address) > 3 * MAX_PATH_CHARS:
        raise NotANote(address[:60])
    try:
        return unquote(address.removeprefix(SCHEME), errors="strict")
    except UnicodeDecodeError:
        raise NotANote(address[:60]) from None


def list_notes(memory: Memory, cursor: str | None) -> Listed:
    """MEMORY.md first, then by name from the end: days are newest first."""
    first = _offset(cursor)
    paths = sorted(memory.paths(), key=lambda path: ("/" not in path, path), reverse=True)
    rest = first + PAGE < len(paths)
    return Listed(tuple(paths[first : first + PAGE]), str(first + PAGE) if rest else None)


def read_note(memory: Memory, address: str) -> str:
    """The note behind an address, from its beginning."""
    path = path_of(address)
    text, line = "", 1
    while len(text) < MAX_CHARS:
        page = memory.get(path, from_line=line)
        text = f"{text}\n{page.text}" if line > 1 else page.text
        if page.next_from is None:
            return escaped(text)
        line = page.next_from
    return f"{escaped(text[:MAX_CHARS])}\n… (cut; memory_get reads on)"


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise BadRequest("this is no cursor of this list")
    return int(cursor)
