"""What of the daily notes is proposed for MEMORY.md, and that nothing is written unasked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from notewell.capture import NoteWriter
from notewell.capture.history import writes
from notewell.capture.review import Statement, _alike, _grouped, accept, decline, preview, propose
from notewell.capture.search_journal import recall_days, record_recall
from notewell.capture.undo import undo_write
from notewell.types import Span

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def write(place: NoteWriter, name: str, text: str) -> None:
    path = Path(place.notes.location) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def texts(place: NoteWriter) -> list[str]:
    return [one.text for one in propose(place.notes, place.folder)]


def test_what_the_user_asked_to_remember_is_proposed(place: NoteWriter) -> None:
    write(
        place, "memory/2026-11-14.md", "- Remember that the router is a TL-841.\n- sunny today\n"
    )
    write(
        place,
        "memory/2026-11-15-talk.md",
        "User: 记住:我喜欢喝绿茶\n\nAssistant: remember this: ok\n",
    )
    assert texts(place) == ["我喜欢喝绿茶", "The router is a TL-841."]
    first = propose(place.notes, place.folder)[1]
    assert first.why == ("you asked to remember it",)
    assert first.sources == ("memory/2026-11-14.md#L1-L1",)


def test_a_fact_of_several_days_is_proposed_once(place: NoteWriter) -> None:
    for day in (13, 14, 15):
        text = (
            f"# Day\n\n- Ada prefers meetings in the morning\n- weather report number {day * 7}\n"
        )
        write(place, f"memory/2026-11-{day}.md", text)
    (only,) = propose(place.notes, place.folder)
    assert only.text == "Ada prefers meetings in the morning"
    assert only.why == ("written on 3 days",)
    assert only.sources[0] == "memory/2026-11-15.md#L3-L3"


def test_said_twice_on_one_day_is_said_once(place: NoteWriter) -> None:
    write(place, "memory/2026-11-15.md", "- Ada likes green tea\n\nAda likes green tea\n")
    assert texts(place) == []


def test_what_is_recalled_on_many_days_is_proposed(place: NoteWriter) -> None:
    write(place, "memory/2026-11-10.md", "- the office key is at the front desk\n")
    for day in range(11, 14):
        places = [("memory/2026-11-10.md", Span(1, 1))]
        record_recall(place.folder, places * 2, date(2026, 11, day))
    assert len(recall_days(place.folder)["memory/2026-11-10.md", 1]) == 3
    (only,) = propose(place.notes, place.folder)
    assert only.why == ("recalled on 3 days",)


def test_what_is_known_or_was_declined_is_not_proposed_again(place: NoteWriter) -> None:
    write(
        place,
        "memory/2026-11-15.md",
        "- remember: Ada likes green tea\n- remember: Bo eats fish\n",
    )
    write(place, "MEMORY.md", "# Mine\n\n- Ada likes green tea, remember\n")
    (only,) = propose(place.notes, place.folder)
    assert only.text == "Bo eats fish"
    decline(place.folder, [only.id], now=NOW)
    assert texts(place) == []


def test_code_comments_headings_and_long_texts_state_nothing(place: NoteWriter) -> None:
    long = "remember that " + "word " * 300
    write(
        place,
        "memory/2026-11-15.md",
        f"# remember that this is a title\n```\nremember that this is code\n```\n"
        f"<!-- remember that this is hidden -->\n- {long}\n",
    )
    assert texts(place) == []


def test_an_entry_goes_on_below_its_bullet(place: NoteWriter) -> None:
    write(
        place,
        "memory/2026-11-15.md",
        "- remember that the plan\n  has two parts\n- other things here\n",
    )
    (only,) = propose(place.notes, place.folder)
    assert only.text == "The plan has two parts"
    assert only.sources == ("memory/2026-11-15.md#L1-L2",)


def test_proposing_writes_nothing_and_accepting_can_be_undone(place: NoteWriter) -> None:
    write(place, "memory/2026-11-15.md", "- remember that we ship on Friday\n")
    write(place, "MEMORY.md", "# Mine\n")
    (only,) = propose(place.notes, place.folder)
    memory = Path(place.notes.location) / "MEMORY.md"
    assert memory.read_bytes() == b"# Mine\n"
    diff = preview(memory.read_bytes(), only)
    accept(place, only, "Remembered", now=NOW)
    added = [line[1:] for line in diff.splitlines() if line.startswith("+") and line[1:2] != "+"]
    assert memory.read_text(encoding="utf-8").splitlines()[1:] == added
    assert added[-1].startswith(
        "- We ship on Friday (from memory/2026-11-15.md#L1-L1) <!-- @review"
    )
    assert texts(place) == []
    undo_write(place.notes, place.folder, writes(place.folder, place.notes)[0].id, now=NOW)
    assert memory.read_bytes() == b"# Mine\n"
    assert (
        (Path(place.notes.location) / "memory/2026-11-15.md")
        .read_bytes()
        .startswith(b"- remember")
    )


@given(st.lists(st.frozensets(st.sampled_from([*"abcdefgh", "7", "8"]), min_size=1), max_size=12))
def test_looking_up_rare_words_finds_what_comparing_all_would(sets: list[frozenset[str]]) -> None:
    told = [Statement("p", Span(1, 1), "", words) for words in sets]
    expected: list[list[Statement]] = []
    for one in told:
        same = next((group for group in expected if _alike(one.words, group[0].words)), None)
        if same is None:
            expected.append([one])
        else:
            same.append(one)
    assert _grouped(told) == expected
