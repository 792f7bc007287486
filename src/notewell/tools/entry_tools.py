"""The tools for the entries of one agent. A `NotewellError` becomes a `Failure`.

    memory_recall(entries, RecallInput("what does the user drink?")).to_json()

The caller opens the store for one agent; a model cannot choose another agent.

Hosts call two functions without being asked by the model:

    before a turn   recall_for_turn(entries, prompt, settings)  text to put before the prompt
    after a turn    capture_turn(entries, messages, settings)   messages of the user become entries

Both do nothing unless the settings switch them on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from notewell.capture import without_injected
from notewell.entries import (
    IMPORTANCE,
    LIMIT,
    MAX_LIMIT,
    EntriesBusy,
    EntriesSettings,
    EntriesTrouble,
    Recalled,
    category_of,
    reads_like_orders,
    refusal,
)
from notewell.entries import MAX_TEXT_CHARS as MAX_ENTRY_CHARS
from notewell.errors import BadRequest, NotewellError
from notewell.limits import MAX_QUERY_CHARS
from notewell.records import dataclass, replace
from notewell.tools.failures import DISABLED, Failure, failure_of
from notewell.tools.fence import FIELDS_REMINDER, REMINDER, escaped, fenced
from notewell.tools.inputs import MAX_TEXT_CHARS, Arguments, CallContext
from notewell.tools.outputs import fit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.capture import Message
    from notewell.entries import EntryStore, MemoryEntry, Stored

MAX_WORD_CHARS = 100
"""Longer than any id or category."""
MAX_CAPTURED = 3
"""Per turn: more statements at once are rather a story."""
RECALLED = 3
MIN_SCORE = 0.4
"""Higher than for an explicit recall: an unrequested weak entry only distracts the model."""
_OFF = EntriesSettings()
_NOTHING = "nothing stored is about this"
_HERE = CallContext()


@dataclass(frozen=True, slots=True)
class RecallInput:
    query: str
    limit: int = LIMIT

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> RecallInput:
        values = Arguments(arguments, ("query", "limit"))
        return cls(
            values.text("query", MAX_QUERY_CHARS), values.whole("limit", 1, MAX_LIMIT) or LIMIT
        )


@dataclass(frozen=True, slots=True)
class StoreInput:
    text: str
    importance: float = IMPORTANCE
    category: str = "other"

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> StoreInput:
        values = Arguments(arguments, ("text", "importance", "category"))
        importance = values.share("importance")
        return cls(
            values.text("text", MAX_TEXT_CHARS),
            # Not `or`: an importance of 0 is valid.
            IMPORTANCE if importance is None else importance,
            values.text("category", MAX_WORD_CHARS) if values.has("category") else "other",
        )


@dataclass(frozen=True, slots=True)
class ForgetInput:
    """Exactly one of the two is set."""

    memory_id: str | None = None
    query: str | None = None

    @classmethod
    def parse(cls, arguments: Mapping[str, object]) -> ForgetInput:
        values = Arguments(arguments, ("memoryId", "query"))
        # With both, a wrong id and a right query would compete about what is deleted for good.
        if values.has("memoryId") == values.has("query"):
            raise BadRequest("give either 'memoryId' or 'query'")
        if values.has("memoryId"):
            return cls(memory_id=values.text("memoryId", MAX_WORD_CHARS))
        return cls(query=values.text("query", MAX_QUERY_CHARS))


@dataclass(frozen=True, slots=True)
class RecallOutput:
    results: tuple[Recalled, ...]
    waiting: int = 0
    left_out: int = 0
    notice: str | None = None

    def to_json(self) -> dict[str, Any]:
        payload: dict[str, Any] = {"results": [_entry_json(result) for result in self.results]}
        payload |= {"waiting": self.waiting, "leftOut": self.left_out}
        # The reminder is only useful beside quoted text, and each call pays for its tokens.
        payload |= {"reminder": FIELDS_REMINDER} if self.results else {"reason": _NOTHING}
        return payload | ({"notice": self.notice} if self.notice else {})

    def to_text(self) -> str:
        parts = (
            [REMINDER, *map(quoted, self.results)] if self.results else [f"Nothing: {_NOTHING}."]
        )
        if self.left_out:
            parts.append(f"Weaker entries left out to keep this short: {self.left_out}.")
        if self.notice:
            parts.append(f"Note: {self.notice}")
        return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class StoreOutput:
    entry: MemoryEntry
    added: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.entry.id,
            "added": self.added,
            "text": escaped(self.entry.text),
            "category": self.entry.category,
        }

    def to_text(self) -> str:
        if self.added:
            return f"Stored: {self.entry.id}"
        # The stored text may use other words than the new one, so the model sees it.
        return f"It was there already:\n{fenced(self.entry.text, entry=self.entry.id)}"


@dataclass(frozen=True, slots=True)
class ForgetOutput:
    entry: MemoryEntry | None
    candidates: tuple[Recalled, ...] = ()

    def to_json(self) -> dict[str, Any]:
        payload: dict[str, Any] = {"deleted": self.entry is not None}
        if self.entry is not None:
            return payload | {"id": self.entry.id, "text": escaped(self.entry.text)}
        # The candidates come with their ids: the next call can then name one of them.
        payload |= {"candidates": [_entry_json(result) for result in self.candidates]}
        return payload | {"reason": self._reason(), "reminder": FIELDS_REMINDER}

    def to_text(self) -> str:
        if self.entry is not None:
            return f"Deleted:\n{fenced(self.entry.text, entry=self.entry.id)}"
        return "\n".join((f"Nothing was deleted: {self._reason()}", *self._quoted()))

    def _quoted(self) -> list[str]:
        return [REMINDER, *map(quoted, self.candidates)] if self.candidates else []

    def _reason(self) -> str:
        if self.candidates:
            return "it is not clear which entry is meant; call again with the memoryId of one"
        return "there is no such entry"


EntryOutput: TypeAlias = RecallOutput | StoreOutput | ForgetOutput


def memory_recall(
    entries: EntryStore, request: RecallInput, context: CallContext = _HERE
) -> RecallOutput | Failure:
    """The entries that answer, best first, up to the character budget of the conversation."""
    if not context.enabled:
        return DISABLED
    try:
        answer = entries.recall(request.query, limit=request.limit)
    except NotewellError as error:
        return _failure(error)
    results, left_out = fit_entries(answer.results, context.budget_chars())
    return RecallOutput(results, answer.waiting, left_out, answer.public_notice)


def memory_store(
    entries: EntryStore, request: StoreInput, context: CallContext = _HERE
) -> StoreOutput | Failure:
    """Store a statement; a text that gives orders to a model is refused."""
    if not context.enabled:
        return DISABLED
    # Not more than can be stored: a longer text is refused below anyway.
    if reads_like_orders(request.text[:MAX_ENTRY_CHARS]):
        return Failure(
            "this reads like orders to a model, and would come back as such",
            "store what is true as a statement, or leave it",
        )
    try:
        done = entries.store(
            request.text, importance=request.importance, category=request.category
        )
    except NotewellError as error:
        return _failure(error)
    return StoreOutput(done.entry, done.added)


def memory_forget(
    entries: EntryStore, request: ForgetInput, context: CallContext = _HERE
) -> ForgetOutput | Failure:
    """Delete the entry with this id, or the one that the query clearly means."""
    if not context.enabled:
        return DISABLED
    try:
        if request.memory_id is not None:
            done = entries.forget(request.memory_id)
        else:
            # `ForgetInput.parse` guarantees a query here; a program that builds the input may not.
            done = entries.forget_by(request.query or "")
    except NotewellError as error:
        return _failure(error)
    return ForgetOutput(done.entry, done.candidates)


def call_entries(
    entries: EntryStore, name: str, arguments: Mapping[str, object], context: CallContext = _HERE
) -> EntryOutput | Failure:
    """Call a tool by its name with a model's JSON arguments; raises `BadRequest`."""
    match name:
        case "memory_recall":
            return memory_recall(entries, RecallInput.parse(arguments), context)
        case "memory_store":
            return memory_store(entries, StoreInput.parse(arguments), context)
        case "memory_forget":
            return memory_forget(entries, ForgetInput.parse(arguments), context)
    raise BadRequest(f"there is no tool {name[:40]!r}")


# -- before and after a turn ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Injection:
    """What to put before a prompt."""

    text: str = ""
    """Empty if there is nothing to say."""
    results: tuple[Recalled, ...] = ()
    trouble: Failure | None = None
    """Why recall failed; the turn continues without it."""
    notice: str | None = None
    """Why the entries were searched by words alone."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What was stored of the messages of a turn."""

    stored: tuple[Stored, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """The beginning of a message, and why it was refused."""
    trouble: NotewellError | None = None
    """What stopped the capture; the entries in `stored` are stored nevertheless."""


def recall_for_turn(
    entries: EntryStore,
    prompt: str,
    settings: EntriesSettings = _OFF,
    context: CallContext = _HERE,
) -> Injection:
    """Entries about the user's prompt, quoted as data. Nothing in group conversations: others read
    there, and an entry may be confidential.
    """
    # The prompt may contain what earlier recalls injected. Searching for that would find the
    # same entries again, whatever the user asks now.
    query = without_injected(prompt).strip()[: settings.recall_chars]
    if not settings.auto_recall or not context.is_private or not query:
        return Injection()
    answer = memory_recall(entries, RecallInput(query, RECALLED), context)
    if isinstance(answer, Failure):
        # Recall is an extra: its failure must not stop the turn.
        return Injection(trouble=answer)
    relevant = tuple(
        result
        for result in answer.results
        # Also checked here: entries can be stored by `notewell entries store` without the filter.
        if result.score >= MIN_SCORE and not reads_like_orders(result.entry.text)
    )
    results, _ = fit_entries(relevant, context.budget_chars())
    text = "\n".join((REMINDER, *map(quoted, results))) if results else ""
    return Injection(text, results, notice=answer.notice)


def capture_turn(
    entries: EntryStore, messages: Sequence[Message], settings: EntriesSettings = _OFF
) -> Capture:
    """Store messages of the user that are statements (see `entries/auto_capture.py`)."""
    if not settings.auto_capture:
        return Capture()
    stored: list[Stored] = []
    refused: list[tuple[str, str]] = []
    for message in messages:
        # Otherwise recalled text would be stored as a new statement of the user.
        text = without_injected(message.text).strip()
        why = refusal(text, role=message.role, max_chars=settings.capture_chars)
        # Checked after `refusal`, so that a refused message is reported with its own reason.
        if why is None and len(stored) >= MAX_CAPTURED:
            why = f"{MAX_CAPTURED} entries a turn are enough"
        if why is not None:
            # Enough to recognise the message by; a refused text should not be kept in logs.
            refused.append((text[:40], why))
            continue
        try:
            stored.append(entries.store(text, category=category_of(text)))
        except NotewellError as error:
            # The next message would meet the same failure.
            return Capture(tuple(stored), tuple(refused), error)
    return Capture(tuple(stored), tuple(refused))


# -- shared --------------------------------------------------------------------------------------


def fit_entries(
    results: tuple[Recalled, ...], budget_chars: int
) -> tuple[tuple[Recalled, ...], int]:
    """The best results within the budget, the last one shortened; and how many are left out."""
    # Escaped first, because escaping makes a text longer.
    fits = fit([escaped(result.entry.text) for result in results], budget_chars)
    shortened = tuple(
        replace(result, entry=replace(result.entry, text=text))
        for result, text in zip(results, fits.texts, strict=False)
    )
    return shortened, fits.left_out


def quoted(result: Recalled) -> str:
    """An entry between marks that its text cannot contain."""
    entry, score = result.entry, f"{result.score:.2f}"
    return fenced(entry.text, entry=entry.id, category=entry.category, score=score)


def _entry_json(result: Recalled) -> dict[str, Any]:
    entry = result.entry
    return {
        "id": entry.id,
        "text": escaped(entry.text),
        "category": entry.category,
        "importance": entry.importance,
        "createdAt": entry.created_at_ms,
        # More digits only cost tokens.
        "score": round(result.score, 4),
    }


def _failure(error: NotewellError) -> Failure:
    if isinstance(error, EntriesBusy):
        return Failure(error.public_text(), "ask again in a few seconds", unavailable=True)
    # `failure_of` does not know these: it serves callers that never load the entries.
    if isinstance(error, EntriesTrouble):
        action = "go on without entries, and tell the user to run `notewell entries list`"
        return Failure(error.public_text(), action, unavailable=True)
    return failure_of(error)
