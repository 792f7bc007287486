"""What every engine does. Tools, servers and the command line know nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.engines.builtin import ViewAnswer
    from notewell.engines.status import Status
    from notewell.index import StorePlace
    from notewell.search import Question, SearchContext
    from notewell.sync import ProgressCallback, SyncReport
    from notewell.types import Answer, Notice


class Engine(Protocol):
    """Raises `BackendFailed` if it could not do its work. An empty answer is not a failure: it
    says why it is empty. An interrupt by the caller is not a failure either."""

    @property
    def name(self) -> str: ...

    def sync_before_search(self, question: Question) -> Notice | None:
        """Take in what changed a moment ago, if that is quick. Returns a notice for the user if
        the answer may miss something."""
        ...

    def search(self, question: Question) -> Answer:
        """Hits, best first; `get` can read each of their paths. Reads only: what changed since
        the last sync is not part of the answer."""
        ...

    def get(self, path: str) -> str:
        """The text of a note, or of another file that a hit names, as it is on disk now."""
        ...

    def sync(
        self,
        *,
        force: bool = False,
        vectors: bool = True,
        everything: bool = True,
        progress: ProgressCallback,
    ) -> SyncReport:
        """Take in all changes; `force` builds a new index. Without `everything`, a transcript that
        has hardly grown waits for more."""
        ...

    def check(self) -> None:
        """Raises what a search would raise now."""
        ...

    def status(self) -> Status:
        """The state of the engine; only `check` finds out whether it answers. Never raises for a
        damaged index: the status is what reports the damage."""
        ...

    def close(self) -> None: ...


def search_fresh(engine: Engine, question: Question) -> Answer:
    """Sync first, then search; the answer carries the notice of the sync."""
    # Two calls in the protocol: a fallback syncs one engine and may have to search the other.
    notice = engine.sync_before_search(question)
    return with_sync_notice(engine.search(question), notice)


def with_sync_notice(answer: Answer, notice: Notice | None) -> Answer:
    """What was saved a moment ago is not in it. Without an index nothing is, and the answer
    itself says so."""
    if notice is None or not answer.has_index:
        return answer
    return replace(answer.with_notice(notice), degraded=True)


# -- for the built-in engine ---------------------------------------------------------------------

SearchElsewhere: TypeAlias = "Callable[[SearchContext], ViewAnswer | None]"
"""The method of a `StoreSearcher`, for one index."""


class StoreSearcher(Protocol):
    """Searches indexes elsewhere than in the thread of the caller."""

    def search(self, place: StorePlace, context: SearchContext) -> ViewAnswer | None:
        """None: it cannot do it now; the caller searches itself."""
        ...
