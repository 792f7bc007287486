"""The use case behind `notewell forget`: find what was said, then remove it everywhere.

    find ──▶ Findings ──(the user agrees)──▶ forget

Removed from: kept conversations, the logs of questions, entries, the index with its words and
vectors, the vector cache, and what was exported for QMD. Not changed: notes, which only their
owner edits, and the files of hosts; `Findings` names both.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture import (
    SESSION_HEADING,
    ForgetPlace,
    ForgetRequest,
    Forgetting,
    count_messages,
    finish_rule,
    found_messages,
    found_searches,
    new_rule,
    record_forgetting,
    remove_from_logs,
    remove_messages,
    session_ids,
    store_rule,
    unfinished_rules,
)
from notewell.databases import stored_conversations
from notewell.errors import BadRequest, NoteUnreadable
from notewell.files import state_lock
from notewell.records import dataclass, replace
from notewell.redaction import DeferredRedactor, load_mask_key
from notewell.sessions import (
    ForgottenMessages,
    is_kept,
    kept_dir,
    phrase_words,
    read_forgotten,
    session_stem,
)
from notewell.tools.forget_traces import clean_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.capture import FoundMessage
    from notewell.entries import EntryStore, MemoryEntry
    from notewell.errors import BackendFailed
    from notewell.memory import Memory
    from notewell.sessions import ForgetRule

_SESSION_FACT = re.compile(r"- session: `([^`]*)`")
_ALWAYS = datetime.max.replace(tzinfo=UTC)
SALT_BYTES = 16
_HEADING_TIME = "%Y-%m-%d %H:%M"


class NotePlace(NamedTuple):
    """A line that is not removed, because only its owner edits the file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What a request is about."""

    rule: ForgottenMessages
    messages: tuple[FoundMessage, ...]
    of: int
    """How many messages there are in all."""
    searches: int
    entries: tuple[MemoryEntry, ...]
    notes: tuple[NotePlace, ...]
    host_files: tuple[str, ...]
    """Searched files of hosts with such messages, as a search shows them."""
    is_repeated: bool
    """The same was forgotten before; copies that appeared since are removed again."""

    @property
    def is_empty(self) -> bool:
        return not (self.messages or self.searches or self.entries or self.host_files)

    @property
    def counts(self) -> dict[str, int]:
        return {
            "messages": len(self.messages),
            "conversations": len({message.path for message in self.messages}),
            "questions": self.searches,
            "entries": len(self.entries),
        }


def place_of(memory: Memory) -> ForgetPlace:
    kept = kept_dir(memory.state_dir, memory.agent, memory.notes.location)
    journal, stored = memory.journal, stored_conversations(memory.notes, memory.state_dir)
    return ForgetPlace(kept, kept.parent, journal.folder, journal.logs, stored)


def request_of(
    memory: Memory,
    *,
    phrase: str | None = None,
    session: str | None = None,
    after: datetime | None = None,
    before: datetime | None = None,
) -> ForgetRequest:
    """Raises `BadRequest` for a phrase without words, an unknown conversation, and no wish."""
    if phrase is None and session is None and after is None and before is None:
        raise BadRequest("name what to forget: a phrase, --session, --before, --after or --on")
    if phrase is not None:
        # A secret is stored as its mask: the same secret has the same mask.
        phrase = DeferredRedactor(memory.state_dir)(phrase)
        if not phrase_words(phrase):
            raise BadRequest(f"{phrase!r} has no word to look for")
    if after is not None and before is not None and after >= before:
        raise BadRequest("nothing can be said in that time: it ends before it begins")
    sessions = (_session_named(memory, session),) if session is not None else ()
    return ForgetRequest(phrase, sessions, after, before)


def _session_named(memory: Memory, name: str) -> str:
    """The name of the host's file, by a path as a search shows it, or by an id."""
    path = name.partition("#")[0]
    ids = session_ids(place_of(memory))
    if path in ids:
        return ids[path]
    known = {*ids.values(), *(session_stem(one) for one in _transcript_paths(memory))}
    asked = session_stem(path) if path.startswith("sessions/") else path
    if not asked or asked not in known:
        raise BadRequest(
            f"no conversation is called {name!r}: give its path as `notewell search` shows it, "
            "or the id that its host gave it"
        )
    return asked


def _transcript_paths(memory: Memory) -> list[str]:
    transcripts = memory.indexer.transcripts
    return list(transcripts.scan().notes) if transcripts else []


# -- finding -------------------------------------------------------------------------------------


def find_forgettable(memory: Memory, request: ForgetRequest) -> Findings:
    """Reads only. Raises `StateNotWritable` for transcripts that cannot be read."""
    place = place_of(memory)
    wish = new_rule(place, request, _ALWAYS, _salt(memory))
    found = tuple(found_messages(place, wish))
    rule = _made_at(wish, max([memory.now(), *(one.at for one in found if one.at)]))
    redact = DeferredRedactor(memory.state_dir)
    messages = tuple(message._replace(text=redact(message.text)) for message in found)
    return Findings(
        rule,
        messages,
        count_messages(place),
        found_searches(place, rule),
        tuple(_entries_about(memory, rule)),
        tuple(_notes_about(memory, rule)),
        tuple(_host_files_about(memory, rule)),
        _is_repeated(place, rule),
    )


def _salt(memory: Memory) -> bytes:
    """The same for two processes that have something forgotten for the first time: the second one
    stores its rule with the salt of the first."""
    return hmac.digest(load_mask_key(memory.state_dir), b"forgotten", "sha256")[:SALT_BYTES]


def _made_at(wish: ForgottenMessages, at: datetime) -> ForgottenMessages:
    """The rule covers what was found, also if the clock was ahead when it was said."""
    return ForgottenMessages(wish.salt, tuple(replace(one, at=at) for one in wish.rules))


def _is_repeated(place: ForgetPlace, new: ForgottenMessages) -> bool:
    def wish(rule: ForgottenMessages) -> list[object]:
        return [(one.sessions, one.after, one.before, one.phrase) for one in rule.rules]

    return wish(new)[0] in wish(read_forgotten(place.record))


def _entry_store(memory: Memory) -> EntryStore | None:
    """Also without the setting: entries stay on disk after it is removed."""
    from notewell.entries import EntriesSettings, EntryStore

    settings = memory.settings.entries or EntriesSettings()
    folder = settings.folder(memory.state_dir)
    if not folder.is_dir():
        return None
    redact = DeferredRedactor(memory.state_dir)
    return memory.entries or EntryStore(
        folder, memory.agent, memory.indexer.embedder, redact=redact
    )


def _entries_about(memory: Memory, rule: ForgottenMessages) -> Iterator[MemoryEntry]:
    """An entry does not say in which conversation it was stored, so the phrase decides."""
    store = _entry_store(memory)
    if store is None or all(one.phrase is None for one in rule.rules):
        return
    for entry in store.entries():
        at = datetime.fromtimestamp(entry.created_at_ms / 1000, UTC)
        # A removal that is completed later leaves what was stored since.
        about = [one for one in rule.rules if at <= one.at and one.covers_time(at)]
        if any(rule.has_phrase(one, entry.text) for one in about):
            yield entry


def _host_files_about(memory: Memory, rule: ForgottenMessages) -> Iterator[str]:
    """Files of hosts that are searched and not kept by us."""
    transcripts = memory.indexer.transcripts
    if transcripts is None:
        return
    for path in transcripts.scan().notes:
        if is_kept(path) or path.count("/") < 2:
            continue
        try:
            if transcripts.has_message(path, rule.of_session(session_stem(path))):
                yield path
        except NoteUnreadable:
            continue  # `notewell status` reports it.


def _notes_about(memory: Memory, rule: ForgottenMessages) -> Iterator[NotePlace]:
    names = _session_names(memory)
    for path in sorted(memory.notes.scan().notes):
        try:
            text = memory.notes.read(path).text
        except NoteUnreadable:
            continue  # `notewell status` reports it.
        for one in rule.rules:
            if one.phrase is not None:
                yield from (NotePlace(path, line) for line in _lines_with(text, rule))
            elif text.startswith(SESSION_HEADING) and _is_note_of(memory, text, rule, names):
                yield NotePlace(path, 1)


def _session_names(memory: Memory) -> dict[str, str]:
    return session_ids(place_of(memory))


def _lines_with(text: str, rule: ForgottenMessages) -> Iterator[int]:
    """The lines where the phrase begins; it may go on in the next line."""
    (one,) = rule.rules
    if not rule.has_phrase(one, text):
        return
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        rest = "\n".join(lines[number : number + 3])
        if rule.has_phrase(one, line) or (
            rule.has_phrase(one, f"{line}\n{rest}") and not rule.has_phrase(one, rest)
        ):
            yield number


def _is_note_of(memory: Memory, text: str, rule: ForgottenMessages, names: dict[str, str]) -> bool:
    """Whether a session note is about a conversation, or of a time, that is forgotten."""
    (one,) = rule.rules
    fact = _SESSION_FACT.search(text)
    session = names.get(fact[1], fact[1]) if fact else None
    return one.covers_session(session) and one.covers_time(_time_of(memory, text))


def _time_of(memory: Memory, text: str) -> datetime | None:
    heading = text.partition("\n")[0].removeprefix(SESSION_HEADING).strip()
    try:
        at = datetime.strptime(heading, _HEADING_TIME)  # noqa: DTZ007 - the zone follows
    except ValueError:
        return None
    return at.replace(tzinfo=memory.zone) if memory.zone else at.astimezone()


# -- forgetting ----------------------------------------------------------------------------------


def forget_found(memory: Memory, findings: Findings) -> BackendFailed | None:
    """Remove what was found, so that no file of ours has it, and it does not come back. Returns
    why QMD's index is not made anew yet.

    An error leaves a rule that is not done; `finish_forgetting` goes on with it.
    """
    place = place_of(memory)
    with state_lock(place.record):
        (rule,) = findings.rule.rules
        stored = ForgottenMessages(
            read_forgotten(place.record).salt or findings.rule.salt,
            (replace(rule, counts=findings.counts),),
        )
        store_rule(place, stored)
        return _complete(memory, place, stored)


def has_unfinished(memory: Memory) -> bool:
    return bool(unfinished_rules(place_of(memory)))


def finish_forgetting(memory: Memory) -> int:
    """Complete what was interrupted; returns how many rules."""
    place = place_of(memory)
    if not unfinished_rules(place):
        return 0
    with state_lock(place.record):
        unfinished = unfinished_rules(place)
        for rule in unfinished:
            _complete(memory, place, rule)
    return len(unfinished)


def _complete(memory: Memory, place: ForgetPlace, rule: ForgottenMessages) -> BackendFailed | None:
    remove_messages(place, rule)
    remove_from_logs(place, rule)
    store = _entry_store(memory)
    for entry in list(_entries_about(memory, rule)):
        if store is not None:
            store.forget(entry.id)
    trouble = clean_traces(memory)
    for one in rule.rules:
        at = min(one.at, memory.now())
        record_forgetting(place.journal, Forgetting(one.id, at, _found_by(one), one.counts))
    finish_rule(place, rule)
    return trouble


def _found_by(rule: ForgetRule) -> tuple[str, ...]:
    facts = {
        "session": bool(rule.sessions),
        "time": rule.after is not None or rule.before is not None,
        "phrase": rule.phrase is not None,
    }
    return tuple(name for name, is_named in facts.items() if is_named)
