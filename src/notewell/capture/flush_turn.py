"""The silent turn before compaction, with the host's own model.

    host ── facts ──▶ decide ── Skip ──▶ logged
                        └── Run ──▶ claim ── model ⇄ memory_append ──▶ done, logged

The claim is written before the model is asked, under a lock, so two processes that see the same
full window flush once. The tool of that turn can do one thing: append to one note.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from notewell.capture.flush_decision import Mark, Run, Skip, decide, has_shrunk, is_same_cycle
from notewell.capture.flush_prompts import TOOL, is_silent
from notewell.errors import BadEntry, NoteNotWritable
from notewell.files import append_json_line, read_json, state_lock, write_json
from notewell.notes import Entry, user_day

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

    from notewell.capture.flush_decision import FlushFacts, FlushSettings
    from notewell.capture.writer import NoteWriter
    from notewell.notes import Appended

STATE = "flush.json"
LOG = "flush.jsonl"
ORIGIN = "flush"

MAX_ROUNDS = 8
"""A model that still calls tools after this many answers is going in circles."""
MAX_ENTRIES = 20
"""What matters of one conversation; more is a transcript."""
MAX_SESSIONS = 1000
"""Sessions remembered; the oldest go."""


class ToolCall(NamedTuple):
    """What the model wants done."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


class Message(NamedTuple):
    """A message to or from the model."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""


class Reply(NamedTuple):
    """What a model answers."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class Model(Protocol):
    """The host's model: messages and the tools it may call in, text and calls out."""

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /
    ) -> Reply: ...


@dataclass(frozen=True, slots=True)
class FlushReport:
    """What was decided and what came of it."""

    decision: Run | Skip
    entries: tuple[Appended, ...] = ()
    said: str = ""
    """What the model wants the user to hear; empty for `NO_REPLY`."""


def flush(
    place: NoteWriter,
    session: str,
    facts: FlushFacts,
    conversation: Sequence[Message],
    model: Model,
    *,
    settings: FlushSettings,
    zone: tzinfo,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> FlushReport:
    """Run the silent turn if it is time. What the model raises is raised, and tried once more."""
    now = clock()
    decision = _claim(place, session, facts, settings, user_day(now, zone), now)
    if isinstance(decision, Skip):
        _log(place, session, now, decision)
        return FlushReport(decision)
    turn = _Turn(place, decision, now)
    try:
        said = turn.run(conversation, model)
    except Exception as error:
        _log(place, session, now, decision, turn.entries, trouble=type(error).__name__)
        _settle(place, session, done=False)
        raise
    _settle(place, session, done=True)
    _log(place, session, now, decision, turn.entries)
    return FlushReport(decision, tuple(turn.entries), said)


@dataclass(slots=True)
class _Turn:
    place: NoteWriter
    run_: Run
    now: datetime
    entries: list[Appended] = field(default_factory=list)

    def run(self, conversation: Sequence[Message], model: Model) -> str:
        messages = [
            Message("system", self.run_.system_prompt),
            *conversation,
            Message("user", self.run_.prompt),
        ]
        tools = (append_tool(self.run_.path),)
        for _ in range(MAX_ROUNDS):
            reply = model(tuple(messages), tools)
            if not reply.calls:
                return "" if is_silent(reply.text) else reply.text
            messages.append(Message("assistant", reply.text, reply.calls))
            messages += [
                Message("tool", self._answer(call), call_id=call.id) for call in reply.calls
            ]
        return ""

    def _answer(self, call: ToolCall) -> str:
        if call.name != TOOL:
            return f"there is no tool {call.name!r} in this turn, only {TOOL}"
        if call.arguments.get("path", self.run_.path) != self.run_.path:
            return f"refused: this turn can only append to {self.run_.path}"
        text = call.arguments.get("text")
        if not isinstance(text, str):
            return "refused: `text` must be a text"
        if len(self.entries) >= MAX_ENTRIES:
            return f"refused: {MAX_ENTRIES} entries are enough; finish now"
        return self._append(text)

    def _append(self, text: str) -> str:
        entry = Entry(self.place.redact(text), ORIGIN)
        try:
            done = self.place.append(entry, self.run_.day, now=self.now)
        except BadEntry as error:
            return f"refused: {error}"
        except NoteNotWritable as error:
            return f"failed: {error}"
        if not done.added:
            return f"it stands there already: {done.path}#{done.span}"
        self.entries.append(done)
        return f"wrote {done.path}#{done.span}"


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


# -- what is remembered of each session ----------------------------------------------------------


def _claim(
    place: NoteWriter,
    session: str,
    facts: FlushFacts,
    settings: FlushSettings,
    today: date,
    now: datetime,
) -> Run | Skip:
    if facts.access != "rw":  # Then the state folder may be read-only too.
        return decide(facts, settings, None, today, now.timestamp())
    file = place.folder / STATE
    with state_lock(file):
        state = read_json(file)
        mark = _mark(state.get(session))
        decision = decide(facts, settings, mark, today, now.timestamp())
        if isinstance(decision, Run):
            tries = mark.tries + 1 if mark and is_same_cycle(facts, mark) else 1
            told = {
                "day": decision.day.isoformat(),
                "compactions": facts.compactions,
                "used_tokens": facts.used_tokens,
                "tries": tries,
                "done": False,
                "begun_s": now.timestamp(),
            }
            _keep(place, state, session, told)
        elif mark and facts.compactions is None and has_shrunk(facts, mark):
            # Compacted, and nobody counts: the next full window is another cycle.
            _keep(place, state, session, None)
    return decision


def _settle(place: NoteWriter, session: str, *, done: bool) -> None:
    file = place.folder / STATE
    with state_lock(file):
        state = read_json(file)
        told = state.get(session)
        if isinstance(told, dict):
            _keep(place, state, session, {**told, "done": done, "begun_s": 0.0})


def _keep(
    place: NoteWriter, state: dict[str, Any], session: str, told: dict[str, Any] | None
) -> None:
    state.pop(session, None)
    if told is not None:
        state[session] = told
    newest = list(state.items())[-MAX_SESSIONS:]
    write_json(place.folder / STATE, dict(newest))


def _mark(told: object) -> Mark | None:
    if not isinstance(told, dict):
        return None
    try:
        return Mark(**{**told, "day": date.fromisoformat(told["day"])})
    except (KeyError, TypeError, ValueError):
        return None  # Written by another version: a flush too many does no harm.


def _log(
    place: NoteWriter,
    session: str,
    now: datetime,
    decision: Run | Skip,
    entries: Sequence[Appended] = (),
    trouble: str | None = None,
) -> None:
    line = {
        "at": now.isoformat(),
        "session": session,
        "decision": "run" if isinstance(decision, Run) else "skip",
        "why": decision.why,
        "path": decision.path if isinstance(decision, Run) else None,
        "entries": [f"{one.path}#{one.span}" for one in entries],
        "trouble": trouble,
    }
    append_json_line(place.folder / LOG, line)
