"""The silent turn before compaction, with the host's own model.

    host ── facts ──▶ decide ── Skip ──────▶ logged
                        └── RunFlush ──▶ claim ── model ⇄ memory_append ──▶ done, logged

The claim is written under a lock before the model is called, so two processes that see the same
full window flush once. A turn holds a lease, which the kernel frees when its process dies: a flush
that was killed is not under way. The only tool of that turn appends to one note.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from notewell.capture.flush_decision import (
    TOOL,
    UNDER_WAY,
    Mark,
    RunFlush,
    Skip,
    decide,
    has_shrunk,
    is_same_cycle,
    is_silent,
)
from notewell.errors import BadEntry, NoteNotWritable, StateNotWritable
from notewell.files import (
    LockFailed,
    LockTimeout,
    append_json_line,
    describe_os_error,
    file_lock,
    inspect_lock,
    read_json,
    state_lock,
    write_json,
)
from notewell.notes import user_day
from notewell.records import dataclass, field, field_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from notewell.capture.flush_decision import FlushFacts
    from notewell.capture.settings import FlushSettings
    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended

STATE = "flush.json"
LOG = "flush.jsonl"
ORIGIN = "flush"

MAX_ROUNDS = 8
"""A model that still calls tools after this many replies is in a loop."""
MAX_ENTRIES = 20
"""Enough for what matters in one conversation; more would be a transcript."""
MAX_SESSIONS = 1000
"""Records of sessions that are kept; the oldest go first."""


class ToolCall(NamedTuple):
    """A call of the model to a tool."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


class Message(NamedTuple):
    """A message to or from the model."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    """In a message of the assistant."""
    call_id: str = ""
    """In a message of a tool: the call it answers."""


class ModelReply(NamedTuple):
    """A reply of the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class FlushModel(Protocol):
    """The host's model: messages and the tools it may call in, text and calls out."""

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /
    ) -> ModelReply: ...


@dataclass(frozen=True, slots=True)
class FlushReport:
    """The decision and its result."""

    decision: RunFlush | Skip
    entries: tuple[Appended, ...] = ()
    said: str = ""
    """The text for the user; empty for `NO_REPLY`."""


def flush(
    writer: NoteWriter,
    session: str,
    facts: FlushFacts,
    conversation: Sequence[Message],
    model: FlushModel,
    *,
    settings: FlushSettings,
    zone: tzinfo | None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> FlushReport:
    """Run the silent turn if it is time. An exception of the model is passed on, and the next call
    tries once more."""
    now = clock()
    folder = writer.folder
    with ExitStack() as lease:
        decision = _claim(folder, session, facts, settings, user_day(now, zone), lease)
        if isinstance(decision, Skip):
            _log(folder, session, now, decision)
            return FlushReport(decision)
        return _run_turn(_Turn(writer, decision, now), session, conversation, model)


def _run_turn(
    turn: _Turn, session: str, conversation: Sequence[Message], model: FlushModel
) -> FlushReport:
    folder, decision, now = turn.writer.folder, turn.decision, turn.now
    try:
        said = turn.run(conversation, model)
    except Exception as error:
        # Only the type: the message may quote the conversation.
        _log(folder, session, now, decision, turn.entries, trouble=type(error).__name__)
        flush_failed(folder, session)
        raise
    # Before the log: an error there must not cause a second flush.
    _settle(folder, session, done=True)
    _log(folder, session, now, decision, turn.entries)
    return FlushReport(decision, tuple(turn.entries), said)


def flush_due(
    folder: Path,
    session: str,
    facts: FlushFacts,
    *,
    settings: FlushSettings,
    zone: tzinfo | None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> RunFlush | Skip:
    """Whether a host that runs the turn itself should do so now, with the prompts and the note.

    The prompts are handed out once per compaction cycle: whoever gets them runs the turn, with
    `memory_append` as its tool. `flush_failed` makes them available once more.
    """
    now = clock()
    with ExitStack() as lease:
        decision = _claim(folder, session, facts, settings, user_day(now, zone), lease)
        if isinstance(decision, RunFlush):
            # Done, not under way: a host that never reports the end must not flush a second time.
            _settle(folder, session, done=True)
    _log(folder, session, now, decision)
    return decision


def flush_failed(folder: Path, session: str) -> None:
    """The turn of this cycle wrote nothing: the next question may run it once more."""
    _settle(folder, session, done=False)


@dataclass(slots=True)
class _Turn:
    writer: NoteWriter
    decision: RunFlush
    now: datetime
    entries: list[Appended] = field(default_factory=list)

    def run(self, conversation: Sequence[Message], model: FlushModel) -> str:
        messages = [
            Message("system", self.decision.system_prompt),
            *conversation,
            Message("user", self.decision.prompt),
        ]
        tools = (append_tool(self.decision.path),)
        for _ in range(MAX_ROUNDS):
            reply = model(tuple(messages), tools)
            if not reply.calls:
                return "" if is_silent(reply.text) else reply.text
            messages.append(Message("assistant", reply.text, reply.calls))
            messages += [
                Message("tool", self._answer(call), call_id=call.id) for call in reply.calls
            ]
        # A loop of tool calls. The entries stay; there is nothing to show to the user.
        return ""

    def _answer(self, call: ToolCall) -> str:
        # Refusals go to the model as replies, not as errors: it can correct the call and go on.
        if call.name != TOOL:
            return f"there is no tool {call.name!r} in this turn, only {TOOL}"
        # The schema has no `path`, but models that know the usual tool add one.
        if call.arguments.get("path", self.decision.path) != self.decision.path:
            return f"refused: this turn can only append to {self.decision.path}"
        text = call.arguments.get("text")
        if not isinstance(text, str):
            return "refused: `text` must be a text"
        if len(self.entries) >= MAX_ENTRIES:
            return f"refused: {MAX_ENTRIES} entries are enough; finish now"
        return self._append(text)

    def _append(self, text: str) -> str:
        from notewell.notes import Entry  # Here: a hook before a compaction writes no entry.

        entry = Entry(self.writer.redact(text), ORIGIN)
        try:
            done = self.writer.append(entry, self.decision.day, now=self.now)
        except BadEntry as error:
            return f"refused: {error}"
        except NoteNotWritable as error:
            return f"failed: {error}"
        if not done.added:
            return f"it is there already: {done.path}#{done.span}"
        self.entries.append(done)
        notice = f"; {done.notice}" if done.notice else ""
        return f"wrote {done.path}#{done.span}{notice}"


def append_tool(path: str) -> dict[str, Any]:
    """The one tool of the turn, as JSON Schema."""
    return {
        "name": TOOL,
        "description": f"Append one entry to {path}. Nothing else can be written in this turn.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "the entry, in Markdown"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    }


# -- the record of each session -------------------------------------------------------------------


def _claim(
    folder: Path,
    session: str,
    facts: FlushFacts,
    settings: FlushSettings,
    today: date,
    lease: ExitStack,
) -> RunFlush | Skip:
    """`lease` holds what a turn holds as long as it runs."""
    if facts.access != "rw":  # Then the state folder may be read-only too: no lock.
        return decide(facts, settings, None, today)
    file = folder / STATE
    with state_lock(file):
        state = read_json(file)
        mark = _mark(state.get(session))
        held = inspect_lock(_lease_file(folder, session))
        is_under_way = held is not None and held.is_held is True
        decision = decide(facts, settings, mark, today, is_under_way=is_under_way)
        if isinstance(decision, Skip):
            _drop_leases(folder)
        elif not _take(lease, _lease_file(folder, session)):
            return Skip(UNDER_WAY)
        if isinstance(decision, RunFlush):
            tries = mark.tries + 1 if mark and is_same_cycle(facts, mark) else 1
            record = {
                "day": decision.day.isoformat(),
                "compactions": facts.compactions,
                "used_tokens": facts.used_tokens,
                "tries": tries,
                "done": False,
            }
            _keep(folder, state, session, record)
        elif mark and facts.compactions is None and has_shrunk(facts, mark):
            # Compacted, and the host does not count: the next full window is another cycle.
            _keep(folder, state, session, None)
    return decision


def _settle(folder: Path, session: str, *, done: bool) -> None:
    file = folder / STATE
    with state_lock(file):
        state = read_json(file)
        record = state.get(session)
        if isinstance(record, dict):
            _keep(folder, state, session, {**record, "done": done})
        _drop_leases(folder, _lease_file(folder, session))


# -- leases: made and removed only under the lock of the state, so that no two have one name ------


def _lease_file(folder: Path, session: str) -> Path:
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return folder / f"flush-{digest}.lock"


def _take(lease: ExitStack, file: Path) -> bool:
    """False if another turn of the session has it. Raises `StateNotWritable`."""
    try:
        lease.enter_context(file_lock(file, wait_s=0))
    except LockTimeout:
        return False
    except LockFailed as failed:
        raise StateNotWritable(str(file), describe_os_error(failed.error)) from failed.error
    return True


def _drop_leases(folder: Path, own: Path | None = None) -> None:
    """The lease of a turn that ends, and those of processes that were killed."""
    for file in folder.glob("flush-*.lock"):
        state = inspect_lock(file)
        if file == own or (state is not None and state.is_held is False):
            with suppress(OSError):  # It is empty of meaning once nobody holds it.
                file.unlink()


def _keep(
    folder: Path, state: dict[str, Any], session: str, record: dict[str, Any] | None
) -> None:
    # Removed and inserted again: the order of the dict is the order of age.
    state.pop(session, None)
    if record is not None:
        state[session] = record
    newest = list(state.items())[-MAX_SESSIONS:]
    write_json(folder / STATE, dict(newest))


def _mark(record: object) -> Mark | None:
    if not isinstance(record, dict):
        return None
    try:
        known = {name: record[name] for name in field_names(Mark)}
        return Mark(**{**known, "day": date.fromisoformat(record["day"])})
    except (KeyError, TypeError, ValueError):
        return None  # Written by another version: one flush too many does no harm.


def _log(
    folder: Path,
    session: str,
    now: datetime,
    decision: RunFlush | Skip,
    entries: Sequence[Appended] = (),
    trouble: str | None = None,
) -> None:
    line = {
        "at": now.isoformat(),
        "session": session,
        "decision": "run" if isinstance(decision, RunFlush) else "skip",
        "why": decision.why,
        "path": decision.path if isinstance(decision, RunFlush) else None,
        "entries": [f"{entry.path}#{entry.span}" for entry in entries],
        "trouble": trouble,
    }
    append_json_line(folder / LOG, line)
