"""How the last sync ended, in a small file, so that each process can report it.

    Memory.sync ──▶ SyncOutcome ──next_state──▶ SyncState on disk ──▶ Memory.status

A sync often runs where nobody looks: in a hook, a watcher, a server. `notewell status` is another
process and would not know that the provider refused the key. A later sync that succeeds removes
the failure. A sync without vectors asks no embedder, so it leaves an embedder's failure in place.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from notewell.errors import (
    BackendFailed,
    EmbedderTrouble,
    IndexTrouble,
    StateNotWritable,
    VectorsPending,
)
from notewell.records import asdict, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from notewell.embedders import Decision
    from notewell.errors import NotewellError

SyncFailureKind: TypeAlias = Literal["embedder", "index", "engine", "other"]


@dataclass(frozen=True, slots=True)
class SyncFailure:
    """Why the last sync did not do all of its work."""

    kind: SyncFailureKind
    text: str
    public: str
    """For remote readers; names no folder."""
    at: str
    """An ISO time."""


@dataclass(frozen=True, slots=True)
class ProviderFallback:
    """The second provider made the vectors, in place of the first one."""

    wanted: str
    used: str
    reason: str
    since: str
    """An ISO time."""


@dataclass(frozen=True, slots=True)
class BatchFailure:
    """Batch jobs failed, and plain requests took their place at the full price."""

    failures: int
    off_because: str | None
    text: str
    at: str
    """An ISO time."""


@dataclass(frozen=True, slots=True)
class SyncState:
    """What is known about the syncs of one memory."""

    failure: SyncFailure | None = None
    fallback: ProviderFallback | None = None
    batch: BatchFailure | None = None


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """How one sync ended."""

    trouble: NotewellError | None
    vectors: bool
    """Whether it was to compute vectors."""
    decision: Decision | None = None
    """Which embedder is in use, and why."""
    batch_failures: int = 0
    batch_off_because: str | None = None
    batch_text: str = ""
    """The last failure of a batch job."""


# -- deciding ------------------------------------------------------------------------------------


def next_state(state: SyncState, outcome: SyncOutcome, at: str) -> SyncState:
    """What is known after a sync."""
    if not outcome.vectors:
        # No embedder was asked: what is known about embedders and batch jobs stays.
        is_embedders = state.failure is not None and state.failure.kind == "embedder"
        kept = state.failure if is_embedders else None
        return replace(state, failure=_failure(outcome.trouble, at) or kept)
    return SyncState(
        failure=_failure(outcome.trouble, at),
        fallback=_fallback(outcome.decision, state.fallback, at),
        batch=_batch(outcome, state.batch, at),
    )


def _failure(trouble: NotewellError | None, at: str) -> SyncFailure | None:
    # A batch job that is under way is no failure.
    if trouble is None or isinstance(trouble, VectorsPending):
        return None
    return SyncFailure(_kind(trouble), str(trouble), trouble.public_text(), at)


def _kind(trouble: NotewellError) -> SyncFailureKind:
    if isinstance(trouble, EmbedderTrouble):
        return "embedder"
    if isinstance(trouble, BackendFailed):
        return "engine"
    return "index" if isinstance(trouble, IndexTrouble) else "other"


def _fallback(
    decision: Decision | None, known: ProviderFallback | None, at: str
) -> ProviderFallback | None:
    if decision is None or not decision.fell_back:
        return None
    if known and (known.wanted, known.used) == (decision.requested, decision.used):
        # The first reason is the real one. A later process only knows that the fallback made the
        # index.
        return known
    return ProviderFallback(decision.requested, decision.used, decision.why, at)


def _batch(outcome: SyncOutcome, known: BatchFailure | None, at: str) -> BatchFailure | None:
    if outcome.batch_failures or outcome.batch_off_because:
        return BatchFailure(
            outcome.batch_failures, outcome.batch_off_because, outcome.batch_text, at
        )
    # While the sync itself fails, nothing shows that batch jobs work again.
    return known if outcome.trouble else None


# -- the file ------------------------------------------------------------------------------------


class SyncRecord:
    """`Memory.sync_record`. Reading and writing never raise: a sync that has worked must not fail
    because it cannot be recorded."""

    def __init__(self, file: Path, now: Callable[[], datetime]) -> None:
        self._file = file
        self._now = now

    def read(self) -> SyncState:
        from notewell.files import read_json

        return _state(read_json(self._file))

    def add(self, outcome: SyncOutcome) -> None:
        from notewell.files import state_lock, write_json

        at = self._now().isoformat(timespec="seconds")
        before = self.read()
        # Most syncs change nothing here, and then nothing is written.
        if next_state(before, outcome, at) == before:
            return
        with suppress(StateNotWritable), state_lock(self._file):
            write_json(self._file, asdict(next_state(self.read(), outcome, at)))


def _state(value: Mapping[str, Any]) -> SyncState:
    return SyncState(
        _made(SyncFailure, value.get("failure")),
        _made(ProviderFallback, value.get("fallback")),
        _made(BatchFailure, value.get("batch")),
    )


def _made(kind: Callable[..., Any], value: object) -> Any:
    """None for a record of another version, or a damaged one."""
    if not isinstance(value, dict):
        return None
    texts = {name: part for name, part in value.items() if name != "failures" and part is not None}
    if not all(isinstance(part, str) for part in texts.values()):
        return None
    try:
        return kind(**value)
    except TypeError:
        return None
