"""Whatever a note holds and is given: every old byte stays, and every entry is whole."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from notewell.core import find_units
from notewell.notes import Block, Entry
from notewell.notes.append_format import add_lines, is_utf16
from notewell.notes.note_file import clean
from notewell.notes.workspace import Workspace

DAY = date(2026, 11, 15)

# What Markdown makes something of, where it may hurt most: at the start of a line.
STARTS = st.sampled_from(
    [
        *("", "", "# ", "- ", "* ", "+ ", "1. ", "> ", "    ", "  ", "\t", "-   ", "- - "),
        *("---", "- -", "===", "```", "~~~", "<!--", "-->", "<div>", "<script>", "</script>"),
        *("| a |", "[a]: b", "\\", "`", "\u00a0", "\x0b", "\x0c", "\u2028", "<!-- @mcp -->"),
        *("<!-- @mcp #1 -->", "- a <!-- @mcp -->"),
    ]
)
LINES = st.builds(
    "".join,
    st.lists(st.one_of(STARTS, st.sampled_from(["word", "字", " ", "-", "é"])), max_size=4),
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)
ENTRIES = st.builds(
    Entry,
    TEXTS.map("x{}".format) | TEXTS.map("- x{}".format) | TEXTS.map("{}\nx".format),
    st.sampled_from(["mcp", "flush"]),
    st.none() | st.sampled_from(["1", "2", "12"]),
)


@st.composite
def torn_notes(draw: st.DrawFn) -> bytes:
    """A note as people and crashes leave it: any line ends, cut off anywhere."""
    eol = draw(st.sampled_from([b"\n", b"\r\n"]))
    data = draw(TEXTS).encode().replace(b"\n", eol) + draw(st.sampled_from([b"", eol, eol * 2]))
    data += draw(st.sampled_from([b"", b"\xff", b"\0", b"\r", "\ufeff".encode()]))
    return data[: draw(st.integers(0, len(data)))]


def after_append(data: bytes, entry: Entry) -> bytes:
    """What an append makes of the bytes of a note, decided without a disk."""
    block = Block(entry)
    return data if block.find(data) else data + b"".join(add_lines(data, block.lines))


@settings(max_examples=200, deadline=None)
@given(before=torn_notes(), entries=st.lists(ENTRIES, min_size=1, max_size=4))
def test_what_was_there_stays_and_each_entry_is_there_once(
    before: bytes, entries: list[Entry]
) -> None:
    for entry in entries:
        block = Block(entry)
        known = block.find(before)
        after = after_append(before, entry)
        span = block.find(after)
        assert after.startswith(before)
        assert span is not None
        assert (known == span) == (after == before)
        if known is None and not is_utf16(after):
            assert after.endswith(b"\n")
            lines = clean(after)[0].split("\n")
            assert lines[span.start_line - 1 : span.end_line] == block.lines
        assert after_append(after, entry) == after
        before = after


@settings(max_examples=200, deadline=None)
@given(entries=st.lists(ENTRIES, min_size=2, max_size=4))
def test_no_entry_changes_what_markdown_makes_of_its_neighbours(entries: list[Entry]) -> None:
    data = b""
    for entry in entries:
        data = after_append(data, entry)
    text = data.decode()
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    at_the_top = {token.type for token in tokens if token.level == 0}
    assert at_the_top <= {"bullet_list_open", "bullet_list_close"}
    starts = {
        token.map[0] + 1
        for token in tokens
        if token.type == "list_item_open" and token.level == 1 and token.map
    }
    units = find_units(text.split("\n"))
    assert not any(unit.heading for unit in units)
    for entry in entries:
        if span := Block(Entry(entry.text, entry.origin)).find(data):
            assert span.start_line in starts
            assert span.start_line - 1 in {unit.start for unit in units}


@settings(max_examples=40, deadline=None)
@given(before=torn_notes(), entries=st.lists(ENTRIES, min_size=1, max_size=3))
def test_what_is_decided_is_what_the_file_then_holds(before: bytes, entries: list[Entry]) -> None:
    assume(not is_utf16(before))
    with tempfile.TemporaryDirectory(prefix="notewell-property-") as folder:
        workspace = Workspace.open(Path(folder))
        note = Path(folder) / "memory/2026-11-15.md"
        note.parent.mkdir()
        note.write_bytes(before)
        for entry in entries:
            expected = after_append(before, entry)
            done = workspace.append(entry, DAY)
            assert note.read_bytes() == expected
            assert done.added == (expected != before)
            assert done.span == Block(entry).find(expected)
            assert (done.start_byte, done.end_byte) == (len(before), len(expected))
            before = expected
