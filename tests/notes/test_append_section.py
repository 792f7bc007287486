"""An entry under a heading of MEMORY.md: found by its heading, and nothing above it moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from notewell.core import ChunkLimits, chunk
from notewell.errors import BadEntry, NoteNotWritable
from notewell.notes import Entry, Section
from notewell.notes.workspace import Workspace

ONE = Entry("new", "mcp")
MARKED = "- new <!-- @mcp -->\n"


def appended(workspace: Path, before: str, heading: str) -> str:
    """What was added, below what was there."""
    note = workspace / "MEMORY.md"
    note.write_text(before, encoding="utf-8")
    done = Workspace.open(workspace).append(ONE, Section(heading))
    after = note.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert after.split("\n")[done.span.start_line - 1] == MARKED.strip()
    return after[len(before) :]


@pytest.mark.parametrize(
    ("before", "heading", "added"),
    [
        # The last section is gone on with,
        ("# Me\n\n## A\n\n- old\n", "A", MARKED),
        ("# Me\n\n## A\n\n- old\n", " a ", MARKED),
        ("# Me\n\n## A\n\n- old\n", "## A", MARKED),
        ("# Me\n\n## A", "A", f"\n\n{MARKED}"),
        ("Me\n==\n\nprose\n", "me", f"\n{MARKED}"),
        # any other is opened once more,
        ("## A\n\n- old\n\n## B\n\n- old\n", "A", f"\n## A\n\n{MARKED}"),
        ("# Me\n## A\n### Deep\n\nx\n", "A", f"\n## A\n\n{MARKED}"),
        ("# X\n## A\n# Y\n## B\n", "A", f"\n# X\n\n## A\n\n{MARKED}"),
        ("# X\n### A\n## B\n", "A", f"\n# X\n\n### A\n\n{MARKED}"),
        ("## A\n\n# Y\n", "A", f"\n## A\n\n{MARKED}"),
        ("# Me\n\ntwo\nlines\n---\n\n## B\n", "Two LINES", f"\n## two lines\n\n{MARKED}"),
        # the last where there are several,
        ("# X\n## A\n# Y\n## A\n", "A", f"\n{MARKED}"),
        ("## A\n### A\n", "## A", f"\n## A\n\n{MARKED}"),
        # and a new one is made where there is none.
        ("# Me\n\n- old\n", "A", f"\n## A\n\n{MARKED}"),
        ("# Me\n\n- old", "#### A", f"\n\n#### A\n\n{MARKED}"),
        ("```\n# A\n```\n", "A", f"\n## A\n\n{MARKED}"),
        ("", "A", f"## A\n\n{MARKED}"),
        # A way of headings, as a hit shows it, tells namesakes apart.
        ("# X\n## A\n# Y\n## A\n", "# X › ## A", f"\n# X\n\n## A\n\n{MARKED}"),
        ("# X\n## A\n# Y\n## A\n", "y › a", f"\n{MARKED}"),
        ("# X\n## A\n", "# X › ## B", f"\n## B\n\n{MARKED}"),
        ("# X\n## A\n", "B › C", f"\n## B\n\n### C\n\n{MARKED}"),
    ],
)  # fmt: skip
def test_an_entry_stands_under_its_heading(
    tmp_path: Path, before: str, heading: str, added: str
) -> None:
    assert appended(tmp_path, before, heading) == added


def test_search_sees_one_section_however_often_its_heading_is_repeated(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    (tmp_path / "MEMORY.md").write_text("# Me\n## A\n# Work\n## A\n## B\n", encoding="utf-8")
    for number, heading in enumerate(["A", "B", "A", "A", "B"]):
        workspace.append(Entry(f"entry {number}", "mcp"), Section(heading))
    text = workspace.read("MEMORY.md").text
    found = {
        line: made.heading
        for made in chunk(text, ChunkLimits(tokens=8))
        for line in made.text.split("\n")
        if line.startswith("- entry")
    }
    assert [found[f"- entry {number} <!-- @mcp -->"][-1] for number in range(5)] == list("ABAAB")
    assert set(found.values()) == {"# Work › ## A", "# Work › ## B"}


@pytest.mark.parametrize("there", [[], ["MEMORY.md"], ["memory.md"], ["MEMORY.md", "memory.md"]])
def test_the_curated_note_is_the_one_the_user_has(tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).touch()
    path = Workspace.open(tmp_path).append(ONE, Section("A")).path
    assert path == (there or ["MEMORY.md"])[0]
    assert {file.name for file in tmp_path.iterdir()} == {path, *there}


@pytest.mark.parametrize("before", ["```\nopen\n", "# A\n\n<!-- open\n"])
def test_where_no_heading_can_stand_nothing_is_written(tmp_path: Path, before: str) -> None:
    note = tmp_path / "MEMORY.md"
    note.write_text(before, encoding="utf-8")
    with pytest.raises(NoteNotWritable, match="would swallow the heading; close it first"):
        Workspace.open(tmp_path).append(ONE, Section("B"))
    assert note.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    "heading", ["", "  ", "##", "# \n ", "a\0b", "a\ud800", "a\nb", "A ##", "x" * 201, "A › "]
)
def test_what_cannot_be_a_heading_is_refused(tmp_path: Path, heading: str) -> None:
    with pytest.raises(BadEntry, match="cannot be a heading"):
        Workspace.open(tmp_path).append(ONE, Section(heading))
    assert list(tmp_path.iterdir()) == []


def test_a_link_for_a_curated_note_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.touch()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/MEMORY.md").symlink_to(outside)
    with pytest.raises(NoteNotWritable, match=r"'MEMORY\.md': a symbolic link"):
        Workspace.open(tmp_path / "ws").append(ONE, Section("A"))
    assert outside.stat().st_size == 0


def test_the_same_words_under_another_heading_are_another_entry(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path)
    for heading in ("Likes", "Dislikes", "Likes", "Dislikes"):
        workspace.append(Entry("coffee", "test"), Section(heading))
    text = (tmp_path / "MEMORY.md").read_text(encoding="utf-8")
    assert text.count("- coffee <!-- @test -->") == 2
    assert text.index("## Likes") < text.index("coffee") < text.index("## Dislikes")
