"""What happens around the turns of a conversation, the same for every framework.

    turns = Turns(memory, context_window=200_000)
    turns.start()           for the instructions of the agent: MEMORY.md and the last two days
    turns.before(prompt)    text to put before a prompt: entries about it, with `autoRecall`
    turns.after(facts)      entries of what was said, with `autoCapture`; keeps the conversation,
                            with `sessions.keep.enabled`; and: is a flush due?

Each adapter has an `after_turn` that makes the `TurnFacts` from the result of its framework.
Nothing is raised: a conversation goes on without its memory, and the log says why.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from notewell.capture import FlushFacts, Message, RunFlush
from notewell.errors import NotewellError
from notewell.records import dataclass
from notewell.tools import (
    HERE,
    Capture,
    Failure,
    FlushInput,
    bootstrap,
    capture_turn,
    keep_said,
    memory_flush,
    recall_for_turn,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.entries import EntryStore
    from notewell.memory import Memory
    from notewell.tools import CallContext, FlushOutput

HOST = "python"
"""The host of conversations that a program of the user keeps."""

_log = logging.getLogger(__name__)


class TurnFacts(NamedTuple):
    """One turn as a framework reports it."""

    said: tuple[str, ...]
    """What the user said in it."""
    used_tokens: int
    """How much of the context window the conversation takes."""
    replied: tuple[str, ...] = ()
    """What the assistant answered."""


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """What happened after a turn, and what the host should do next."""

    answer: FlushOutput | Failure
    captured: Capture
    """The entries that were stored."""
    kept: int = 0
    """How many messages were kept of the conversation."""

    @property
    def flush(self) -> RunFlush | None:
        """The turn to run now, which the user does not see: `system_prompt` and `prompt`, with the
        tool `memory_append`. None: nothing to do."""
        if isinstance(self.answer, Failure):
            return None
        decision = self.answer.decision
        return decision if isinstance(decision, RunFlush) else None


class Turns:
    """One conversation. `entries` defaults to those of the memory, if its settings have any."""

    def __init__(
        self,
        memory: Memory,
        context: CallContext = HERE,
        *,
        context_window: int,
        entries: EntryStore | None = None,
        session: str | None = None,
    ) -> None:
        """`session` names the conversation if it is kept; without it, each object has its own."""
        self._session = session or f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.urandom(4).hex()}"
        self._memory = memory
        self._context = context
        self._context_window = context_window
        self._entries = entries

    def start(self) -> str:
        """What a session begins with, quoted as data; empty in groups."""
        try:
            return bootstrap(self._memory, context=self._context)
        except NotewellError as error:
            _log.warning("a session begins without its notes: %s", error)
            return ""

    def before(self, prompt: str) -> str:
        """Entries about the prompt, quoted as data; empty unless `autoRecall` is on."""
        settings = self._memory.settings.entries
        if settings is None or not settings.auto_recall:
            return ""
        entries = self._opened_entries()
        if entries is None:
            return ""
        injection = recall_for_turn(entries, prompt, settings, self._context)
        if injection.trouble:
            _log.warning("no entries were recalled: %s", injection.trouble.error)
        return injection.text

    def after(
        self, turn: TurnFacts, *, compactions: int | None = None, failed: bool = False
    ) -> AfterTurn:
        """Call it after each turn. `failed`: the flush that was handed out could not be run."""
        facts = FlushFacts(turn.used_tokens, self._context_window, compactions=compactions)
        answer = memory_flush(self._memory, FlushInput(facts, failed=failed), self._context)
        if isinstance(answer, Failure):
            _log.warning("no flush was decided: %s", answer.error)
        return AfterTurn(answer, self._capture(turn.said), self._keep(turn))

    def _keep(self, turn: TurnFacts) -> int:
        """How many messages of the turn were kept; 0 unless the settings keep conversations."""
        if refusal(self._memory, self._context):
            return 0
        said = [Message("user", text) for text in turn.said]
        replied = [Message("assistant", text) for text in turn.replied]
        kept = keep_said(self._memory, HOST, self._session, [*said, *replied], cwd=str(Path.cwd()))
        if kept.trouble:
            _log.warning("the turn is not kept: %s", kept.trouble)
        return kept.messages

    def _capture(self, said: Iterable[str]) -> Capture:
        settings = self._memory.settings.entries
        if settings is None or not settings.auto_capture:
            return Capture()
        entries = self._opened_entries()
        if entries is None:
            return Capture()
        captured = capture_turn(entries, [Message("user", text) for text in said], settings)
        if captured.trouble:
            _log.warning("entries were not stored: %s", captured.trouble)
        return captured

    def _opened_entries(self) -> EntryStore | None:
        """None if this conversation may not see entries, or if there are none. That holds for
        storing too, as for the tools: the answer shows an entry that is there already."""
        if refusal(self._memory, self._context):
            return None
        if not self._memory.sees_private(self._context.session_key):
            return None
        try:
            return self._entries or self._memory.entries
        except NotewellError as error:
            _log.warning("the entries cannot be opened: %s", error)
            return None
