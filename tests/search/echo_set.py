"""A memory in which people asked again and again: what is known, the conversations, and which note
should come first for each question. Made up; `test_echoes.py` measures it."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

TODAY = date(2026, 11, 15)

NOTES = {
    "MEMORY.md": """# Memory

## Decisions
- The office espresso machine is the Rancilio Silvia Pro X, chosen on 2026-10-02 by Marta.
- We ship on Fridays, never before a holiday.
- Backups go to the NAS in the cellar, every night at two.

## People
- Nadia is allergic to peanuts and sesame.
- The landlord of the flat in Lisbon is Duarte; the rent is due on the third of each month.
""",
    "memory/network.md": """# Network

The office VPN endpoint is vpn.example.net on port 51820.
The guest password of the wireless network changes every quarter.
""",
    "memory/deploy.md": """# Deploying

A release is tagged from main, built by the pipeline, and rolled out with `make rollout`.
To go back, run `make rollback` with the previous tag.
""",
    "memory/2026-09-14.md": """# 2026-09-14

- Dentist moved to Tuesday the 22nd at half past nine.
- Lena's birthday dinner is at the Thai place by the harbour.
""",
    "memory/2026-10-20.md": """# 2026-10-20

- Switched the staging database from MySQL to Postgres 17 because of the JSON indexes.
- The car passed its inspection, the next one is due in two years.
""",
}

NO_ANSWERS = (
    "I could not find anything about that in the notes.",
    "There is no record of it in my memory.",
    "I don't know; nothing is noted about it.",
    "Sorry, the notes do not say.",
    "I have no information about this, should I write it down once you know?",
    "Nothing in memory mentions it.",
    "I looked, but no note is about that.",
)


class AskedQuestion(NamedTuple):
    """A question that seven sessions asked in vain."""

    text: str
    first: str
    """The note that should come first."""


KNOWN = (
    AskedQuestion("Which espresso machine did we choose for the office?", "MEMORY.md"),
    AskedQuestion("On which day of the week do we ship?", "MEMORY.md"),
    AskedQuestion("Where do the backups go every night?", "MEMORY.md"),
    AskedQuestion("What is Nadia allergic to?", "MEMORY.md"),
    AskedQuestion("When is the rent of the flat in Lisbon due?", "MEMORY.md"),
    AskedQuestion("What is the port of the office VPN endpoint?", "memory/network.md"),
    AskedQuestion("How often does the guest password change?", "memory/network.md"),
    AskedQuestion("How do I go back to the previous release tag?", "memory/deploy.md"),
    AskedQuestion("When is my dentist appointment?", "memory/2026-09-14.md"),
    AskedQuestion("Where is Lena's birthday dinner?", "memory/2026-09-14.md"),
    AskedQuestion("Which database does staging use now?", "memory/2026-10-20.md"),
    AskedQuestion("When is the next inspection of the car due?", "memory/2026-10-20.md"),
)

ANSWERED = {
    "Which colour did we paint the hallway?": "You painted it in Farrow & Ball Setting Plaster.",
    "What was the name of the plumber we liked?": "That was Ivo Kranjec, his number ends in 4471.",
    "Which branch has the parser fix?": "It is on the branch `fix/parser-2291`.",
    "How much did the new tyres cost?": "They cost 389 euros at the garage in March.",
}
"""Questions whose only answer is in an earlier conversation; three later ones asked again."""


def write_notes(workspace: Path) -> None:
    for name, text in NOTES.items():
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for number, question in enumerate(KNOWN):
        for session, reply in enumerate(NO_ANSWERS):
            day = TODAY - timedelta(days=2 * session + 1)
            _write_session(workspace, day, number, question.text, reply)
    for hour, (text, answer) in enumerate(ANSWERED.items(), start=len(KNOWN)):
        for session, reply in enumerate((*NO_ANSWERS[:3], answer)):
            day = TODAY - timedelta(days=3 * session + 1)
            _write_session(workspace, day, hour, text, reply)


def answered_in(text: str) -> str:
    """The session note with the answer."""
    hour = len(KNOWN) + list(ANSWERED).index(text)
    return _session_path(TODAY - timedelta(days=10), hour)


def _session_path(day: date, hour: int) -> str:
    return f"memory/{day}-{hour:02}05.md"


def _write_session(workspace: Path, day: date, hour: int, text: str, reply: str) -> None:
    facts = f"- session: `s-{day}-{hour}`\n- host: `claude`\n- closed by: `session-end (other)`"
    said = f"User: {text}\n\nAssistant: {reply}"
    note = f"# Session {day} {hour:02}:05\n\n{facts}\n\n## Conversation\n\n{said}\n"
    (workspace / _session_path(day, hour)).write_text(note, encoding="utf-8")
