"""The settings below `memorySearch`: what is indexed and how it is found."""

from __future__ import annotations

from notewell.config.checks import (
    Choice,
    Flag,
    Headers,
    Key,
    Number,
    Paths,
    SecretText,
    Sources,
    Text,
    Url,
    off,
    on,
)
from notewell.core import FUSIONS
from notewell.embedders import PROVIDER_NAMES
from notewell.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS, MAX_RESULTS

_DAY_MS = 86_400_000
_SHARE = Number(0, 1, whole=False)
_PROVIDER = Text("a provider: " + ", ".join(PROVIDER_NAMES) + ", or one of models.providers")

_WHAT = (
    on("enabled", "whether this agent has a memory to search"),
    Key(
        "sources",
        Sources(),
        ("memory",),
        "what is searched; `sessions` are transcripts",
        field="sessions.enabled",
    ),
    Key(
        "extraPaths",
        Paths(),
        (),
        "more notes: folders or `.md` files, absolute, `~` or relative to the workspace; those of "
        "an agent are added to the defaults, an empty list clears them",
        outside=True,
        field="notes.extra_paths",
    ),
    Key(
        "experimental.sessionMemory",
        Flag(),
        default=False,
        meaning="index transcripts; needs `sessions` among the `sources` too",
        own=True,
    ),
)

_SESSIONS = (
    Key(
        "sessions.paths",
        Paths(),
        (),
        "more folders of transcripts, of Claude Code or Codex say; the agent's own is always one",
        "ours",
        own=True,
        field="sessions.folders",
    ),
    off(
        "redaction.notes",
        "mask secrets of notes too; those of transcripts always are",
        "ours",
        field="notes.redact",
    ),
)

_EMBEDDER = (
    Key(
        "provider",
        _PROVIDER,
        "auto",
        "who computes vectors; `auto` takes what is there",
        field="embedder.provider",
    ),
    Key(
        "model", Text(), None, "the provider's model; unset, its usual one", field="embedder.model"
    ),
    Key(
        "fallback",
        _PROVIDER,
        "none",
        "who computes vectors when the provider fails",
        field="embedder.fallback",
    ),
    Key("inputType", Text(), None, "`input_type` sent with every text", "openclaw"),
    Key("queryInputType", Text(), None, "`input_type` sent with a query", "openclaw"),
    Key("documentInputType", Text(), None, "`input_type` sent with a chunk", "openclaw"),
    Key(
        "outputDimensionality",
        Number(1, 65_536),
        None,
        "how long a vector the model shall give, where it can choose",
        "openclaw",
        field="embedder.dims",
    ),
    Key(
        "remote.baseUrl",
        Url(),
        None,
        "another address of the provider's service",
        own=True,
        field="embedder.remote.base_url",
    ),
    Key(
        "remote.apiKey",
        SecretText(),
        None,
        "its key; wins over `models.providers`",
        own=True,
        field="embedder.remote.api_key",
    ),
    Key(
        "remote.headers",
        Headers(),
        {},
        "headers sent along",
        own=True,
        field="embedder.remote.headers",
    ),
    Key(
        "remote.nonBatchConcurrency",
        Number(1, 64),
        4,
        "requests under way at once",
        "openclaw",
        field="embedder.remote.concurrency",
    ),
    off(
        "remote.batch.enabled",
        "use the provider's cheaper, slower batch jobs",
        field="embedder.remote.batch.enabled",
    ),
    on("remote.batch.wait", "wait until a batch job is done"),
    Key(
        "remote.batch.concurrency",
        Number(1, 16),
        2,
        "batch jobs under way at once",
        field="embedder.remote.batch.concurrency",
    ),
    Key(
        "remote.batch.pollIntervalMs",
        Number(100, _DAY_MS),
        2000,
        "how often to ask for a job",
        field="embedder.remote.batch.poll_interval_s",
    ),
    Key(
        "remote.batch.timeoutMinutes",
        Number(1, 2880),
        60,
        "when to give a job up",
        field="embedder.remote.batch.timeout_minutes",
    ),
    Key(
        "local.modelPath",
        Text(),
        None,
        "a GGUF file or an `hf:` address",
        own=True,
        field="embedder.local.model_path",
    ),
    Key(
        "local.modelCacheDir",
        Text(),
        None,
        "where models are downloaded to",
        own=True,
        field="embedder.local.model_cache_dir",
    ),
    Key("local.contextSize", Number(64, 131_072), None, "the model's window", "openclaw"),
)

_INDEX = (
    Key("store.driver", Choice(("sqlite",)), "sqlite", "what the index is kept in"),
    Key(
        "store.path",
        Text(),
        None,
        "where the index is kept; `{agentId}` is the agent",
        own=True,
        field="store.path",
    ),
    on("store.vector.enabled", "keep vectors in the index"),
    Key("store.vector.extensionPath", Text(), None, "another sqlite-vec library", own=True),
    Key(
        "store.vector.driver",
        Choice(("segments", "sqlite-vec")),
        "segments",
        "how vectors are kept; `sqlite-vec` needs the extra of that name",
        "ours",
        field="store.vector_driver",
    ),
    Key(
        "chunking.tokens",
        Number(16, 8000),
        CHUNK_TOKENS,
        "the longest chunk, in estimated tokens; at most what the model reads",
        field="sync.chunk_tokens",
    ),
    Key(
        "chunking.overlap",
        Number(0, 4000),
        CHUNK_OVERLAP_TOKENS,
        "how much of a chunk the next one repeats; less than a chunk",
        field="sync.chunk_overlap",
    ),
    on(
        "cache.enabled",
        "keep vectors, so that no text is paid for twice",
        field="store.cache_entries",
    ),
    Key(
        "cache.maxEntries",
        Number(0, 10_000_000),
        50_000,
        "vectors kept; the oldest go first",
        field="store.cache_entries",
    ),
)

_SYNC = (
    on("sync.onSessionStart", "bring the index up to date at a session's start"),
    on("sync.onSearch", "bring the index up to date before a search", field="sync.on_search"),
    on("sync.watch", "watch the notes for changes"),
    Key(
        "sync.watchDebounceMs",
        Number(0, 600_000),
        1500,
        "quiet to wait for after a change",
        field="sync.debounce_s",
    ),
    Key(
        "sync.intervalMinutes",
        Number(0, 10_080),
        0,
        "how often to sync unasked; 0 is never",
        field="sync.interval_minutes",
    ),
    Key(
        "sync.sessions.deltaBytes",
        Number(0, 10**12),
        100_000,
        "transcript growth to wait for",
        field="sessions.delta_bytes",
    ),
    Key(
        "sync.sessions.deltaMessages",
        Number(0, 10**9),
        50,
        "or messages to wait for",
        field="sessions.delta_messages",
    ),
    Key(
        "sync.embeddingBatchTimeoutSeconds",
        Number(1, 86_400),
        None,
        "when to give a request for vectors up; unset, by provider",
        "openclaw",
    ),
)

_QUERY = (
    Key(
        "query.preset",
        Choice(("default", "seed")),
        "default",
        "`seed` weighs as OpenClaw does: 0.7 · cosine + 0.3 / (1 + place among the words), and "
        "hides what is below 0.35",
        "ours",
    ),
    Key(
        "query.maxResults",
        Number(1, MAX_RESULTS),
        6,
        "hits an answer has at most",
        field="search.max_results",
    ),
    Key(
        "query.minScore",
        _SHARE,
        None,
        "weaker hits are hidden, unless they have every word or an identifier of the question; "
        "unset, about 0.35, and a search by words alone hides nothing",
        field="search.min_score",
    ),
    on(
        "query.hybrid.enabled",
        "ask words and meaning, not meaning alone",
        field="search.vector_weight",
    ),
    Key(
        "query.hybrid.fusion",
        Choice(FUSIONS),
        None,
        "how words and meaning become one score: `weighted`, `rrf` by places alone, or `seed`; "
        "unset, the preset's",
        "ours",
        field="search.fusion",
    ),
    Key(
        "query.hybrid.vectorWeight",
        _SHARE,
        None,
        "the share of meaning in a score; with `textWeight` brought to a sum of 1; unset, "
        "what was measured for the model",
        field="search.vector_weight",
    ),
    Key("query.hybrid.textWeight", _SHARE, None, "the share of words in a score"),
    Key(
        "query.hybrid.candidateMultiplier",
        Number(1, 20),
        4,
        "chunks looked at for each hit asked for",
        field="search.candidate_multiplier",
    ),
    off(
        "query.hybrid.mmr.enabled",
        "prefer hits that differ from one another",
        field="search.mmr_lambda",
    ),
    Key(
        "query.hybrid.mmr.lambda",
        _SHARE,
        0.7,
        "1 looks at relevance only, 0 at difference",
        field="search.mmr_lambda",
    ),
    on(
        "query.hybrid.temporalDecay.enabled",
        "older dated notes rank lower",
        field="search.half_life_days",
    ),
    Key(
        "query.hybrid.temporalDecay.halfLifeDays",
        Number(1, 36_500, whole=False),
        30.0,
        "the age at which half of what age can take is gone; age orders, it takes 5 % at most",
        field="search.half_life_days",
    ),
)

SEARCH_KEYS = (*_WHAT, *_SESSIONS, *_EMBEDDER, *_INDEX, *_SYNC, *_QUERY)
