"""The settings outside `memorySearch`: agents, bindings, backends, capture."""

from __future__ import annotations

from notewell.config.checks import (
    Choice,
    Duration,
    Flag,
    Headers,
    Key,
    Number,
    Paths,
    SecretText,
    Text,
    Unused,
    Url,
    off,
    on,
)

_MS = Number(0, 86_400_000)
_PROFILE = (
    "name", "description", "model", "models", "modelPolicy", "utilityModel", "skills", "tools",
    "identity", "sandbox", "heartbeat", "groupChat", "subagents", "params", "runtime", "agentDir",
    "humanDelay", "thinkingDefault",
)  # fmt: skip

AGENT_KEYS = (
    Key("workspace", Text("a folder"), None, "the folder of notes; unset, the one asked for",
        own=True),
    Key("compaction.reserveTokensFloor", Number(0, 10**9), 20_000,
        "tokens kept free for the answer when the context is nearly full"),
    on("compaction.memoryFlush.enabled",
        "let the agent write down what matters before the context is compacted"),
    Key("compaction.memoryFlush.softThresholdTokens", Number(0, 10**9), 4000,
        "how long before compaction to do that"),
    Key("compaction.memoryFlush.prompt", Text(), None, "what the agent is then told"),
    Key("compaction.memoryFlush.systemPrompt", Text(), None, "and what its system prompt adds"),
    Key("bootstrapMaxChars", Number(0, 10**7), 20_000,
        "how much of `MEMORY.md` a session starts with", "openclaw"),
    Key("userTimezone", Text("a time zone"), None,
        "the zone that says which day it is; unset, the system's", "openclaw"),
)  # fmt: skip

ENTRY_KEYS = (
    Key("id", Text("an id"), None, "the agent's id: lower case, digits, `-` and `_`"),
    off("default", "the agent that answers where no binding says otherwise"),
)

PROFILE_KEYS = tuple(
    Key(name, Unused(), None, "part of OpenClaw's profile of an agent") for name in _PROFILE
)

_QMD = (
    Key("command", Text(), "qmd", "the program", own=True, field="qmd.command"),
    Key("searchMode", Choice(("search", "vsearch", "query")), "search",
        "words, meaning, or both with expansion and reranking", field="qmd.search_mode"),
    Key("rerank", Flag(), None, "let `query` rerank; unset, as qmd does", "openclaw",
        field="qmd.rerank"),
    on("includeDefaultMemory", "index MEMORY.md and memory/**/*.md",
        field="qmd.include_default_memory"),
    Key("paths", Paths(named=True), (), "more folders to index, each a collection", outside=True,
        field="qmd.paths"),
    off("sessions.enabled", "export transcripts for it to index", field="qmd.export_sessions"),
    Key("sessions.retentionDays", Number(1, 36_500), None, "how long exports are kept",
        field="qmd.retention_days"),
    Key("sessions.exportDir", Text(), None, "where they are put", own=True,
        field="qmd.export_dir"),
    Key("update.interval", Duration(), 300.0, "how often it updates its index",
        field="qmd.interval_s"),
    Key("update.debounceMs", _MS, 15_000, "the least time between two updates",
        field="qmd.debounce_s"),
    on("update.onBoot", "update at the start", field="qmd.update_on_boot"),
    off("update.waitForBootSync", "and wait for it", field="qmd.wait_for_boot"),
    Key("update.embedInterval", Duration(), 3600.0, "how often it computes vectors",
        field="qmd.embed_interval_s"),
    Key("update.commandTimeoutMs", _MS, 30_000, "when to give a command up",
        field="qmd.command_timeout_s"),
    Key("update.updateTimeoutMs", _MS, 120_000, "when to give an update up",
        field="qmd.update_timeout_s"),
    Key("update.embedTimeoutMs", _MS, 120_000, "when to give computing vectors up",
        field="qmd.embed_timeout_s"),
    Key("limits.maxResults", Number(1, 200), 6, "hits an answer has at most",
        field="qmd.max_results"),
    Key("limits.maxSnippetChars", Number(1, 100_000), 700, "the longest snippet",
        field="qmd.max_snippet_chars"),
    Key("limits.maxInjectedChars", Number(1, 1_000_000), 4000, "the longest answer",
        field="qmd.max_injected_chars"),
    Key("limits.timeoutMs", _MS, 4000, "when to give a search up", field="qmd.timeout_s"),
    Key("scope.default", Choice(("allow", "deny")), "deny", "whether a session is answered",
        field="qmd.scope"),
    Key("scope.rules[].action", Choice(("allow", "deny")), None, "what a rule says",
        field="qmd.scope"),
    Key("scope.rules[].match.chatType", Choice(("direct", "group", "channel")), None,
        "of which kind of conversation", field="qmd.scope"),
    Key("scope.rules[].match.channel", Text(), None, "on which channel", field="qmd.scope"),
    Key("scope.rules[].match.keyPrefix", Text(), None, "whose session key, without "
        "`agent:<id>:`, begins so", field="qmd.scope"),
    Key("scope.rules[].match.rawKeyPrefix", Text(), None, "whose session key begins so",
        "openclaw", field="qmd.scope"),
)  # fmt: skip

_LANCE = (
    off("enabled", "give agents entries: single statements that they store, recall and forget, "
        "beside the notes", "openclaw"),
    Key("config.dbPath", Text("a folder"), None, "where they are kept; unset, below the state "
        "folder", "openclaw", field="entries.db_path"),
    off("config.autoCapture", "let a host store what the user says, by itself", "openclaw",
        field="entries.auto_capture"),
    off("config.autoRecall", "let a host put entries before a prompt, by itself", "openclaw",
        field="entries.auto_recall"),
    Key("config.captureMaxChars", Number(100, 10_000), 500,
        "the longest message that is stored by itself", "openclaw", field="entries.capture_chars"),
    Key("config.recallMaxChars", Number(100, 10_000), 1000,
        "how much of a prompt is asked for", "openclaw", field="entries.recall_chars"),
    Key("config.embedding", Unused(), None, "accepted and not used: entries have the embedder of "
        "`memorySearch`", "openclaw"),
)  # fmt: skip

GLOBAL_KEYS = (
    Key("memory.backend", Choice(("builtin", "qmd")), "builtin", "the engine that answers",
        own=True),
    Key("memory.fallback", Choice(("builtin", "none")), "builtin",
        "the engine that answers when that one fails", "ours", field="fallback_engine"),
    Key("memory.citations", Choice(("auto", "on", "off")), "auto",
        "name file and lines under a snippet; `auto` does in direct conversations",
        field="citations"),
    Key("plugins.slots.memory", Text(), "memory-core", "`none` switches the memory off"),
    on("hooks.internal.enabled", "run hooks at all", field="capture.session_messages"),
    on("hooks.internal.entries.session-memory.enabled",
        "keep a note of a conversation that is closed with /new or /reset",
        field="capture.session_messages"),
    Key("hooks.internal.entries.session-memory.messages", Number(1, 1000), 15,
        "how many of its last messages", field="capture.session_messages"),
    Key("recallLog.enabled", Flag(), default=True, meaning="keep what agents asked and which "
        "lines they got, with secrets masked, for your page to show; off keeps nothing",
        # A folder from a stranger must not switch on what its user switched off.
        since="ours", own=True, field="capture.recall_log"),
    *(key._replace(path=f"memory.qmd.{key.path}") for key in _QMD),
    *(key._replace(path=f"plugins.entries.memory-lancedb.{key.path}", own=True)
      for key in _LANCE),  # Entries lie outside the workspace: it is not its file's to open them.
    Key("models.providers.*.baseUrl", Url(), None, "the address of a provider", own=True),
    Key("models.providers.*.apiKey", SecretText(), None, "its key", own=True,
        field="embedder.provider_keys"),
    Key("models.providers.*.headers", Headers(), {}, "headers sent along", own=True),
    Key("models.providers.*.api", Text(), None, "whose manner of speaking it has", own=True),
    Key("models.providers.*.models", Unused(), None, "its models", own=True),
)  # fmt: skip

BINDING_KEYS = (
    Key("agentId", Text("an agent's id"), None, "the agent that answers", own=True),
    Key("match.channel", Text(), None, "messages of this channel", own=True),
    Key("match.accountId", Text(), None, "and of this account; `*` is any", own=True),
    Key("match.peer.kind", Choice(("direct", "dm", "group", "channel")), None,
        "and of this kind of peer", own=True),
    Key("match.peer.id", Text(), None, "and of this peer", own=True),
    Key("match.guildId", Text(), None, "and of this guild", "openclaw", own=True),
    Key("match.teamId", Text(), None, "and of this team", "openclaw", own=True),
    Key("comment", Text(blank=True), None, "for people", "openclaw", own=True),
)  # fmt: skip
