"""The table of settings below `memorySearch`: what is indexed and how it is searched.

A row is path, check, default, meaning, the origin of the key if it is not in the first OpenClaw,
and the field of `Settings` that it decides.
"""

from __future__ import annotations

from notewell.config.checks import (
    Choice,
    Flag,
    Key,
    Number,
    Paths,
    Sources,
    Text,
    Url,
    off,
    on,
)
from notewell.config.secret_values import Headers, SecretText
from notewell.core import FUSIONS
from notewell.embedders import PROVIDER_NAMES
from notewell.limits import CHUNK_OVERLAP_TOKENS, CHUNK_TOKENS, MAX_RESULTS

_DAY_MS = 86_400_000
_SHARE = Number(0, 1, whole=False)
_WEIGHT = Number(0, 1000, whole=False)
_PROVIDER = Text("a provider: " + ", ".join(PROVIDER_NAMES) + ", or one of models.providers")

_SOURCES = (
    on("enabled", "whether this agent has a memory"),
    Key("sources", Sources(), ("memory",),
        "what is indexed and searched: notes (`memory`), transcripts (`sessions`), or both",
        field="sessions.enabled"),
    Key("extraPaths", Paths(), (),
        "more notes: folders or `.md` files, absolute, with `~` or relative to the workspace; "
        "an agent's list is added to that of the defaults, an empty list clears it",
        field="notes.extra_paths"),
    Key("experimental.sessionMemory", Flag(), default=False,
        meaning="index transcripts; `sources` must name `sessions`, too"),
    Key("sessions.paths", Paths(whole=True), (),
        "more folders of transcripts, for example `~/.claude/projects`; the agent's own folder "
        "is always searched", "ours", field="sessions.folders"),
    Key("sessions.keep.enabled", Flag(), None,
        "whether hooks keep whole conversations, with secrets masked, in the state folder; unset, "
        "as `notewell install` was told", "ours", field="capture.keep.enabled"),
    Key("sessions.keep.days", Number(1, 36_500), None,
        "kept conversations are removed so many days after their last message; unset, never",
        "ours", field="capture.keep.days"),
    Key("sessions.keep.megabytes", Number(1, 1_000_000), None,
        "how much is kept; beyond it the oldest conversations are removed; unset, no limit",
        "ours", field="capture.keep.megabytes"),
    Key("sessions.keep.leaveOut", Paths(whole=True), (),
        "folders, absolute or with `~`: a conversation in one of them is not kept",
        "ours", field="capture.keep.left_out"),
    on("sessions.keep.search",
        "search kept conversations, whether `sources` names `sessions` or not", "ours",
        field="sessions.search_kept"),
    # Transcripts are always masked: nobody proofreads what is said to an agent.
    off("redaction.notes", "mask secrets in notes, too; secrets in transcripts are always masked",
        "ours", field="notes.redact"),
    on("redaction.remote",
        "mask secrets in every text that is sent to a remote provider: notes, conversations and "
        "queries", "ours", field="embedder.mask_secrets"),
)  # fmt: skip

_EMBEDDER = (
    Key("provider", _PROVIDER, "auto",
        "the service or model that computes vectors; `auto` uses what these settings have a "
        "key or a file for, else the embedded model",
        field="embedder.provider"),
    off("useEnvironmentKeys",
        "let `auto` use a key such as OPENAI_API_KEY that is in the environment, on the "
        "command line and in `notewell serve`; a process that a host starts (MCP, hooks, "
        "adapters) never does. A provider that is named here may always use its own variable",
        "ours", field="embedder.use_environment_keys"),
    Key("model", Text(), None, "the provider's model; unset, its default", field="embedder.model"),
    Key("fallback", _PROVIDER, "none", "the provider that is used when the first one fails",
        field="embedder.fallback"),
    Key("inputType", Text(), None,
        "`input_type` of every text that is sent (Gemini: `taskType`); unset, as the provider "
        "documents it", "openclaw", field="embedder.input_type"),
    Key("queryInputType", Text(), None, "`input_type` of a query; wins over `inputType`",
        "openclaw", field="embedder.query_input_type"),
    Key("documentInputType", Text(), None, "`input_type` of a chunk; wins over `inputType`",
        "openclaw", field="embedder.document_input_type"),
    Key("outputDimensionality", Number(1, 65_536), None,
        "the length of vectors, for models that offer several", "openclaw",
        field="embedder.dims"),
    Key("remote.baseUrl", Url(), None, "another address of the provider's API",
        field="embedder.remote.base_url"),
    Key("remote.apiKey", SecretText(), None, "its API key; wins over `models.providers`",
        field="embedder.remote.api_key"),
    Key("remote.headers", Headers(), {}, "headers of every request",
        field="embedder.remote.headers"),
    Key("remote.nonBatchConcurrency", Number(1, 64), 4, "concurrent requests", "openclaw",
        field="embedder.remote.concurrency"),
    off("remote.batch.enabled", "use the provider's batch API, which is cheaper and slower",
        field="embedder.remote.batch.enabled"),
    on("remote.batch.wait",
        "wait until a batch job has ended; `false`: begin it, and let a later sync fetch its "
        "vectors", field="embedder.remote.batch.wait"),
    Key("remote.batch.concurrency", Number(1, 16), 2, "concurrent batch jobs",
        field="embedder.remote.batch.concurrency"),
    Key("remote.batch.pollIntervalMs", Number(100, _DAY_MS), 2000,
        "how often the state of a batch job is polled",
        field="embedder.remote.batch.poll_interval_s"),
    Key("remote.batch.timeoutMinutes", Number(1, 2880), 60, "the timeout of a batch job",
        field="embedder.remote.batch.timeout_minutes"),
    Key("local.modelPath", Text(), None, "a GGUF file or an `hf:` address",
        field="embedder.local.model_path"),
    Key("local.modelCacheDir", Text(), None, "the folder for downloaded models",
        field="embedder.local.model_cache_dir"),
    Key("local.contextSize", Number(64, 131_072), None,
        "the context window of the model, in tokens; unset, its own, at most 2048", "openclaw",
        field="embedder.local.context_size"),
)  # fmt: skip

_STORE = (
    Key("store.driver", Choice(("sqlite", "postgres")), "sqlite",
        "the storage engine of the index: files of this machine, or a PostgreSQL server that many "
        "machines share (extra `postgres`); for notes in the database (`-w postgres:`) the "
        "default is `postgres`",
        field="store.driver"),
    Key("store.url", SecretText(), None,
        "with `postgres` or `-w postgres:`: the database, `postgresql://user:password@host/name`; "
        "`NOTEWELL_DATABASE_URL` wins over it", "ours", field="store.url"),
    Key("store.tenant", Text(), "default",
        "with `postgres` or `-w postgres:`: the tenant of the agents; no agent sees rows of "
        "another tenant", "ours",
        field="store.tenant"),
    Key("store.path", Text(), None,
        "the folder for indexes; each agent and workspace has a folder of its own in it; "
        "`{agentId}` is replaced by the agent's id",
        field="store.path"),
    on("store.vector.enabled",
        "use sqlite-vec if `driver` or `extensionPath` names it; vectors are stored and searched "
        "in any case", field="store.vector_extension"),
    Key("store.vector.extensionPath", Text(), None,
        "the library of sqlite-vec; unset, the one of its Python package",
        field="store.extension_path"),
    Key("store.vector.driver", Choice(("segments", "sqlite-vec")), None,
        "how vectors are stored; unset, `sqlite-vec` if `extensionPath` is set, else `segments`; "
        "if sqlite-vec cannot be loaded, `segments` takes its place, with a notice", "ours",
        field="store.vector_driver"),
    Key("chunking.tokens", Number(16, 8000), CHUNK_TOKENS,
        "the longest chunk, in estimated tokens; a model's own limit can be lower",
        field="sync.chunk_tokens"),
    # `_overlap_below_chunk` in agents.py also keeps it below `chunking.tokens`.
    Key("chunking.overlap", Number(0, 4000), CHUNK_OVERLAP_TOKENS,
        "how many tokens a chunk repeats of the one before; less than `tokens`",
        field="sync.chunk_overlap"),
    on("cache.enabled", "cache vectors, so that no text is embedded twice",
        field="store.cache_entries"),
    Key("cache.maxEntries", Number(0, 10_000_000), 50_000,
        "cached vectors; the oldest are evicted first", field="store.cache_entries"),
)  # fmt: skip

_SYNC = (
    on("sync.onSessionStart", "index the words of changed notes when a session starts",
        field="sync.on_session_start"),
    on("sync.onSearch", "update the index before a search", field="sync.on_search"),
    on("sync.watch", "`mcp serve` and `serve` watch the notes and index changes by themselves; "
        "`notewell watch` always does", field="sync.watch"),
    Key("sync.watchDebounceMs", Number(0, 600_000), 1500,
        "the debounce of the watcher: how long nothing must have changed",
        field="sync.debounce_s"),
    Key("sync.intervalMinutes", Number(0, 10_080), 0,
        "how often to sync without a change; 0 leaves it to the watcher",
        field="sync.interval_minutes"),
    Key("sync.sessions.deltaBytes", Number(0, 10**12), 100_000,
        "how many bytes a transcript must grow before a search, a watch or a server indexes it "
        "again; `notewell index` does not wait",
        field="sessions.delta_bytes"),
    Key("sync.sessions.deltaMessages", Number(0, 10**9), 50,
        "or how many messages it must grow", field="sessions.delta_messages"),
    Key("sync.embeddingBatchTimeoutSeconds", Number(1, 86_400), None,
        "the timeout of a request for vectors of notes; unset, 120 for a remote provider, 600 for "
        "`local`", "openclaw", field="embedder.document_timeout_s"),
)  # fmt: skip

_QUERY = (
    Key("query.preset", Choice(("default", "seed")), "default",
        "`seed` scores as OpenClaw does: 0.7 · cosine + 0.3 / (1 + keyword rank), and hides hits "
        "below 0.35", "ours"),
    Key("query.maxResults", Number(1, MAX_RESULTS), 6, "the largest number of hits",
        field="search.max_results"),
    Key("query.minScore", _SHARE, None,
        "hits with a lower score are hidden, unless they have every word or an identifier of the "
        "question; unset, about 0.35 (0 for keywords alone), and if nothing is near the question "
        "there are no hits; 0 shows the nearest for every question",
        field="search.min_score"),
    Key("query.embeddingTimeoutSeconds", Number(0.1, 600, whole=False), None,
        "how long a search waits for the vector of the question before keywords alone answer; "
        "unset, 5 for a hosted provider, 15 for `ollama`, `openai-compatible` and providers of "
        "your own, 30 for `local`", "ours", field="embedder.query_timeout_s"),
    Key("query.cacheEntries", Number(0, 100_000), 256,
        "the vectors of so many questions are kept in memory, so that a repeated question costs "
        "no request; 0 keeps none", "ours", field="search.cached_questions"),
    on("query.hybrid.enabled",
        "search by keywords and vectors; `false`: by vectors alone, and only what reaches "
        "`minScore` is a hit. Without vectors keywords answer, with a notice",
        field="search.hybrid"),
    # No default: with one, `preset: seed` could not tell whether the user chose a fusion.
    Key("query.hybrid.fusion", Choice(FUSIONS), None,
        "how both scores become one: `weighted`, `rrf` (by ranks alone) or `seed`; unset, as the "
        "preset says", "ours", field="search.fusion"),
    Key("query.hybrid.vectorWeight", _WEIGHT, None,
        "the weight of the vector score; scaled with `textWeight` to a sum of 1; unset, the "
        "weight that was measured for the model", field="search.vector_weight"),
    Key("query.hybrid.textWeight", _WEIGHT, None,
        "the weight of the keyword score; `2` and `1` are the same as `0.667` and `0.333`"),
    Key("query.hybrid.candidateMultiplier", Number(1, 20), 4, "candidate chunks per hit",
        field="search.candidate_multiplier"),
    off("query.hybrid.mmr.enabled", "prefer hits that differ from one another (MMR)",
        field="search.mmr_lambda"),
    Key("query.hybrid.mmr.lambda", _SHARE, 0.7, "1 counts relevance only, 0 difference only",
        field="search.mmr_lambda"),
    on("query.hybrid.temporalDecay.enabled", "rank older dated notes lower",
        field="search.half_life_days"),
    Key("query.hybrid.temporalDecay.halfLifeDays", Number(1, 36_500, whole=False), 30.0,
        "the age at which a note has lost half of what age can take; age takes 5 % of a score at "
        "most", field="search.half_life_days"),
)  # fmt: skip

SEARCH_KEYS = (*_SOURCES, *_EMBEDDER, *_STORE, *_SYNC, *_QUERY)
