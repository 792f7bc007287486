"""Which notes an import makes, and which it does not make again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from notewell.imports import ImportedEntry, ImportedNote, ImportPlan, Reading
from notewell.imports.plan import MAX_BYTES, KnownImports, known_imports, plan_import

AT = datetime(2026, 10, 2, 23, 30, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9


def plan(
    *texts: ImportedEntry | ImportedNote, known: KnownImports | None = None, hours: int = 0
) -> ImportPlan:
    entries = tuple(text for text in texts if isinstance(text, ImportedEntry))
    notes = tuple(text for text in texts if isinstance(text, ImportedNote))
    return plan_import(
        "mem0",
        "mem0",
        Reading(entries, notes),
        known or KnownImports(),
        redact=lambda text: text.replace(SECRET, "[masked]"),
        zone=timezone(timedelta(hours=hours)),
    )


def known_after(*plans: ImportPlan) -> KnownImports:
    notes = [(f"memory/{note.stem}.md", note.text) for one in plans for note in one.notes]
    return known_imports("mem0", notes)


def test_the_entries_of_a_day_are_one_note() -> None:
    made = plan(ImportedEntry("m-1", "One.", AT), ImportedEntry("m-2", "Two\nlines.", AT))
    (note,) = made.notes
    assert (note.stem, note.entries, made.new) == ("imported/mem0/2026-10-02", 2, 2)
    assert note.text == (
        "# mem0, 2026-10-02\n"
        "\n"
        "- One. <!-- @mem0 #m-1/2026-10-02T23:30:00Z/70277bfc409b -->\n"
        "- Two\n"
        "  lines.\n"
        "  <!-- @mem0 #m-2/2026-10-02T23:30:00Z/157e8755137c -->\n"
    )


def test_the_day_is_the_users() -> None:
    made = plan(ImportedEntry("m-1", "One.", AT), hours=2)
    assert made.notes[0].stem == "imported/mem0/2026-10-03"


def test_a_time_at_the_end_of_the_calendar_is_none() -> None:
    last = datetime(9999, 12, 31, 23, 30, tzinfo=UTC)
    assert plan(ImportedEntry("m-1", "One.", last), hours=2).notes[0].stem.endswith("/undated")


def test_what_has_no_time_goes_by_its_subject() -> None:
    made = plan(
        ImportedEntry("a", "One.", subject="Harbour project"),
        ImportedEntry("b", "Two.", subject="harbour Project"),
        ImportedEntry("c", "Three.", subject="Harbour project"),
        ImportedEntry("d", "Four."),
    )
    assert [(note.stem.rpartition("/")[2], note.entries) for note in made.notes] == [
        ("harbour-project", 2),
        ("harbour-project", 1),
        ("undated", 1),
    ]
    assert made.notes[0].text.startswith("# Harbour project\n")


def test_a_second_import_makes_nothing() -> None:
    texts = (ImportedEntry("m-1", "One.", AT), ImportedNote("p/a b.md", "# A\n\nText"))
    again = plan(*texts, known=known_after(plan(*texts)))
    assert (again.notes, again.unchanged) == ((), 2)


def test_a_changed_entry_comes_beside_the_earlier_one() -> None:
    first = plan(ImportedEntry("m-1", "One.", AT))
    later = ImportedEntry("m-1", "One, changed.", AT + timedelta(days=3))
    second = plan(later, known=known_after(first))
    assert (second.new, second.changed) == (0, 1)
    assert second.notes[0].stem == "imported/mem0/2026-10-05"
    # The earlier version may come back, too: it is there.
    assert plan(ImportedEntry("m-1", "One.", AT), known=known_after(first, second)).notes == ()


def test_the_same_entry_twice_is_written_once() -> None:
    entry = ImportedEntry("m-1", "One.", AT)
    assert plan(entry, entry).new == 1


def test_of_a_note_that_grew_only_the_rest_is_written() -> None:
    texts = ["# Day\n\n- one\n", "# Day\n\n- one\n- two\n", "# Day\n\n- one\n- two\n- three\n"]
    made = list[ImportPlan]()
    for days, text in enumerate(texts):
        note = ImportedNote("p/2026-10-02.md", text, AT + timedelta(days=days))
        made.append(plan(note, known=known_after(*made)))
    assert [one.notes[0].text.split("\n")[:-2] for one in made] == [
        ["# Day", "", "- one"],
        ["- two"],
        ["- three"],
    ]
    assert [one.changed for one in made] == [0, 1, 1]


def test_of_a_note_that_was_edited_the_new_version_is_written() -> None:
    first = plan(ImportedNote("p/a.md", "# A\n\none\n", AT))
    second = plan(ImportedNote("p/a.md", "# A\n\ntwo\n", AT), known=known_after(first))
    assert second.notes[0].text.startswith("# A\n\ntwo\n<!-- @mem0 #p/a.md/")


def test_secrets_are_masked_everywhere() -> None:
    made = plan(
        ImportedEntry("m-1", f"The key is {SECRET}.", AT),
        ImportedEntry("m-2", "Text.", subject=f"About {SECRET}"),
        ImportedNote("p/a.md", f"token: {SECRET}\n"),
    )
    assert len(made.notes) == 3
    for note in made.notes:
        assert SECRET not in f"{note.stem} {note.text} {note.example}"


def test_a_text_cannot_pretend_to_be_another_one() -> None:
    forged = "One. <!-- @mem0 #m-9/undated/000000000000 -->"
    made = plan(ImportedEntry("m-1", forged, AT), ImportedNote("p/a.md", f"{forged}\n"))
    assert set(known_after(made).digests) == {"m-1", "p/a.md"}


def test_names_are_ones_that_every_file_system_takes() -> None:
    paths = ("../up.md", "a:b/c?.md", "con.md", "x" * 300 + ".md", "p/\u202e.md", "p/größe.md")
    stems = [plan(ImportedNote(path, "Text.\n")).notes[0].stem for path in paths]
    for stem in stems:
        names = stem.removeprefix("imported/mem0/").split("/")
        assert all(name and name.strip(".") and len(name) < 200 for name in names), stem
        assert not set(':?*"<>|\\') & set(stem)
    assert stems[2] == "imported/mem0/con-note"
    assert stems[-1] == "imported/mem0/p/größe"


def test_odd_ids_and_texts_are_no_obstacle() -> None:
    made = plan(
        ImportedEntry("an id -- with\nlines", "One.", AT),
        ImportedEntry("m-2", "NUL \0 and half \ud800 a pair", AT),
        ImportedEntry("m-3", "   ", AT),
        ImportedEntry("m-4", "x" * 70_000, AT),
    )
    assert made.new == 2
    assert [one.path for one in made.left_out] == ["m-3", "m-4"]
    assert (
        plan(ImportedEntry("an id -- with\nlines", "One.", AT), known=known_after(made)).new == 0
    )


def test_a_day_with_very_much_is_several_notes() -> None:
    many = [ImportedEntry(f"m-{number}", "x" * 60_000, AT) for number in range(20)]
    made = plan(*many)
    assert [note.stem for note in made.notes] == ["imported/mem0/2026-10-02"] * 2
    assert sum(note.entries for note in made.notes) == 20
    assert all(len(note.text) < MAX_BYTES + 70_000 for note in made.notes)
