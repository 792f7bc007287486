"""The settings below `memorySearch`: what is indexed and how it is found."""

from __future__ import annotations

from notewell.config.checks import Choice, Flag, Number, Paths, Sources, Text, Url
from notewell.config.key import Key, off, on
from notewell.config.secret import Headers, SecretText
from notewell.core import FUSIONS
from notewell.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS, MAX_RESULTS

PROVIDERS = (
    "auto",
    "embedded",
    "openai",
    "gemini",
    "voyage",
    "local",
    "ollama",
    "openai-compatible",
    "none",
)
"""What `provider` may name besides an entry of `models.providers`; `none` is words alone."""

_DAY_MS = 86_400_000
_SHARE = Number(0, 1, whole=False)
_PROVIDER = Text("a provider: " + ", ".join(PROVIDERS) + ", or one of models.providers")

_WHAT = (
    on("enabled", "whether this agent has a memory to search"),
    Key("sources", Sources(), ("memory",), "what is searched; `sessions` are transcripts"),
    Key(
        "extraPaths",
        Paths(),
        (),
        "more notes: folders or `.md` files, absolute, `~` or relative to the workspace; those of "
        "an agent are added to the defaults, an empty list clears them",
        outside=True,
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
    ),
    off("redaction.notes", "mask secrets of notes too; those of transcripts always are", "ours"),
)

_EMBEDDER = (
    Key("provider", _PROVIDER, "auto", "who computes vectors; `auto` takes what is there"),
    Key("model", Text(), None, "the provider's model; unset, its usual one"),
    Key("fallback", _PROVIDER, "none", "who computes vectors when the provider fails"),
    Key("inputType", Text(), None, "`input_type` sent with every text", "openclaw"),
    Key("queryInputType", Text(), None, "`input_type` sent with a query", "openclaw"),
    Key("documentInputType", Text(), None, "`input_type` sent with a chunk", "openclaw"),
    Key(
        "outputDimensionality",
        Number(1, 65_536),
        None,
        "how long a vector the model shall give, where it can choose",
        "openclaw",
    ),
    Key("remote.baseUrl", Url(), None, "another address of the provider's service", own=True),
    Key("remote.apiKey", SecretText(), None, "its key; wins over `models.providers`", own=True),
    Key("remote.headers", Headers(), {}, "headers sent along", own=True),
    Key(
        "remote.nonBatchConcurrency",
        Number(1, 64),
        4,
        "requests under way at once",
        "openclaw",
    ),
    off("remote.batch.enabled", "use the provider's cheaper, slower batch jobs"),
    on("remote.batch.wait", "wait until a batch job is done"),
    Key("remote.batch.concurrency", Number(1, 16), 2, "batch jobs under way at once"),
    Key("remote.batch.pollIntervalMs", Number(100, _DAY_MS), 2000, "how often to ask for a job"),
    Key("remote.batch.timeoutMinutes", Number(1, 2880), 60, "when to give a job up"),
    Key("local.modelPath", Text(), None, "a GGUF file or an `hf:` address", own=True),
    Key("local.modelCacheDir", Text(), None, "where models are downloaded to", own=True),
    Key("local.contextSize", Number(64, 131_072), None, "the model's window", "openclaw"),
)

_INDEX = (
    Key("store.driver", Choice(("sqlite",)), "sqlite", "what the index is kept in"),
    Key("store.path", Text(), None, "where the index is kept; `{agentId}` is the agent", own=True),
    on("store.vector.enabled", "keep vectors in the index"),
    Key("store.vector.extensionPath", Text(), None, "another sqlite-vec library", own=True),
    Key(
        "store.vector.driver",
        Choice(("segments", "sqlite-vec")),
        "segments",
        "how vectors are kept; `sqlite-vec` needs the extra of that name",
        "ours",
    ),
    Key(
        "chunking.tokens",
        Number(16, 8000),
        CHUNK_TOKENS,
        "the longest chunk, in estimated tokens; at most what the model reads",
    ),
    Key(
        "chunking.overlap",
        Number(0, 4000),
        CHUNK_OVERLAP_TOKENS,
        "how much of a chunk the next one repeats; less than a chunk",
    ),
    on("cache.enabled", "keep vectors, so that no text is paid for twice"),
    Key("cache.maxEntries", Number(0, 10_000_000), 50_000, "vectors kept; the oldest go first"),
)

_SYNC = (
    on("sync.onSessionStart", "bring the index up to date at a session's start"),
    on("sync.onSearch", "bring the index up to date before a search"),
    on("sync.watch", "watch the notes for changes"),
    Key("sync.watchDebounceMs", Number(0, 600_000), 1500, "quiet to wait for after a change"),
    Key("sync.intervalMinutes", Number(0, 10_080), 0, "how often to sync unasked; 0 is never"),
    Key("sync.sessions.deltaBytes", Number(0, 10**12), 100_000, "transcript growth to wait for"),
    Key("sync.sessions.deltaMessages", Number(0, 10**9), 50, "or messages to wait for"),
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
    Key("query.maxResults", Number(1, MAX_RESULTS), 6, "hits an answer has at most"),
    Key(
        "query.minScore",
        _SHARE,
        None,
        "weaker hits are hidden, unless they have every word or an identifier of the question; "
        "unset, about 0.35, and a search by words alone hides nothing",
    ),
    on("query.hybrid.enabled", "ask words and meaning, not meaning alone"),
    Key(
        "query.hybrid.fusion",
        Choice(FUSIONS),
        None,
        "how words and meaning become one score: `weighted`, `rrf` by places alone, or `seed`; "
        "unset, the preset's",
        "ours",
    ),
    Key(
        "query.hybrid.vectorWeight",
        _SHARE,
        None,
        "the share of meaning in a score; with `textWeight` brought to a sum of 1; unset, "
        "what was measured for the model",
    ),
    Key("query.hybrid.textWeight", _SHARE, None, "the share of words in a score"),
    Key(
        "query.hybrid.candidateMultiplier",
        Number(1, 20),
        4,
        "chunks looked at for each hit asked for",
    ),
    off("query.hybrid.mmr.enabled", "prefer hits that differ from one another"),
    Key("query.hybrid.mmr.lambda", _SHARE, 0.7, "1 looks at relevance only, 0 at difference"),
    on("query.hybrid.temporalDecay.enabled", "older dated notes rank lower"),
    Key(
        "query.hybrid.temporalDecay.halfLifeDays",
        Number(1, 36_500, whole=False),
        30.0,
        "the age at which half of what age can take is gone; age orders, it takes 5 % at most",
    ),
)

SEARCH_KEYS = (*_WHAT, *_SESSIONS, *_EMBEDDER, *_INDEX, *_SYNC, *_QUERY)
