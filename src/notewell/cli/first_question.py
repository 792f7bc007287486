"""The end of `notewell init`: a question that is answered from the user's own notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.cli import search
from notewell.cli.init import STARTER
from notewell.cli.output import tell
from notewell.cli.parser import build_parser
from notewell.cli.place import memory_of
from notewell.cli.prompts import ask_line
from notewell.errors import NotewellError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from notewell.memory import Memory

TOPIC_CHARS = 80
NO_TOPICS = frozenset({"home", "index", "memory", "note", "notes", "readme", "todo", "untitled"})
"""Headings that say what a file is, not what it is about."""
TOPIC_NOTES = 8
"""Of the newest notes, until one has a heading to ask about."""
SHOWN_HITS = 3
"""They must fit on a screen with the question."""


def ask_first_question(place: Sequence[str], append: str) -> None:
    """Until the user types nothing. `append` is the command that adds an entry to this memory.
    Raises `NoAnswer`."""
    with memory_of(build_parser("index").parse_args(["index", *place])) as memory:
        topic = next(_topics(memory), None)
    if topic is None:
        tell(f"There is nothing to ask yet: `{append} 'what to remember'` adds an entry.")
        return
    question = ask_line(f"Ask your notes something [{topic}]: ") or topic
    while question:
        words = ["search", *place, "-n", str(SHOWN_HITS), "--", question]
        search.run(build_parser("search").parse_args(words))
        question = ask_line("Another question, or Enter to end: ")


def _topics(memory: Memory) -> Iterator[str]:
    """What the newest notes are about, for a user who wants to see an answer first: headings,
    then first lines."""
    found = memory.notes.scan().notes.values()
    newest = sorted(found, key=lambda note: (-note.stat.mtime_ns, note.path))[:TOPIC_NOTES]
    lines = [line for note in newest for line in _lines(memory, note.path)]
    headings = [line for line in lines if line.startswith("#")]
    for line in (*headings, *lines):
        title = line.strip("#-* \t")
        # A date is a heading, too, but no question.
        if any(character.isalpha() for character in title) and title.lower() not in NO_TOPICS:
            yield title[:TOPIC_CHARS]


def _lines(memory: Memory, path: str) -> list[str]:
    try:
        text = memory.notes.read(path).text
    except NotewellError:  # The index has named it.
        return []
    return [] if text == STARTER else text.split("\n")
