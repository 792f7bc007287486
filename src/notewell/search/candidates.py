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
from notewell.core.layout import Layout
from notewell.core.window_codes import NO_WINDOWS
from notewell.errors import EmbedderTrouble
from notewell.records import dataclass, field, replace
from notewell.types import Notice, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from notewell.core import TextStats, WindowCosines
    from notewell.index import Identity, IndexFacts, IndexView, StoredChunk
    from notewell.ports import Embedder, ModelFacts, Vectors
    from notewell.search.settings import SearchOptions
    from notewell.types import Mode


EXACT_CHUNKS = 8192
"""Up to so many chunks of a folder, or of what fits filters, are compared one by one: 12 MB of
vectors."""
NAME_TERMS = 8
"""A longer question is not the name of a note."""
NAMING_CHUNKS = 24
"""So many chunks with all words of a question are looked through for names, and those that begin a
note: they may have front matter."""
RUN_INDEX = Notice.same("run `notewell index`")
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
    windows: WindowCosines = field(default_factory=lambda: NO_WINDOWS)
    exact: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    """The beginnings of notes that have the question as an alias; they come first."""
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
    only: frozenset[int] | None = None
    """The chunks that fit the filters of the question; None: it has none."""

    def leaves_out(self, chunk: StoredChunk) -> bool:
        """Whether it is of a conversation in another folder than the wanted one."""
        is_said = chunk.source == "sessions"
        return self.among is not None and is_said and chunk.id not in self.among

    def may_find(self, chunk_id: int) -> bool:
        return chunk_id not in self.hidden and (self.only is None or chunk_id in self.only)

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
    if options.keyword_only or index is None or not question:
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
    query = useful_terms(query, view.having(query.forms))
    candidates = Candidates(query, notice=context.notice, degraded=context.degraded)
    if context.options.is_narrowed:
        from notewell.search.narrowing import narrow  # Imported late: few questions need it.

        narrow(view, context.options, candidates)
    if context.options.hybrid or context.vector is None:
        search_words(view, context.options, candidates, also)
        _find_named(view, context, candidates)
    if context.vector is not None:
        _search_vectors(view, context, context.vector, candidates, also)
    if not context.options.hybrid and candidates.mode == "keyword":
        _answer_by_words(view, context.options, candidates, also)
    return candidates


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
    layout = matches.layout
    if layout is None:
        places = {chunk_id: facts.place for chunk_id, facts in view.facts(matches.ids).items()}
        layout = Layout.of(places, matches.lengths, stats.mean_length)
    candidates.texts = text_scores.text_scores(matches, layout, worth)


def _find_named(view: IndexView, context: SearchContext, candidates: Candidates) -> None:
    """Notes that have the question as a name, in their front matter or in a link to them."""
    query, exact = candidates.query, candidates.exact
    if len(query.terms) > NAME_TERMS:
        return
    if candidates.only is not None:  # The link may be in a note that does not fit.
        matches, _ = view.matching(query, context.options.sources, context.options.candidates)
        exact = text_scores.exact_matches(matches, query) - candidates.hidden
    best = list(exact)
    if len(exact) > NAMING_CHUNKS:
        facts, texts = view.facts(exact), candidates.texts
        best.sort(key=lambda one: (-texts.get(one, 0.0), facts[one].order))
        rest = best[NAMING_CHUNKS:]
        best[NAMING_CHUNKS:] = [one for one in rest if facts[one].place[1].start_line == 1]
    naming = [chunk for chunk in view.chunks(best).values() if _may_name(chunk.text)]
    if naming:
        from notewell.search.names import add_named  # Imported late: few chunks have names.

        add_named(view, context.question, naming, candidates)


def _may_name(text: str) -> bool:
    """Whether it has `[[note|name]]`, `[name](note.md)` or `alias: name`."""
    has_link = (".md" in text and "](" in text) or ("|" in text and "[[" in text)
    return has_link or "\nalias" in text


def _matching(
    view: IndexView, options: SearchOptions, candidates: Candidates
) -> tuple[TextMatches, TextStats]:
    query, limit = candidates.query, options.candidates + len(candidates.hidden)
    if candidates.only is not None:
        return view.matching(query, options.sources, limit, sorted(candidates.only))
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
    if candidates.only is not None:
        return _nearest_among(view, vector, options.sources, candidates.only, limit)
    if among is None:
        return view.nearest(vector, options.sources, limit)
    near = view.nearest(vector, _without_sessions(options.sources), limit)
    if not _sessions(options):
        return near
    return [*near, *_nearest_among(view, vector, ("sessions",), among, limit)]


def _nearest_among(
    view: IndexView,
    vector: Vectors,
    sources: Sequence[str],
    among: frozenset[int],
    limit: int,
) -> list[int]:
    """The nearest of these chunks, which are all of these sources."""
    if len(among) <= EXACT_CHUNKS:
        cosines = view.cosines(vector, sorted(among))
        nearest = sorted(cosines, key=lambda chunk_id: (-cosines[chunk_id], chunk_id))
    else:
        counts = view.counts().by_source
        others = sum(counts.get(one, (0, 0))[1] for one in sources) - len(among)
        nearest = view.nearest(vector, sources, limit + others)
    return [chunk_id for chunk_id in nearest if chunk_id in among][:limit]


def _without_sessions(sources: Sequence[str]) -> tuple[str, ...]:
    return tuple(source for source in sources if source != "sessions")


def _sessions(options: SearchOptions) -> tuple[str, ...]:
    """The source of conversations, if they are searched at all."""
    return ("sessions",) if "sessions" in options.sources else ()


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
    near = [chunk_id for chunk_id in nearest if chunk_id not in hidden] if hidden else nearest
    # Word matches get a cosine too: a chunk must not rank lower because only one leg saw it.
    cosines = view.cosines(vector, [*near, *candidates.texts, *also])
    if facts.window_share:
        candidates.windows = windows = view.window_cosines(vector, list(cosines))
        cosines = ranking.with_windows(cosines, windows.best, facts.window_share)
    candidates.cosines = cosines
    candidates.chunks = max(candidates.chunks, len(near))
    scores = ranking.vector_scores(cosines.values(), facts)
    candidates.vectors = dict(zip(cosines, scores, strict=True))
    candidates.degraded = waiting > 0
    candidates.mode = "hybrid" if options.hybrid else "vector"
    if candidates.degraded:
        candidates.mode = "partial"
        have = "has" if waiting == 1 else "have"
        candidates.notice = Notice.same(f"{counted(waiting, 'chunk')} {have} no vector yet")
