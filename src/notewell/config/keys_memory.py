"""The table of settings outside `memorySearch`: agents, bindings, engines, capture.

A workspace's file may set none of these; `workspace_rules` lists what it may set.
"""

from __future__ import annotations

from notewell.config.checks import (
    Choice,
    Duration,
    Flag,
    Key,
    ModelIds,
    Number,
    Paths,
    Text,
    Texts,
    TimeZone,
    Unused,
    Url,
    off,
    on,
)
from notewell.config.secret_values import Headers, SecretText
from notewell.embedders import KNOWN_APIS

_MS = Number(0, 86_400_000)
_PROFILE = (
    "name", "description", "model", "models", "modelPolicy", "utilityModel", "skills", "tools",
    "identity", "sandbox", "heartbeat", "groupChat", "subagents", "params", "runtime", "agentDir",
    "humanDelay", "thinkingDefault",
)  # fmt: skip

_SLOTS = ("memory-core", "notewell", "memory-lancedb", "none")
"""OpenClaw's own plugins for the slot, and ours."""

AGENT_KEYS = (
    Key("workspace", Text("a folder"), None,
        "the folder of notes; unset, the one that the caller names"),
    Key("compaction.reserveTokensFloor", Number(0, 10**9), 20_000,
        "tokens of the context window that the host keeps free: below that it compacts",
        field="capture.flush.reserve_tokens"),
    on("compaction.memoryFlush.enabled",
        "let the agent write down what matters before the context is compacted",
        field="capture.flush.enabled"),
    Key("compaction.memoryFlush.softThresholdTokens", Number(0, 10**9), 4000,
        "how many tokens before the compaction it does so",
        field="capture.flush.soft_threshold_tokens"),
    Key("compaction.memoryFlush.prompt", Text(), None,
        "the prompt for that turn, in place of the usual one; `YYYY-MM-DD` becomes the day",
        field="capture.flush.prompt"),
    Key("compaction.memoryFlush.systemPrompt", Text(), None,
        "the system prompt for that turn, in place of the usual one",
        field="capture.flush.system_prompt"),
    Key("bootstrapMaxChars", Number(0, 10**7), 20_000,
        "how many characters of each note a session starts with: of `USER.md` and `MEMORY.md` "
        "together, and of the notes of today and yesterday", "openclaw",
        field="capture.bootstrap_chars"),
    Key("userTimezone", TimeZone(), None,
        "the time zone that decides the day of a note; unset, the system's", "openclaw",
        field="capture.time_zone"),
)  # fmt: skip

ENTRY_KEYS = (
    Key("id", Text("an id"), None, "the agent's id: lower-case letters, digits, `-` and `_`"),
    off("default", "this agent answers messages that match no binding"),
)

PROFILE_KEYS = tuple(
    Key(name, Unused(), None, "part of OpenClaw's profile of an agent") for name in _PROFILE
)

# Not for a workspace: its file must not open the memory to more conversations.
_SCOPE = (
    Key("scope.default", Choice(("allow", "deny")), None,
        "whether a conversation that no rule matches may see the memory; `deny` without rules "
        "allows direct conversations", field="scope"),
    Key("scope.rules[].action", Choice(("allow", "deny")), None,
        "what happens with a conversation that the rule matches, `deny` if it is not set; the "
        "first match decides",
        field="scope"),
    Key("scope.rules[].match.chatType", Choice(("direct", "group", "channel")), None,
        "matches this kind of conversation", field="scope"),
    Key("scope.rules[].match.channel", Text(), None, "matches this channel",
        field="scope"),
    Key("scope.rules[].match.keyPrefix", Text(), None, "matches session keys that, "
        "without `agent:<id>:`, begin with this", field="scope"),
    Key("scope.rules[].match.rawKeyPrefix", Text(), None,
        "matches session keys that begin with this", "openclaw", field="scope"),
)  # fmt: skip

_QMD = (
    Key("command", Text(), "qmd", "the program to run", field="qmd.command"),
    Key("searchMode", Choice(("search", "vsearch", "query")), "search",
        "keywords, vectors, or both with query expansion and reranking", field="qmd.search_mode"),
    Key("rerank", Flag(), None, "let `query` rerank; unset, QMD's default", "openclaw",
        field="qmd.rerank"),
    on("includeDefaultMemory", "index MEMORY.md, memory.md, USER.md and memory/**/*.md",
        field="qmd.include_default_memory"),
    Key("paths", Paths(named=True), (), "more folders to index, each as a collection",
        field="qmd.paths"),
    off("sessions.enabled", "export transcripts, so that QMD can index them",
        field="qmd.export_sessions"),
    Key("sessions.retentionDays", Number(1, 36_500), None, "how many days exports are kept",
        field="qmd.retention_days"),
    Key("sessions.exportDir", Text(), None, "the folder of the exports",
        field="qmd.export_dir"),
    Key("update.interval", Duration(), 300.0, "how often QMD updates its index",
        field="qmd.interval_s"),
    Key("update.debounceMs", _MS, 15_000, "the shortest time between two updates",
        field="qmd.debounce_s"),
    on("update.onBoot", "update when Notewell starts", field="qmd.update_on_boot"),
    off("update.waitForBootSync", "wait for that update before the first answer",
        field="qmd.wait_for_boot"),
    Key("update.embedInterval", Duration(), 3600.0, "how often QMD computes vectors",
        field="qmd.embed_interval_s"),
    Key("update.commandTimeoutMs", _MS, 30_000, "the timeout of a command",
        field="qmd.command_timeout_s"),
    Key("update.updateTimeoutMs", _MS, 120_000, "the timeout of an update",
        field="qmd.update_timeout_s"),
    Key("update.embedTimeoutMs", _MS, 120_000, "the timeout of computing vectors",
        field="qmd.embed_timeout_s"),
    Key("limits.maxResults", Number(1, 200), 6, "the largest number of hits",
        field="qmd.max_results"),
    Key("limits.maxSnippetChars", Number(1, 100_000), 700, "the longest snippet, in characters",
        field="qmd.max_snippet_chars"),
    Key("limits.maxInjectedChars", Number(1, 1_000_000), 4000, "the longest answer, in characters",
        field="qmd.max_injected_chars"),
    Key("limits.timeoutMs", _MS, 4000, "the timeout of a search", field="qmd.timeout_s"),
    *_SCOPE,
)  # fmt: skip

_LANCE = (
    off("enabled", "give agents entries beside the notes: single statements that they store, "
        "recall and forget", "openclaw"),
    Key("config.dbPath", Text("a folder"), None, "the folder of entries; unset, in the state "
        "folder", "openclaw", field="entries.db_path"),
    off("config.autoCapture", "let a host store what the user says", "openclaw",
        field="entries.auto_capture"),
    off("config.autoRecall", "let a host put entries before a prompt", "openclaw",
        field="entries.auto_recall"),
    Key("config.captureMaxChars", Number(100, 10_000), 500,
        "the longest message that a host stores", "openclaw", field="entries.capture_chars"),
    Key("config.recallMaxChars", Number(100, 10_000), 1000,
        "how many characters of a prompt are searched for", "openclaw",
        field="entries.recall_chars"),
    Key("config.embedding", Unused(), None, "entries use the embedder of "
        "`memorySearch`", "openclaw"),
)  # fmt: skip

GLOBAL_KEYS = (
    Key("memory.backend", Choice(("builtin", "qmd")), "builtin", "the engine that answers"),
    Key("memory.fallback", Choice(("builtin", "none")), "builtin",
        "the engine that answers when the first one fails", "ours", field="fallback_engine"),
    Key("memory.citations", Choice(("auto", "on", "off")), "auto",
        "show file and lines of each snippet; `auto` does so in direct conversations",
        field="citations"),
    Key("memory.curated", Choice(("private", "shared")), "private",
        "who sees MEMORY.md, transcripts and entries: private conversations only, or groups and "
        "channels too",
        "ours", field="curated"),
    *(key._replace(path=f"memory.{key.path}", since="ours") for key in _SCOPE),
    Key("plugins.slots.memory", Choice(_SLOTS), "memory-core",
        "`none` switches the memory off; the others are names for a memory that is on"),
    on("hooks.internal.enabled", "`false`: no session notes are written; recall, flush and the "
        "other hooks of hosts go on (OpenClaw runs none of its own hooks then)",
        field="capture.session_messages"),
    on("hooks.internal.entries.session-memory.enabled",
        "write a note about a conversation that ends with /new or /reset",
        field="capture.session_messages"),
    Key("hooks.internal.entries.session-memory.messages", Number(1, 1000), 15,
        "how many of its last messages the note has", field="capture.session_messages"),
    Key("hooks.internal.entries.session-memory.slugCommand",
        Texts("a list of texts: a program and its arguments"), (),
        "a program that names the note: it gets the conversation, with secrets masked, as its "
        "input, and the first line that it prints within 6 s becomes the name; else it is the "
        "time", "ours", field="capture.slug_command"),
    Key("hooks.recall", Flag(), default=True, meaning="`false`: prompts get nothing from notes, "
        "whatever hook or plugin is installed; sessions still start with notes",
        since="ours", field="capture.hook_recall"),
    Key("hooks.recallSeconds", Number(0.1, 600, whole=False), 2.5,
        "how long a prompt waits for its recall; then it goes on with what was found, or with the "
        "reason. While there is no index, `hooks.workSeconds` counts instead", "ours",
        field="capture.hook_recall_s"),
    Key("hooks.workSeconds", Number(0.1, 600, whole=False), 8,
        "how long any other hook works on what can wait: the index, entries, the name of a note; "
        "at most four fifths of the time that the host grants", "ours",
        field="capture.hook_work_s"),
    Key("recallLog.enabled", Flag(), default=True, meaning="log what agents ask and which "
        "lines they get, with secrets masked, for the web page; off deletes the log",
        since="ours", field="capture.recall_log"),
    *(key._replace(path=f"memory.qmd.{key.path}") for key in _QMD),
    *(key._replace(path=f"plugins.entries.memory-lancedb.{key.path}") for key in _LANCE),
    Key("models.providers.*.baseUrl", Url(), None, "the address of a provider's API",
        field="embedder.providers"),
    Key("models.providers.*.apiKey", SecretText(), None, "its API key",
        field="embedder.providers"),
    Key("models.providers.*.headers", Headers(), {}, "headers of every request",
        field="embedder.providers"),
    Key("models.providers.*.api", Text(), None,
        "its wire format: " + ", ".join(f"`{api}`" for api in KNOWN_APIS) + "; unset, the "
        "provider's own, or `openai-compatible` for a name of your own",
        field="embedder.providers"),
    Key("models.providers.*.models", ModelIds(), None,
        "the models of a provider of your own; without `memorySearch.model`, the only one, or the "
        "first with `embed` in its id, is used", field="embedder.providers"),
    Key("auth.order.*", Texts("a list of names of auth profiles"), None,
        "the auth profiles of a provider that are used, in this order; the `order` of "
        "auth-profiles.json wins", "openclaw", field="embedder.auth_order"),
)  # fmt: skip

BINDING_KEYS = (
    Key("agentId", Text("an agent's id"), None, "the agent that answers"),
    Key("match.channel", Text(), None, "matches messages of this channel"),
    Key("match.accountId", Text(), None, "and of this account; `*` matches any"),
    Key("match.peer.kind", Choice(("direct", "dm", "group", "channel")), None,
        "and of this kind of peer"),
    Key("match.peer.id", Text(), None, "and of this peer"),
    Key("match.guildId", Text(), None, "and of this guild", "openclaw"),
    Key("match.teamId", Text(), None, "and of this team", "openclaw"),
    Key("comment", Text(blank=True), None, "a comment for people", "openclaw"),
)  # fmt: skip
