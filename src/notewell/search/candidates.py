"""The two legs of a hybrid search: full-text and vectors, each with the chunks it thinks best.

    question ──prepare──▶ SearchContext ──collect──▶ Candidates

`prepare` embeds the question. It is given facts about the index, and no view: a slow provider must
not hold up other readers. Everything after it happens in one view. So a search opens two views at
most, both for a moment: the facts come from one before the provider is called, the hits from one
after it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from notewell.core import (
    TextMatches,
    TextQuery,
    as_spelled,
    languages_of,
    ranking,
    text_query,
    text_scores,
    useful_terms,
)
from notewell.errors import EmbedderTrouble
from notewell.records import dataclass, field, replace
from notewell.types import Notice, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.core import TextStats
    from notewell.index import Identity, IndexFacts, IndexView, StoredChunk
    from notewell.ports import Embedder, ModelFacts, Vectors
    from notewell.search.settings import SearchOptions
    from notewell.types import Mode


EXACT_CHUNKS = 8192
"""Up to so many chunks of a folder are compared one by one: 12 MB of vectors."""
RUN_INDEX = Notice.same("run `notewell index`")
NOTES_ALONE = Notice.same("no conversations are searched here: the notes alone were searched")
WORDS_INSTEAD = "; keywords answer, although `query.hybrid.enabled` is false"


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What one search knows before it opens its view."""

    question: str
    options: SearchOptions
    facts: ModelFacts
    """Of the embedder in use."""
    index: IndexFacts | None = None
    """As it was before the question was embedded; None: there is none, or it was not needed."""
    vector: Vectors | None = None
    """The question as a vector; None leaves the search to the words."""
    notice: Notice | None = None
    """Why there is no vector."""
    degraded: bool = False
    """There should be a vector."""


@dataclass(slots=True)
class Candidates:
    """The chunks that each leg found, by id, and how the legs worked."""

    query: TextQuery
    texts: dict[int, float] = field(default_factory=dict)
    vectors: dict[int, float] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)
    """Of chunks with windows, the mix of the chunk's own and that of its best window."""
    windows: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """The cosine of each window; chunks without windows are left out."""
    exact: set[int] = field(default_factory=set)
    worth: dict[str, float] = field(default_factory=dict)
    """How much each term of the question counts."""
    chunks: int = 0
    """How many the index has; if it has many, and no word of the question, at least so many."""
    mode: Mode = "keyword"
    notice: Notice | None = None
    """Why the mode is less than hybrid."""
    degraded: bool = False
    """The mode is less than what was requested."""
    hidden: frozenset[int] = frozenset()
    """Chunks that the answer must not quote."""
    among: frozenset[int] | None = None
    """The chunks of conversations that may be found; None: all of them."""
    folder_notice: Notice | None = None
    """Why there are none in the folder."""

    def leaves_out(self, chunk: StoredChunk) -> bool:
        """Whether it is of a conversation in another folder than the wanted one."""
        is_said = chunk.source == "sessions"
        return self.among is not None and is_said and chunk.id not in self.among

    def worth_in(self, text: str) -> Mapping[str, float]:
        """How much each term counts, also in the forms that a text has."""
        return as_spelled(self.worth, self.query, text)

    @property
    def legs(self) -> ranking.LegScores:
        estimates = (
            ranking.estimated_vectors(self.texts, self.vectors) if self.mode == "partial" else {}
        )
        return ranking.LegScores(
            self.texts, self.vectors, self.cosines, frozenset(self.exact), estimates
        )


class QuestionCache:
    """The vectors of the last questions, in memory: an agent often repeats one, and every vector
    of a remote provider costs a request."""

    def __init__(self, entries: int) -> None:
        """With 0 `entries` nothing is kept."""
        self._entries = entries
        self._vectors: OrderedDict[tuple[str, str, str, str], Vectors] = OrderedDict()
        # Searches of several threads share the cache.
        self._lock = threading.Lock()

    def vector(self, embedder: Embedder, question: str) -> Vectors:
        """Raises `EmbedderTrouble`; a failure is not kept."""
        facts = embedder.facts
        key = (facts.provider, facts.model, facts.endpoint_key, question)
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                return self._vectors[key]
        # Not under the lock: other questions must not wait for a slow provider.
        vector: Vectors = embedder.embed([question], "query")[0]
        with self._lock:
            self._vectors[key] = vector
            while len(self._vectors) > self._entries:
                self._vectors.popitem(last=False)
        return vector


# -- before the view -----------------------------------------------------------------------------


def prepare(
    index: IndexFacts | None,
    question: str,
    embedder: Embedder,
    options: SearchOptions,
    cache: QuestionCache,
    next_step: Callable[[], Notice] = lambda: RUN_INDEX,
) -> SearchContext:
    """Embed the question, if the index has vectors to compare it with. `next_step` says what helps
    if it has none."""
    facts = embedder.facts
    if options.keyword_only or index is None:
        return SearchContext(question, options, facts)
    vector = None
    reason, degraded = _why_no_vector(question, embedder, index, next_step)
    if reason is None:
        try:
            vector = cache.vector(embedder, question)
        except EmbedderTrouble as trouble:
            reason, degraded = Notice(str(trouble), trouble.public_text()), True
    return SearchContext(question, options, _scaled(facts, index), index, vector, reason, degraded)


def _scaled(facts: ModelFacts, index: IndexFacts) -> ModelFacts:
    """With the scale that was measured in the index, for a model whose own is not known."""
    if index.scale is None or not facts.measures_scale:
        return facts
    return replace(facts, cosine_floor=index.scale.floor, cosine_ceiling=index.scale.ceiling)


def _why_no_vector(
    question: str, embedder: Embedder, index: IndexFacts, next_step: Callable[[], Notice]
) -> tuple[Notice | None, bool]:
    """Why a vector of the question would be useless, and whether that counts as degraded."""
    facts, identity, waiting = embedder.facts, index.identity, index.waiting
    # Not degraded: no sync and no setting of this model would give such a question a vector.
    if not facts.reads(question):
        return Notice.same(f"{facts.model} reads {facts.scripts_read()}"), False
    if (identity.provider, identity.model) != (facts.provider, facts.model):
        return next_step().after(f"the index holds vectors of {identity.model}"), True
    if facts.dims and identity.dims not in (0, facts.dims):
        return next_step().after(_other_dims(identity, facts.dims)), True
    if not index.is_readable:
        text = f"the index holds vectors of {identity.driver}: run `notewell index`"
        return Notice.same(text), True
    if index.has_vectors:
        return None, False
    if not waiting:
        text = f"{facts.model} reads {facts.scripts_read()}, and the notes are in others"
        return Notice.same(text), False
    text = f"none of {waiting} chunks has a vector yet"
    if waiting == 1:
        text = "the only chunk has no vector yet"
    missing = embedder.missing()
    if missing is None:
        return next_step().after(text), True
    return Notice(str(missing), missing.public_text()).after(text), True


def _other_dims(identity: Identity, dims: int) -> str:
    """The same name of a model, and vectors that cannot be compared."""
    return (
        f"the index holds vectors of {identity.dims} dimensions, and {identity.model} now gives "
        f"{dims}"
    )


# -- inside the view -----------------------------------------------------------------------------


def collect(view: IndexView, context: SearchContext, also: Sequence[int] = ()) -> Candidates:
    """Ask both legs. `also` names chunks that get a score even if neither leg finds them."""
    query = text_query(context.question, languages_of(view.having))
    # Bigrams that no chunk contains are dropped, and of an over-long query the commonest terms.
    query = useful_terms(query, view.having([one for group in query.groups for one in group]))
    candidates = Candidates(query, notice=context.notice, degraded=context.degraded)
    if context.options.hides_private:
        candidates.hidden = _private_chunks(view)
    if context.options.running_session is not None:
        candidates.hidden |= _session_chunks(view, context.options.running_session)
    if context.options.folder is not None:
        _narrow(view, context.options, candidates)
    if context.options.hybrid or context.vector is None:
        search_words(view, context.options, candidates, also)
    if context.vector is not None:
        _search_vectors(view, context, context.vector, candidates, also)
    if not context.options.hybrid and candidates.mode == "keyword":
        _answer_by_words(view, context.options, candidates, also)
    return candidates


def _narrow(view: IndexView, options: SearchOptions, candidates: Candidates) -> None:
    """Conversations in one folder: a filter for both legs."""
    from notewell.search.narrowing import chunks_within  # Imported late: few questions need it.

    if not _sessions(options):
        # The same whatever the index has: a group must not learn which folders there are.
        candidates.among, candidates.folder_notice = frozenset(), NOTES_ALONE
        return
    among, candidates.folder_notice = chunks_within(view, options.folder or "")
    candidates.among = frozenset(among)


def _answer_by_words(
    view: IndexView, options: SearchOptions, candidates: Candidates, also: Sequence[int]
) -> None:
    """Vectors alone were requested and none can be compared: an empty answer would help nobody."""
    if not candidates.texts:
        search_words(view, options, candidates, also)
    reason = candidates.notice or Notice.same("no vectors are computed")
    candidates.notice = Notice(reason.text + WORDS_INSTEAD, reason.public + WORDS_INSTEAD)
    candidates.degraded = True


def search_words(
    view: IndexView, options: SearchOptions, candidates: Candidates, also: Sequence[int] = ()
) -> None:
    # Each leg fetches more by the number of hidden chunks and drops those: otherwise they could
    # take the place of all others.
    query, hidden = candidates.query, candidates.hidden
    matches, stats = _matching(view, options, candidates)
    if hidden:
        matches = TextMatches.of([one for one in matches if one.chunk_id not in hidden])
    if also:
        # The statistics of the first query stay: scores must be comparable with those of the hits.
        named, _ = view.matching(query, options.sources, len(also), also)
        others = [one for one in named if one.chunk_id not in matches.ids]
        matches = TextMatches.of([*matches, *others])
    if not matches:
        return
    candidates.chunks = stats.chunks
    worth = text_scores.query_weights(query, stats)
    candidates.worth = dict(zip(query.terms, worth.terms, strict=True))
    candidates.exact = text_scores.exact_matches(matches, query)
    places = {chunk_id: facts.place for chunk_id, facts in view.facts(matches.ids).items()}
    candidates.texts = text_scores.text_scores(matches, places, stats, worth)


def _matching(
    view: IndexView, options: SearchOptions, candidates: Candidates
) -> tuple[TextMatches, TextStats]:
    query, limit = candidates.query, options.candidates + len(candidates.hidden)
    if candidates.among is None:
        return view.matching(query, options.sources, limit)
    notes, stats = view.matching(query, _without_sessions(options.sources), limit)
    said, said_stats = view.matching(query, _sessions(options), limit, sorted(candidates.among))
    # The statistics are those of the whole index, but only a query with matches has them.
    return TextMatches.of([*notes, *said]), stats if notes else said_stats


def _nearest(
    view: IndexView, vector: Vectors, options: SearchOptions, candidates: Candidates
) -> list[int]:
    limit, among = options.candidates + len(candidates.hidden), candidates.among
    if among is None:
        return view.nearest(vector, options.sources, limit)
    near = view.nearest(vector, _without_sessions(options.sources), limit)
    if not _sessions(options):
        return near
    if len(among) <= EXACT_CHUNKS:
        cosines = view.cosines(vector, sorted(among))
        said = sorted(cosines, key=lambda chunk_id: (-cosines[chunk_id], chunk_id))
    else:
        _, all_said = view.counts().by_source.get("sessions", (0, 0))
        nearest = view.nearest(vector, ("sessions",), limit + all_said - len(among))
        said = [chunk_id for chunk_id in nearest if chunk_id in among]
    return [*near, *said[:limit]]


def _without_sessions(sources: Sequence[str]) -> tuple[str, ...]:
    return tuple(source for source in sources if source != "sessions")


def _sessions(options: SearchOptions) -> tuple[str, ...]:
    """The source of conversations, if they are searched at all."""
    return ("sessions",) if "sessions" in options.sources else ()


def _private_chunks(view: IndexView) -> frozenset[int]:
    """The chunks of notes that are for private conversations."""
    from notewell.core import is_private_path  # Imported late: only groups need it.

    paths = filter(is_private_path, view.notes("memory"))
    return frozenset(chunk_id for path in paths for chunk_id in view.chunks_of(path))


def _session_chunks(view: IndexView, stem: str) -> frozenset[int]:
    """The chunks of one conversation."""
    from notewell.sessions import session_stem  # Imported late: only hooks need it.

    paths = (path for path in view.notes("sessions") if session_stem(path) == stem)
    return frozenset(chunk_id for path in paths for chunk_id in view.chunks_of(path))


def _search_vectors(
    view: IndexView,
    context: SearchContext,
    vector: Vectors,
    candidates: Candidates,
    also: Sequence[int],
) -> None:
    facts, options = context.facts, context.options
    index = context.index
    # Another index may have been published while the question was embedded.
    is_same = index is not None and index.generation == view.generation
    identity = index.identity if index and is_same else view.identity()
    waiting = index.waiting if index and is_same else view.waiting()
    if (identity.model, identity.dims) != (facts.model, len(vector)):
        candidates.degraded = True
        text = f"the index now holds vectors of {identity.model}: ask again"
        if is_same:  # To ask again would not help.
            text = RUN_INDEX.after(_other_dims(identity, len(vector))).text
        candidates.notice = Notice.same(text)
        return
    # Only ids: the order of `nearest` may be approximate, so scores come from the exact cosines.
    hidden = candidates.hidden
    nearest = _nearest(view, vector, options, candidates)
    near = [chunk_id for chunk_id in nearest if chunk_id not in hidden]
    # Word matches get a cosine too: a chunk must not rank lower because only one leg saw it.
    cosines = view.cosines(vector, [*near, *candidates.texts, *also])
    if facts.window_share:
        candidates.windows = view.window_cosines(vector, list(cosines))
    candidates.cosines = ranking.with_windows(cosines, candidates.windows, facts.window_share)
    candidates.chunks = max(candidates.chunks, len(near))
    candidates.vectors = ranking.vector_scores(candidates.cosines, facts)
    candidates.degraded = waiting > 0
    candidates.mode = "hybrid" if options.hybrid else "vector"
    if candidates.degraded:
        candidates.mode = "partial"
        have = "has" if waiting == 1 else "have"
        candidates.notice = Notice.same(f"{counted(waiting, 'chunk')} {have} no vector yet")
