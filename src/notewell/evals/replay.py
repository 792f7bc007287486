"""Replays conversations through the hooks of a host into an empty memory, then asks about them.

    transcript of the host ── hooks ── notes, kept conversations ── sync ── memory_search ── seen

    sessions   each session is one of the host, with a start, turns and an end
    one        the whole conversation is one long session

For every part of an answer there are three questions: is it on disk at all, is it in the lines of
the first hits, is it in the text that the tool hands to the model. The text of the message must be
there whole; only white space may differ.
"""

from __future__ import annotations

import json
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from notewell import Progress, open_memory
from notewell.errors import NoteUnreadable
from notewell.evals.measures import interval
from notewell.evals.seen import folded, has_piece, pieces_seen
from notewell.records import dataclass
from notewell.tools import call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from notewell import Memory
    from notewell.evals.conversations import (
        ReplayMessage,
        ReplayQuestion,
        ReplaySession,
        ReplaySet,
    )
    from notewell.evals.measures import Interval
    from notewell.ports import Embedder
    from notewell.types import Hit

FORMS = ("sessions", "one")
STAGES = ("disk", "found", "seen")
"""Kept at all; in the lines of the first hits; in the text that a model gets."""


class HostHooks(Protocol):
    """The hooks that are installed for one memory."""

    def fire(self, event: str, payload: Mapping[str, str], now: datetime) -> None:
        """Run the hook of an event as the host does; nothing if none is installed."""
        ...


class ReplayFolders(NamedTuple):
    """Where one replay takes place; all of it is empty at the beginning."""

    workspace: Path
    state: Path
    transcripts: Path


class ReplayResult(NamedTuple):
    """One question: for each part of its answer, whether a stage has it."""

    question: ReplayQuestion
    conversation: str
    disk: tuple[bool, ...]
    found: tuple[bool, ...]
    seen: tuple[bool, ...]
    chars: int
    """Of the text that the model gets."""
    ms: float
    is_degraded: bool

    def has(self, stage: str, measure: str) -> float:
        shown: tuple[bool, ...] = getattr(self, stage)
        return float(any(shown) if measure == "any" else all(shown))


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """All questions of a set after a replay in one form."""

    dataset: str
    digest: str
    form: str
    k: int
    sessions: int
    messages: int
    results: tuple[ReplayResult, ...]
    unanswerable: int

    def of(self, category: str | None) -> tuple[ReplayResult, ...]:
        """The results of one category; None means all."""
        return tuple(one for one in self.results if category in (None, one.question.category))

    def measured(self, stage: str, measure: str, category: str | None = None) -> Interval:
        return interval([result.has(stage, measure) for result in self.of(category)])

    def mean_chars(self, category: str | None = None) -> float:
        return statistics.fmean(result.chars for result in self.of(category))

    def median_ms(self, category: str | None = None) -> float:
        return statistics.median(result.ms for result in self.of(category))

    def categories(self) -> list[str]:
        return sorted({result.question.category for result in self.results} - {""})

    @property
    def is_degraded(self) -> bool:
        return any(result.is_degraded for result in self.results)


class ReplayHost(NamedTuple):
    """What a replay needs besides the set: an embedder, and a way to install hooks."""

    embedder: Embedder
    install: Callable[[ReplayFolders], HostHooks]


def run_replay(
    replayed: ReplaySet,
    form: str,
    scratch: Path,
    host: ReplayHost,
    k: int,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ReplayRun:
    """Replay each conversation below `scratch`, which must be empty, and ask its questions."""
    results: list[ReplayResult] = []
    total = sum(len(one.questions) for one in replayed.conversations)
    sessions = [session for one in replayed.conversations for session in one.sessions]
    for conversation in replayed.conversations:
        folders = _new_folders(scratch / f"{conversation.name}-{form}")
        tell_host(conversation.sessions, form, folders.transcripts, host.install(folders))
        with open_memory(
            folders.workspace, state_dir=folders.state, embedder=host.embedder
        ) as memory:
            _sync(memory, progress)
            disk = folded(_on_disk(folders))
            for question in conversation.questions:
                results.append(_ask(memory, question, conversation.name, disk, k))
                progress(Progress(len(results), total, f"questions of {replayed.name}, {form}"))
    return ReplayRun(
        dataset=replayed.name,
        digest=replayed.digest,
        form=form,
        k=k,
        sessions=len(sessions) if form == "sessions" else len(replayed.conversations),
        messages=sum(len(session.messages) for session in sessions),
        results=tuple(results),
        unanswerable=replayed.unanswerable,
    )


def _new_folders(scratch: Path) -> ReplayFolders:
    folders = ReplayFolders(scratch / "workspace", scratch / "state", scratch / "transcripts")
    # A workspace is a folder with a memory; without one, the first search would have none.
    (folders.workspace / "memory").mkdir(parents=True)
    folders.transcripts.mkdir()
    return folders


def _sync(memory: Memory, progress: Callable[[Progress], None]) -> None:
    """As an MCP server does when it starts. With missing vectors the figures would be others."""
    report = memory.sync(progress=progress)
    if report.trouble:
        raise report.trouble
    for note in report.unreadable:
        raise NoteUnreadable(note.path, note.why)


# -- the host ------------------------------------------------------------------------------------


def tell_host(
    sessions: Sequence[ReplaySession], form: str, transcripts: Path, hooks: HostHooks
) -> None:
    """Write the sessions as Claude Code does, and fire its hooks at the time of each message."""
    for name, parts in _as_host_sessions(sessions, form):
        file = transcripts / f"{name}.jsonl"
        payload = {"session_id": name, "transcript_path": str(file), "cwd": parts[0].cwd}
        first, last = parts[0].messages[0], parts[-1].messages[-1]
        hooks.fire("session-start", {**payload, "source": "startup"}, first.at)
        for part in parts:
            for turn in _turns(part.messages):
                append_turn(file, name, part.cwd, turn)
                hooks.fire("stop", payload, turn[-1].at)
        hooks.fire("session-end", {**payload, "reason": "other"}, last.at)


def _as_host_sessions(
    sessions: Sequence[ReplaySession], form: str
) -> Iterator[tuple[str, Sequence[ReplaySession]]]:
    if form == "one":
        yield "one", sessions
    else:
        yield from ((session.name, [session]) for session in sessions)


def _turns(messages: Iterable[ReplayMessage]) -> Iterator[list[ReplayMessage]]:
    """A turn is over when the assistant has answered, and at the end."""
    turn: list[ReplayMessage] = []
    for message in messages:
        turn.append(message)
        if message.role == "assistant":
            yield turn
            turn = []
    if turn:
        yield turn


def append_turn(file: Path, session: str, cwd: str, turn: Iterable[ReplayMessage]) -> None:
    with file.open("a", encoding="utf-8", newline="\n") as opened:
        opened.writelines(
            json.dumps(_claude_record(session, cwd, message), ensure_ascii=False) + "\n"
            for message in turn
        )


def _claude_record(session: str, cwd: str, message: ReplayMessage) -> dict[str, object]:
    # Claude Code stores what a user typed as a text, and what the assistant said as blocks.
    blocks = [{"type": "text", "text": message.text}]
    content: object = message.text if message.role == "user" else blocks
    return {
        "type": message.role,
        "uuid": message.id,
        "sessionId": session,
        "cwd": cwd,
        "timestamp": message.at.isoformat(),
        "isSidechain": False,
        "message": {"role": message.role, "content": content},
    }


# -- the questions -------------------------------------------------------------------------------


def _ask(
    memory: Memory, question: ReplayQuestion, conversation: str, disk: str, k: int
) -> ReplayResult:
    # CPU time: other processes of a shared machine do not count.
    started = time.process_time()
    text = call(memory, "memory_search", {"query": question.text}).to_text()
    ms = (time.process_time() - started) * 1000
    answer = memory.search(question.text, max_results=k, plain=True)
    lines = folded("\n".join(_lines_of(memory, hit) for hit in answer.hits[:k]))
    return ReplayResult(
        question,
        conversation,
        disk=tuple(has_piece(disk, piece) for piece in question.pieces),
        found=tuple(has_piece(lines, piece) for piece in question.pieces),
        seen=pieces_seen(text, question.pieces),
        chars=len(text),
        ms=ms,
        is_degraded=answer.degraded,
    )


def _lines_of(memory: Memory, hit: Hit) -> str:
    text: str | None = None
    line, char, last = hit.span.start_line, 1, hit.span.end_line
    while line <= last:
        excerpt = memory.get(hit.path, from_line=line, from_char=char, lines=last - line + 1)
        text = excerpt.joined_to(text)
        # A part of a hit that is too long for one excerpt comes with the next.
        line, char = excerpt.next_from or last + 1, excerpt.next_char or 1
    return text or ""


def _on_disk(folders: ReplayFolders) -> str:
    """The notes, and the messages of the transcripts of our own."""
    notes = (file.read_text("utf-8") for file in sorted(folders.workspace.rglob("*.md")))
    return "\n".join([*notes, *_kept_messages(folders.state)])


def _kept_messages(state: Path) -> Iterator[str]:
    for file in sorted((state / "agents").rglob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            if record["type"] == "message":
                yield record["message"]["content"]
