"""Sets for a replay: conversations, and questions whose answers were said in them.

A replay set is a set of workspaces (`evidence.json`, see `dataset`) in which evidence names lines
of `sessions/*.jsonl`: the transcripts of the conversations, in OpenClaw's format.

    {"type":"session","id":"…","timestamp":"2026-03-02T09:00:00Z","cwd":"/code/shop"}
    {"type":"message","id":"…","timestamp":"…","message":{"role":"user","content":"…"}}

Notes of the workspace are not used: a replay begins with an empty memory.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from notewell.errors import NotADataset
from notewell.evals.dataset import load_dataset
from notewell.evals.set_files import read_objects
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.evals.dataset import EvalQuestion, Evidence, EvidenceLines
    from notewell.evals.set_files import Record

FOLDER = "sessions"
ROLES = ("user", "assistant")

SaidPiece: TypeAlias = tuple[tuple[str, ...], ...]
"""One part of an answer: the texts of the messages that say it. If it was said in several places,
any of them is enough."""


class ReplayMessage(NamedTuple):
    """What the user or the assistant said."""

    id: str
    role: str
    text: str
    at: datetime
    line: int
    """In the file of its session."""


class ReplaySession(NamedTuple):
    """One session, in the order of its messages."""

    name: str
    cwd: str
    messages: tuple[ReplayMessage, ...]


class ReplayQuestion(NamedTuple):
    """A question, and the messages that answer it."""

    id: str
    text: str
    category: str
    pieces: tuple[SaidPiece, ...]


class ReplayConversation(NamedTuple):
    """What one memory gets to hear, the earliest session first, and what it is asked then."""

    name: str
    sessions: tuple[ReplaySession, ...]
    questions: tuple[ReplayQuestion, ...]


@dataclass(frozen=True, slots=True)
class ReplaySet:
    name: str
    digest: str
    """Of questions and evidence."""
    conversations: tuple[ReplayConversation, ...]
    unanswerable: int
    """How many questions have no evidence in a session; they are not asked."""


def load_replay_set(folder: Path, scratch: Path, limit: int | None = None) -> ReplaySet:
    """Read the set in `folder`; `limit` is for the questions of each conversation."""
    dataset = load_dataset(folder, scratch, limit)
    conversations = [
        _conversation(
            name, notes.path, [one for one in dataset.questions if one.workspace == name]
        )
        for name, notes in dataset.workspaces.items()
    ]
    asked = sum(len(one.questions) for one in conversations)
    if not asked:
        raise NotADataset(
            str(folder), "no question has evidence in sessions/*.jsonl, so nothing can be replayed"
        )
    unanswerable = dataset.unanswerable + len(dataset.questions) - asked
    heard = tuple(one for one in conversations if one.questions)
    return ReplaySet(dataset.name, dataset.digest, heard, unanswerable)


def _conversation(name: str, folder: Path, asked: list[EvalQuestion]) -> ReplayConversation:
    files = sorted((folder / FOLDER).glob("*.jsonl"))
    by_path = {f"{FOLDER}/{file.name}": _session(file) for file in files}
    sessions = [session for session in by_path.values() if session.messages]
    sessions.sort(key=lambda session: session.messages[0].at)
    questions = tuple(
        ReplayQuestion(question.id, question.text, question.category, pieces)
        for question in asked
        if (pieces := _pieces(question, by_path))
    )
    return ReplayConversation(name, tuple(sessions), questions)


def _pieces(
    question: EvalQuestion, sessions: Mapping[str, ReplaySession]
) -> tuple[SaidPiece, ...]:
    """Empty if a part of the answer was not said in any session."""
    pieces = tuple(_piece(evidence, sessions) for evidence in question.evidence)
    return pieces if all(pieces) else ()


def _piece(evidence: Evidence, sessions: Mapping[str, ReplaySession]) -> SaidPiece:
    places = (place for place in evidence.places if place.path in sessions)
    texts = (_texts(place, sessions[place.path]) for place in places)
    return tuple(said for said in texts if said)


def _texts(place: EvidenceLines, session: ReplaySession) -> tuple[str, ...]:
    lines = range(place.start_line, place.end_line + 1)
    return tuple(message.text for message in session.messages if message.line in lines)


# -- the files -----------------------------------------------------------------------------------


def _session(file: Path) -> ReplaySession:
    cwd, messages = "", list[ReplayMessage]()
    for record in read_objects(file):
        if record.values.get("type") == "session":
            cwd = record.text("cwd", "")
        elif record.values.get("type") == "message":
            messages += _message(record)
    return ReplaySession(file.stem, cwd, tuple(messages))


def _message(record: Record) -> list[ReplayMessage]:
    """One, or none if nobody said anything."""
    message = record.object("message")
    role, text = message.text("role"), _text_of(message)
    if role not in ROLES or not text.strip():
        return []
    # Ids are short in public sets: with the name of the file they are unique in a conversation.
    id_ = f"{record.file.stem}-{record.text('id')}"
    return [ReplayMessage(id_, role, text, _time(record), record.line or 0)]


def _text_of(message: Record) -> str:
    content = message.values.get("content")
    if isinstance(content, str):
        return content
    blocks = message.records("content")
    return "\n".join(block.text("text") for block in blocks if block.values.get("type") == "text")


def _time(record: Record) -> datetime:
    try:
        at = datetime.fromisoformat(record.text("timestamp"))
    except ValueError:
        raise record.wrong(
            f"expected a time such as 2026-03-02T09:00:00Z as 'timestamp', "
            f"not {record.text('timestamp')!r}"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
