"""What was said is forgotten: found by a rule, then removed from our own transcripts and logs.

    rule (durable, not done) ── transcripts ── logs ── … index, entries … ── history ── rule done

The rule comes first. From then on no hook and no import takes the messages from a host's file, and
a process that is killed leaves a rule that is not done: the next call completes it. A rule has a
digest of the phrase and not its text, so it is enough to complete the removal.

A message of a transcript is replaced by a line with its id and its position. Files that hold no
text (the history, positions, the days of recalls) stay as they are.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.capture.flush_turn import LOG
from notewell.capture.hook_state import HEARTBEAT
from notewell.capture.kept_file import encoded, forgotten_message
from notewell.capture.kept_folder import LOCK, LOCK_WAIT_S
from notewell.capture.logs import FileLogs, drop_copy, logs_at
from notewell.capture.search_journal import RECALLS, SEARCHES
from notewell.errors import StateNotWritable
from notewell.files import describe_os_error, read_json, state_lock, write_json, write_state
from notewell.hosts import TRANSCRIPT_FORMATS
from notewell.records import dataclass, replace
from notewell.sessions import (
    KEPT,
    ForgetRule,
    ForgottenMessages,
    forgotten_file,
    path_of_session,
    phrase_digest,
    phrase_words,
    read_forgotten,
    session_stem,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime

    from notewell.capture.logs import Logs
    from notewell.sessions import StoredConversations

ID_BYTES = 4
_COPIES = ".*.jsonl.tmp"
"""See `write_state`."""
_FORMAT = next(one for one in TRANSCRIPT_FORMATS if one.name == "openclaw")
"""That of our own transcripts."""


class ForgetRequest(NamedTuple):
    """What the user wants to be forgotten; what is None does not matter. All must hold."""

    phrase: str | None = None
    sessions: tuple[str, ...] = ()
    """Names of hosts' files; see `session_stem`."""
    after: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True)
class ForgetPlace:
    """Where the text of one memory is."""

    kept: Path
    """The conversations that hooks keep."""
    own: Path
    """Those that programs sent to `notewell serve`."""
    capture: Path
    """What captures remember; see `capture_dir`."""
    logs: Logs | None = None
    """The journal, if it is not in `capture`."""
    stored: StoredConversations | None = None
    """Those in the database that has the notes."""

    @property
    def journal(self) -> Logs:
        return logs_at(self.logs or self.capture)

    @property
    def record(self) -> Path:
        return forgotten_file(self.kept)


class FoundMessage(NamedTuple):
    """A message of a transcript of ours."""

    path: str
    """Of the conversation, as a search shows it."""
    line: int
    """Of the conversation as text."""
    speaker: str
    at: datetime | None
    text: str


# -- rules ---------------------------------------------------------------------------------------


def new_rule(
    place: ForgetPlace, request: ForgetRequest, now: datetime, first_salt: bytes
) -> ForgottenMessages:
    """The rule for a request, alone; it is not stored yet. `first_salt` is for the first rule."""
    salt = read_forgotten(place.record).salt or first_salt
    words = phrase_words(request.phrase) if request.phrase is not None else None
    rule = ForgetRule(
        os.urandom(ID_BYTES).hex(),
        now,
        request.sessions,
        request.after,
        request.before,
        phrase_digest(salt, words) if words is not None else None,
    )
    return ForgottenMessages(salt, (rule,))


def store_rule(place: ForgetPlace, new: ForgottenMessages) -> None:
    """Add a rule, or replace the one with its id. The caller holds the lock of the record."""
    stored = read_forgotten(place.record)
    ids = {rule.id for rule in new.rules}
    rules = (*(rule for rule in stored.rules if rule.id not in ids), *new.rules)
    write_json(place.record, ForgottenMessages(new.salt, rules).to_json())


def unfinished_rules(place: ForgetPlace) -> list[ForgottenMessages]:
    stored = read_forgotten(place.record)
    return [ForgottenMessages(stored.salt, (rule,)) for rule in stored.rules if not rule.is_done]


def finish_rule(place: ForgetPlace, new: ForgottenMessages) -> None:
    done = tuple(replace(rule, is_done=True) for rule in new.rules)
    store_rule(place, ForgottenMessages(new.salt, done))


# -- transcripts ---------------------------------------------------------------------------------


class OwnTranscript(NamedTuple):
    file: Path
    path: str
    """As a search shows it."""
    is_kept: bool

    @property
    def session(self) -> str:
        return session_stem(self.path)


def own_transcripts(place: ForgetPlace) -> Iterator[OwnTranscript]:
    for folder, prefix in ((place.kept, f"{KEPT}/"), (place.own, "")):
        for file in sorted(folder.glob("*.jsonl")):
            if file.is_file() and not file.is_symlink():
                yield OwnTranscript(file, path_of_session(prefix + file.stem), bool(prefix))


def said_messages(place: ForgetPlace) -> Iterator[FoundMessage]:
    """All messages of our own transcripts. Raises `StateNotWritable`."""
    for path, records in _own_records(place):
        line = 0
        for record in records:
            said = _said(record) if record else None
            if said is not None:
                line += 1
                yield FoundMessage(path, line, said.speaker, said.at, said.text)


def _own_records(place: ForgetPlace) -> Iterator[tuple[str, Iterable[dict[str, Any] | None]]]:
    """Each conversation of ours, by its path."""
    for transcript in own_transcripts(place):
        yield transcript.path, _records(_bytes_of(transcript.file))
    if place.stored is not None:
        for path in place.stored.scan().notes:
            yield path, place.stored.records(path)


def found_messages(place: ForgetPlace, rule: ForgottenMessages) -> Iterator[FoundMessage]:
    """The messages of our own transcripts that a rule is about. Raises `StateNotWritable`."""
    for message in said_messages(place):
        if rule.has(session_stem(message.path), message.text, message.at):
            yield message


def count_messages(place: ForgetPlace) -> int:
    """Of all our own transcripts."""
    return sum(1 for _ in said_messages(place))


def session_ids(place: ForgetPlace) -> dict[str, str]:
    """The names of conversations by the ids that their hosts gave them."""
    ids = {}
    for path, records in _own_records(place):
        first = next(iter(records), None)
        if first and first.get("type") == "session" and isinstance(first.get("id"), str):
            ids[str(first["id"])] = session_stem(path)
    return ids


def remove_messages(place: ForgetPlace, rule: ForgottenMessages) -> int:
    """Rewrite the transcripts without what a rule is about; returns how many messages went."""
    _drop_copies(place.kept)
    _drop_copies(place.own)
    removed, done = 0, set[Path]()
    # Until none is new: an import may rename a file while an earlier one is rewritten.
    while new := [one for one in own_transcripts(place) if one.file not in done]:
        for transcript in new:
            with _locked(place, transcript):
                removed += _rewrite(transcript, rule)
            done.add(transcript.file)
    if place.stored is not None:
        for path in place.stored.scan().notes:
            removed += place.stored.rewrite(path, partial(_changed, session_stem(path), rule))
    return removed


def _changed(
    session: str, rule: ForgottenMessages, record: dict[str, Any]
) -> dict[str, Any] | None:
    """A record without what a rule is about; None if it has nothing of it."""
    line = _without_text(record, session, rule)
    return line.record if line.is_changed else None


def _drop_copies(folder: Path) -> None:
    """Remove what a process has left that was killed while it replaced a transcript."""
    if not any(folder.glob(_COPIES)):
        return
    # Hooks replace kept transcripts, too; those of programs are replaced here alone.
    with state_lock(folder / LOCK, wait_s=5 * LOCK_WAIT_S):
        for copy in folder.glob(_COPIES):
            drop_copy(copy)


def _locked(place: ForgetPlace, transcript: OwnTranscript) -> AbstractContextManager[None]:
    """The lock that whoever appends to the transcript takes."""
    if transcript.is_kept:
        return state_lock(place.kept / LOCK, wait_s=5 * LOCK_WAIT_S)
    from notewell.notes import locked_note

    try:
        fd = os.open(transcript.file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise StateNotWritable(str(transcript.file), describe_os_error(error)) from error
    return locked_note(fd, transcript.path, wait_s=5 * LOCK_WAIT_S)


def _rewrite(transcript: OwnTranscript, rule: ForgottenMessages) -> int:
    records = list(_records(_bytes_of(transcript.file)))
    lines = [_without_text(record, transcript.session, rule) for record in records if record]
    removed = sum(line.is_changed for line in lines)
    if not removed:
        return 0
    data = b"".join(encoded(line.record) for line in lines)
    write_state(transcript.file, data)
    return removed


class _Line(NamedTuple):
    record: dict[str, Any]
    is_changed: bool = False


def _without_text(record: dict[str, Any], session: str, rule: ForgottenMessages) -> _Line:
    if record.get("type") == "session":
        cwd = record.get("cwd")
        if isinstance(cwd, str) and any(rule.has_phrase(one, cwd) for one in rule.rules):
            rest = {name: value for name, value in record.items() if name != "cwd"}
            return _Line(rest, is_changed=True)
        return _Line(record)
    # Also a record that nobody said, such as the summary of a compaction, may have the phrase.
    facts = _FORMAT.read(record)
    text = facts.turn.text if facts.turn else "\n".join(_texts(record))
    is_text = record.get("type") != "custom"
    if is_text and rule.has(session, text, facts.at):
        return _Line(forgotten_message(record), is_changed=True)
    return _Line(record)


class _Said(NamedTuple):
    speaker: str
    text: str
    at: datetime | None


def _said(record: dict[str, Any]) -> _Said | None:
    facts = _FORMAT.read(record)
    if facts.turn is None or not facts.turn.text.strip():
        return None
    return _Said(facts.turn.speaker, facts.turn.text, facts.at)


def _records(data: bytes) -> Iterator[dict[str, Any] | None]:
    """None for a line that is not complete: what it has was never kept."""
    for line in data.split(b"\n"):
        if line:
            yield _parsed(line)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StateNotWritable(str(file), describe_os_error(error)) from error


# -- logs ----------------------------------------------------------------------------------------


def found_searches(place: ForgetPlace, rule: ForgottenMessages) -> int:
    """How many recorded questions a rule is about."""
    return sum(_is_about(record, rule) for record in place.journal.lines(SEARCHES))


def remove_from_logs(place: ForgetPlace, rule: ForgottenMessages) -> None:
    for name in (SEARCHES, RECALLS):
        place.journal.remove(name, lambda record: _is_about(record, rule))
    FileLogs(place.capture).remove(LOG, lambda record: _is_about(record, rule))
    _drop_trouble(place.capture / HEARTBEAT, rule)


def _is_about(record: dict[str, Any], rule: ForgottenMessages) -> bool:
    """Whether a line of a log quotes the phrase, is of the time, or names the conversation. A log
    does not say in which conversation a question was asked."""
    return any(_concerns(record, one, rule) for one in rule.rules)


def _concerns(record: dict[str, Any], one: ForgetRule, rule: ForgottenMessages) -> bool:
    if one.phrase is None and one.after is None and one.before is None:
        return any(_names_session(text, one) for text in _texts(record))
    at = _FORMAT.read({"timestamp": record.get("at")}).at
    if not one.covers_time(at):
        return False
    if one.phrase is None:
        return not one.sessions or any(_names_session(text, one) for text in _texts(record))
    return any(rule.has_phrase(one, text) for text in _texts(record))


def _names_session(text: str, rule: ForgetRule) -> bool:
    return text in rule.sessions or (
        text.startswith("sessions/") and session_stem(text) in rule.sessions
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _drop_trouble(file: Path, rule: ForgottenMessages) -> None:
    """An error message may quote what it is about."""
    if not os.path.lexists(file):
        return
    with state_lock(file):
        drop_copy(file.with_name(f".{file.name}.tmp"))
        state = read_json(file)
        quotes = (rule.has_phrase(one, text) for one in rule.rules for text in _texts(state))
        if any(quotes) and state.pop("trouble", None) is not None:
            write_json(file, state)
