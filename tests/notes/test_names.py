from __future__ import annotations

import pytest

from notewell.notes.scope import is_conflict_copy, matches, printable, why_unprintable


@pytest.mark.parametrize(
    ("path", "glob"),
    [
        ("a.md", "*.md"),
        ("a.md", "**/*.md"),
        ("x/y/a.md", "**/*.md"),
        ("x/y/a.md", "**"),
        ("x/y/a.md", "x/**"),
        ("x/y/z/a.md", "x/**/a.md"),
        ("x/a.md", "x/**/a.md"),
        ("x/y/a.md", "**/y/**"),
        ("x/2026-11-15.md", "*/20[0-9][0-9]-??-??.md"),
        ("x/b.md", "*/[!a].md"),
    ],
)
def test_a_path_fits_its_glob(path: str, glob: str) -> None:
    assert matches(path.split("/"), glob.split("/"))


@pytest.mark.parametrize(
    ("path", "glob"),
    [
        ("x/a.md", "*.md"),
        ("x/a.md", "x"),
        ("a.md", "x/**"),
        ("x/y/a.md", "x/*"),
        ("a.md", "A.md"),
        ("axmd", "a.md"),
        ("a.md", ""),
        ("a.md", "[a.md"),
    ],
)
def test_a_path_beside_its_glob_does_not_fit(path: str, glob: str) -> None:
    assert not matches(path.split("/"), glob.split("/"))


@pytest.mark.parametrize(
    "name",
    [
        "a (laptop's conflicted copy 2026-11-15).md",
        "a (conflicted copy 2026-11-15 101010).md",
        "a (Conflicted copy laptop 202611151010).md",
        "a (conflict).md",
        "a (conflict 2026-11-15).md",
        "a (Case Conflict 1).md",
        "a (SFConflict user@example.org 2026-11-15-10-10-10).md",
        "a.sync-conflict-20261115-101010-ABCDEFG.md",
        "a_conflict-20261115-101010.md",
    ],
)
def test_what_a_sync_program_left_over_is_a_conflict_copy(name: str) -> None:
    assert is_conflict_copy(name)


@pytest.mark.parametrize(
    "name",
    ["conflict.md", "merge-conflicts.md", "1-1 (conflict with Bob).md", "conflicted copy.md"],
)
def test_a_note_about_conflicts_is_a_note(name: str) -> None:
    assert not is_conflict_copy(name)


def test_a_name_is_shown_so_that_it_fits_on_a_line() -> None:
    assert printable("caf\udce9\n\x1b[1m\u2028.md") == "caf\\xe9\\n\\x1b[1m\\u2028.md"
    assert printable("naïve 索引.md") == "naïve 索引.md"


def test_names_in_every_script_can_be_told() -> None:
    assert why_unprintable("naïve 索引 🎉.md") is None
    assert why_unprintable("a\tb.md") == "its name contains control characters"
    assert why_unprintable("\udcff.md") == "its name is not valid UTF-8"
