"""The settings of QMD: one field for each key below `memory.qmd`, and the scope they contain.

The scope decides which conversations may see what QMD finds:

    rules   the first rule that matches decides; a rule matches if all its conditions hold
    else    the default: deny, with one rule that allows direct conversations

What a person told an agent in private must not turn up in a group. A call without a session key
comes from the owner's own program and not from a chat channel, so it counts as direct.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.core import BadSessionKey, ChatType, SessionKey, parse_session_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SearchMode: TypeAlias = Literal["search", "vsearch", "query"]
Action: TypeAlias = Literal["allow", "deny"]

SUBAGENT = "subagent"


class ScopeRule(NamedTuple):
    """A condition that is None always holds."""

    action: Action
    chat_type: ChatType | None = None
    channel: str | None = None
    key_prefix: str | None = None
    """Of the key without its `agent:<id>:`."""
    raw_key_prefix: str | None = None
    """Of the whole key."""


@dataclass(frozen=True, slots=True)
class QmdScope:
    default: Action = "deny"
    rules: tuple[ScopeRule, ...] = (ScopeRule("allow", chat_type="direct"),)


class ExtraFolder(NamedTuple):
    """An entry of `memory.qmd.paths`: a folder, or one file."""

    path: str
    pattern: str | None = None
    name: str | None = None


class QmdModels(NamedTuple):
    """Where QMD finds its models: `hf:owner/repo/file.gguf`, or the path of a file.

    The defaults are those of QMD 2.8. We always write them: QMD adds missing models to its
    configuration itself, and that write is not atomic.
    """

    embed: str = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
    rerank: str = "hf:ggml-org/Qwen3-Reranker-0.6B-Q8_0-GGUF/qwen3-reranker-0.6b-q8_0.gguf"
    generate: str = "hf:tobil/qmd-query-expansion-1.7B-gguf/qmd-query-expansion-1.7B-q4_k_m.gguf"


@dataclass(frozen=True, slots=True)
class QmdSettings:
    command: str = "qmd"
    search_mode: SearchMode = "search"
    rerank: bool | None = None
    """None: QMD decides."""
    include_default_memory: bool = True
    paths: tuple[ExtraFolder, ...] = ()
    export_sessions: bool = False
    retention_days: int | None = None
    export_dir: str | None = None
    """None: `sessions/` in QMD's home."""
    interval_s: float = 300.0
    debounce_s: float = 15.0
    update_on_boot: bool = True
    wait_for_boot: bool = False
    embed_interval_s: float = 3600.0
    command_timeout_s: float = 30.0
    update_timeout_s: float = 120.0
    embed_timeout_s: float = 120.0
    max_results: int = 6
    max_snippet_chars: int = 700
    max_injected_chars: int = 4000
    timeout_s: float = 4.0
    scope: QmdScope = field(default_factory=QmdScope)
    daemon: bool = True
    """Keep QMD's server running between questions. False for a program that asks once."""
    models: QmdModels = field(default_factory=QmdModels)


def scope_from(default: str | None, rules: Iterable[Mapping[str, Any]]) -> QmdScope:
    """From validated values of `memory.qmd.scope`. A rule without an action is ignored."""
    complete = tuple(_rule(rule) for rule in rules if "action" in rule)
    if not complete and default in (None, "deny"):
        # The built-in scope also allows direct conversations. A file that only repeats the
        # default `deny` means the same as a file without a scope.
        return QmdScope()
    return QmdScope("allow" if default == "allow" else "deny", complete)


def _rule(values: Mapping[str, Any]) -> ScopeRule:
    return ScopeRule(
        values["action"],
        chat_type=values.get("match.chatType"),
        channel=values.get("match.channel"),
        key_prefix=values.get("match.keyPrefix"),
        raw_key_prefix=values.get("match.rawKeyPrefix"),
    )


# -- scope ---------------------------------------------------------------------------------------


class _Conversation(NamedTuple):
    """What a session key says about a conversation."""

    key: str
    key_in_agent: str
    channel: str | None
    chat_type: ChatType | None


def why_denied(session_key: str | None, scope: QmdScope) -> str | None:
    """None if the conversation may see the hits; else the reason, for people."""
    conversation = _conversation(session_key)
    for number, rule in enumerate(scope.rules, start=1):
        if _matches(rule, conversation):
            denied = f"{_describe(conversation)}; rule {number} denies it"
            return None if rule.action == "allow" else denied
    if scope.default == "allow":
        return None
    reason = "no rule of memory.qmd.scope allows it, and the default is deny"
    return f"{_describe(conversation)}; {reason}"


def _conversation(session_key: str | None) -> _Conversation:
    if session_key is None:
        return _Conversation("", "", None, "direct")
    parsed = parse_session_key(session_key)
    key = session_key.strip().lower()
    if isinstance(parsed, BadSessionKey):
        # Its kind is unknown, so only a rule that names the beginning of the key can allow it.
        return _Conversation(key, key, None, None)
    return _Conversation(key, key.split(":", 2)[2], *_channel_and_type(parsed))


def _channel_and_type(key: SessionKey) -> tuple[str | None, ChatType | None]:
    """A subagent talks to an agent, not to people: it has neither channel nor chat type."""
    return (None, None) if key.channel == SUBAGENT else (key.channel, key.chat_type)


def _matches(rule: ScopeRule, conversation: _Conversation) -> bool:
    return (
        (rule.chat_type is None or rule.chat_type == conversation.chat_type)
        and (rule.channel is None or rule.channel.lower() == conversation.channel)
        and (rule.key_prefix is None or _begins(conversation.key_in_agent, rule.key_prefix))
        and (rule.raw_key_prefix is None or _begins(conversation.key, rule.raw_key_prefix))
    )


def _begins(key: str, prefix: str) -> bool:
    # No key at all matches no prefix, not even an empty one.
    return bool(key) and key.startswith(prefix.lower())


def _describe(conversation: _Conversation) -> str:
    kind = conversation.chat_type or "unknown"
    return f"the conversation has channel {conversation.channel or 'none'!r} and kind {kind!r}"
