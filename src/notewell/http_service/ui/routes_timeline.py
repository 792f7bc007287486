"""The timeline: what was captured, recalled and changed, and by whom; the newest first.

history    an entry or a note that Notewell wrote, and whether it can be undone
searches   what agents asked, and what they got
notes      files that somebody else changed; only the last change of each is known
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Query

from notewell.capture import (
    Cut,
    Recorded,
    SearchRecord,
    decide_cut,
    parse_moment,
    recorded_searches,
    writes,
)
from notewell.errors import BadRequest, NoteUnreadable
from notewell.files import read_json_lines
from notewell.http_service.auth import GuardedRoute, needs
from notewell.http_service.context import Caller, CallerDep
from notewell.http_service.observability import AUDIT_FILE
from notewell.http_service.ui.note_card import NoteCards, note_card
from notewell.http_service.ui.note_view import modified_times
from notewell.http_service.ui.schemas_history import RecallHit, TimelineEvent, TimelineList
from notewell.http_service.ui.state import UiStateDep, run_visible
from notewell.index import ListedNote
from notewell.memory import Memory

EVENTS_PER_PAGE = 60
SAME_WRITE_S = 5
"""A file that changed so soon after a write of ours was changed by that write."""
MAX_TEXT_CHARS = 240

Kind = Literal["captured", "recalled", "changed"]
Moment = Annotated[str, Query(max_length=64)]
router = APIRouter(route_class=GuardedRoute)


class Happening(NamedTuple):
    at: datetime
    kind: Kind
    what: Recorded | SearchRecord | ListedNote


@router.get("/timeline", response_model_exclude_none=True, **needs("read"))
async def timeline(
    caller: CallerDep,
    state: UiStateDep,
    kind: Literal["all", "captured", "recalled", "changed"] = "all",
    before: Moment = "",
) -> TimelineList:
    """What happened before a moment, the newest first. An admin also sees which token wrote or
    asked; another token sees only its own questions."""
    limit = _moment(before) if before else None

    def read(memory: Memory) -> TimelineList:
        happened = [
            one
            for one in _happenings(memory, None if caller.is_admin else caller.token.id)
            if kind in ("all", one.kind) and (limit is None or one.at < limit)
        ]
        happened.sort(key=lambda one: one.at, reverse=True)
        page = happened[:EVENTS_PER_PAGE]
        names = {token.id: token.name for token in caller.context.tokens.tokens()}
        teller = _Teller(memory, state.note_cards(caller.agent), _writers(caller), names)
        return TimelineList(
            events=[teller.event(one) for one in page],
            next=page[-1].at.isoformat() if len(happened) > len(page) else None,
            recording=memory.settings.capture.recall_log,
        )

    return await run_visible(caller, "quick", read)


def _moment(text: str) -> datetime:
    try:
        return parse_moment(text)
    except ValueError:
        raise BadRequest("`before` is not a moment of this list") from None


def _happenings(memory: Memory, asker: str | None) -> Iterable[Happening]:
    """`asker`: the token whose questions are listed; None lists all."""
    written: dict[str, list[datetime]] = {}
    for write in writes(memory.journal.logs, memory.notes):
        written.setdefault(write.write.path, []).append(write.at)
        yield Happening(write.at, "captured", write)
    for search in recorded_searches(memory.journal.logs):
        if asker is None or search.asked_by == asker:
            yield Happening(search.at, "recalled", search)
    notes = [note for note in memory.inspect.notes() if note.source == "memory"]
    times = modified_times(memory, notes)
    for note in notes:
        at = times[note.path]
        near = (abs(at - one) for one in written.get(note.path, ()))
        is_ours = any(gap < timedelta(seconds=SAME_WRITE_S) for gap in near)
        if not is_ours:
            yield Happening(at, "changed", note)


def _writers(caller: Caller) -> list[tuple[datetime, str, str]]:
    """When a token wrote to which note, for an admin: the history knows the kind of writer."""
    if not caller.is_admin:
        return []
    lines = read_json_lines(caller.context.agents.state / AUDIT_FILE)
    own = (line for line in lines if line.get("agent") == caller.agent and "path" in line)
    return [(_time(line), str(line["path"]), str(line.get("name"))) for line in own]


def _time(line: Mapping[str, Any]) -> datetime:
    try:
        return parse_moment(str(line.get("at")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


class _Teller:
    """Says what happened, with the texts that a person wants to read."""

    def __init__(
        self,
        memory: Memory,
        cards: NoteCards,
        writers: list[tuple[datetime, str, str]],
        names: Mapping[str, str],
    ) -> None:
        self._memory = memory
        self._cards = cards
        self._writers = writers
        self._names = names
        self._listed = {note.path: note for note in memory.inspect.notes()}

    def event(self, happening: Happening) -> TimelineEvent:
        what = happening.what
        if isinstance(what, Recorded):
            return self._captured(what)
        if isinstance(what, SearchRecord):
            return self._recalled(what)
        card = self._cards.card(self._memory, what)
        return TimelineEvent(
            at=happening.at.isoformat(),
            kind="changed",
            path=what.path,
            title=card.title,
            text=card.text,
        )

    def _captured(self, recorded: Recorded) -> TimelineEvent:
        write = recorded.write
        text, can_undo = self._added(recorded)
        near = [
            (abs(at - recorded.at), name) for at, path, name in self._writers if path == write.path
        ]
        gap, by = min(near, default=(timedelta.max, None))
        return TimelineEvent(
            at=recorded.at.isoformat(),
            kind="captured",
            who=write.origin,
            by=by if gap < timedelta(seconds=SAME_WRITE_S) else None,
            path=write.path,
            title=self._title(write.path),
            text=text,
            id=recorded.id,
            whole=write.kind == "note",
            undone=recorded.undone,
            can_undo=can_undo,
        )

    def _added(self, recorded: Recorded) -> tuple[str | None, bool]:
        """The text that was added, if it is still there, and whether it can be undone."""
        if recorded.undone:
            return None, False
        try:
            data = self._memory.notes.read_bytes(recorded.write.path)
        except NoteUnreadable:
            data = None
        cut = decide_cut(data, recorded.write) if data is not None else None
        if data is None or not isinstance(cut, Cut):
            return None, False
        added = data[cut.start_byte : cut.end_byte].decode("utf-8", "replace")
        card = note_card("", f"# -\n\n{added}")
        return card.text[:MAX_TEXT_CHARS], True

    def _recalled(self, search: SearchRecord) -> TimelineEvent:
        return TimelineEvent(
            at=search.at.isoformat(),
            kind="recalled",
            who=search.tool,
            by=self._names.get(search.asked_by) if search.asked_by else None,
            query=search.query,
            mode=search.mode,
            took_ms=search.took_ms,
            hits=[
                RecallHit(**place._asdict(), title=self._title(place.path))
                for place in search.places
            ],
        )

    def _title(self, path: str) -> str | None:
        note = self._listed.get(path)
        return self._cards.card(self._memory, note).title if note else None
