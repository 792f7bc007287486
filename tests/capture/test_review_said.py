"""What of a conversation is for good, and what is not: precise rather than complete."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from notewell.capture import FoundMessage, NoteWriter
from notewell.capture.review import Proposal, propose
from notewell.capture.review_said import said_sentences

START = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)

FOR_GOOD = [
    ("Remember that the staging server is called maple.", "asked"),
    ("please remember: deploys happen on Tuesdays only", "asked"),
    ("Don't forget that Ada is allergic to nuts.", "asked"),
    ("From now on answer in German.", "asked"),
    ("For future reference, invoices go to billing at example.", "asked"),
    ("Merk dir bitte, dass der Server Ahorn heißt.", "asked"),
    ("Bitte merke dir: wir liefern nur dienstags aus.", "asked"),
    ("Ab jetzt schreibst du Commits auf Englisch.", "asked"),
    ("记住我们周二发布版本", "asked"),
    ("We decided to use SQLite instead of Postgres.", "decided"),
    ("OK, we'll go with the blue logo.", "decided"),
    ("Let's stick with Python 3.11 for the service.", "decided"),
    ("Decision: the API stays on version two.", "decided"),
    ("Wir haben uns für Hetzner als Anbieter entschieden.", "decided"),
    ("Wir bleiben bei der alten Schnittstelle.", "decided"),
    ("I prefer tabs over spaces.", "preferred"),
    ("I always use uv for virtual environments.", "preferred"),
    ("My favourite tea is Darjeeling.", "preferred"),
    ("Please never commit directly to main.", "preferred"),
    ("Ich arbeite lieber am Morgen an schweren Dingen.", "preferred"),
    ("Mir ist ein kurzes Protokoll lieber als ein langes.", "preferred"),
    ("No, the port is 8443.", "corrected"),
    ("That's wrong. Our office is in Leipzig.", "corrected"),
    ("Nein, mein Sohn heißt Emil und nicht Erik.", "corrected"),
    ("Das stimmt nicht. Die Datenbank läuft auf Port 5433.", "corrected"),
]
PASSING = [
    "Do you remember that bug from Tuesday?",
    "I remember that we had this before.",
    "Can you remember this for me?",
    "Don't forget to run the tests.",
    "Remember to breathe.",
    "We haven't decided on a name yet.",
    "If we decide to use Redis, we need a cache.",
    "Have we decided on the logo?",
    "Should we go with blue?",
    "Maybe we'll go with the second option.",
    "I would prefer it if you could run the tests now, can you?",
    "No, run it again.",
    "No, that's fine.",
    "No thanks, the build is still running now.",
    "Wrong file, open the other one.",
    "Always happy to help!",
    "Never mind.",
    "Nein, mach weiter.",
    "Wie haben wir uns entschieden?",
    "Haben wir das schon beschlossen?",
    "Vielleicht nehmen wir Postgres.",
    "Actually can you fix the test?",
    "let's go",
    "fix the login page",
    "run `always use x`",
    "Wenn wir uns für A entschieden haben, dann B.",
    "Commit and push.",
]


@pytest.mark.parametrize(("text", "cue"), FOR_GOOD)
def test_what_is_for_good_is_recognized(text: str, cue: str) -> None:
    assert cue in [sentence.cue for sentence in said_sentences(text)]


@pytest.mark.parametrize("text", PASSING)
def test_what_is_said_in_passing_is_not(text: str) -> None:
    assert [sentence for sentence in said_sentences(text) if sentence.cue] == []


def said(*texts: str, speaker: str = "User") -> list[FoundMessage]:
    """One message a day."""
    return [
        FoundMessage(
            f"sessions/kept/claude-{day}.jsonl", 3, speaker, START + timedelta(days=day), text
        )
        for day, text in enumerate(texts)
    ]


def proposals(place: NoteWriter, *messages: FoundMessage) -> list[Proposal]:
    return propose(place.notes, place.folder, messages)


def test_a_proposal_names_the_lines_it_rests_on(place: NoteWriter) -> None:
    (only,) = proposals(place, *said("Hello! We decided to use SQLite instead of Postgres. Ok?"))
    assert only.text == "We decided to use SQLite instead of Postgres."
    assert only.why == ("you decided it",)
    assert only.sources == ("sessions/kept/claude-0.jsonl#L3-L3",)


def test_a_fact_that_is_said_on_several_days_is_proposed_and_one_of_one_day_is_not(
    place: NoteWriter,
) -> None:
    fact, once = "Our office is in Leipzig near the station.", "My sister has a red bicycle."
    (only,) = proposals(place, *said(fact, once, fact))
    assert only.text == fact
    assert only.why == ("said on 2 days",)
    assert only.sources[0] == "sessions/kept/claude-2.jsonl#L3-L3"
    assert len(only.sources) == 2


def test_the_assistant_states_nothing(place: NoteWriter) -> None:
    text = "Remember that we decided to use SQLite."
    assert proposals(place, *said(text, speaker="Assistant")) == []


def test_what_memory_md_says_already_is_not_proposed(place: NoteWriter) -> None:
    file = Path(place.notes.location) / "MEMORY.md"
    file.write_text("- We decided to use SQLite instead of Postgres\n", encoding="utf-8")
    assert proposals(place, *said("We decided to use SQLite instead of Postgres.")) == []
