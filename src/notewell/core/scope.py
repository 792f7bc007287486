"""Which conversations may see a memory, and which of them are private.

    rules   the first rule that matches decides; a rule matches if all its conditions hold
    else    the default: deny, with one rule that allows direct conversations

What a person told an agent in private must not turn up in a group. A call without a session key
comes from the owner's own program and not from a chat channel, so it counts as direct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.core.routing import BadSessionKey, ChatType, SessionKey, parse_session_key
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ScopeAction: TypeAlias = Literal["allow", "deny"]

SUBAGENT = "subagent"
_CURATED = frozenset({"memory.md", "user.md"})
"""The notes of what stays true and of who the user is, in lower case: where case does not matter,
`Memory.md` opens the same file."""


class ScopeRule(NamedTuple):
    """A condition that is None always holds."""

    action: ScopeAction
    chat_type: ChatType | None = None
    channel: str | None = None
    key_prefix: str | None = None
    """Of the key without its `agent:<id>:`."""
    raw_key_prefix: str | None = None
    """Of the whole key."""


@dataclass(frozen=True, slots=True)
class ConversationScope:
    default: ScopeAction = "deny"
    rules: tuple[ScopeRule, ...] = (ScopeRule("allow", chat_type="direct"),)


def scope_from(default: str | None, rules: Iterable[Mapping[str, Any]]) -> ConversationScope:
    """From validated values of a scope."""
    complete = tuple(map(_rule, rules))
    if not complete and default in (None, "deny"):
        # The built-in scope also allows direct conversations. A file that only repeats the
        # default `deny` means the same as a file without a scope.
        return ConversationScope()
    return ConversationScope("allow" if default == "allow" else "deny", complete)


def _rule(values: Mapping[str, Any]) -> ScopeRule:
    return ScopeRule(
        values.get("action", "deny"),
        chat_type=values.get("match.chatType"),
        channel=values.get("match.channel"),
        key_prefix=values.get("match.keyPrefix"),
        raw_key_prefix=values.get("match.rawKeyPrefix"),
    )


def is_private(session_key: str | None) -> bool:
    """Whether a conversation is between the agent and one person."""
    # A key that cannot be parsed may belong to a group, and the key of a subagent does not say
    # who reads its answers: both count as not private.
    return _conversation(session_key).chat_type == "direct"


def is_private_path(path: str) -> bool:
    """Whether a path of a hit is for private conversations: MEMORY.md, USER.md, a transcript."""
    return is_curated(path) or is_transcript(path)


def is_curated(path: str) -> bool:
    """Whether a path leads to a MEMORY.md or USER.md: the workspace's own, or that of another
    workspace that is reached through an extra path or a collection of QMD."""
    *above, name = path.casefold().split("/")
    # What is below the workspace's own `memory/` is an ordinary note, whatever its name.
    return name in _CURATED and (not above or above[0] != "memory")


def is_transcript(path: str) -> bool:
    """Whether a path leads to a transcript, or to what was exported of one for QMD.

    A transcript does not say in which conversation it was written, so it counts as private.
    """
    # A note may be in a folder `sessions` too, but every note ends in `.md`.
    folded = path.casefold()
    is_ours = folded.startswith("sessions/") and not folded.endswith(".md")
    return is_ours or folded.startswith("qmd/sessions-")


# -- the verdict ---------------------------------------------------------------------------------


class _Conversation(NamedTuple):
    """What a session key says about a conversation."""

    key: str
    key_in_agent: str
    channel: str | None
    chat_type: ChatType | None


def why_denied(session_key: str | None, scope: ConversationScope) -> str | None:
    """None if the conversation may see the memory; else the reason, for people."""
    conversation = _conversation(session_key)
    for number, rule in enumerate(scope.rules, start=1):
        if _matches(rule, conversation):
            denied = f"{_describe(conversation)}; rule {number} denies it"
            return None if rule.action == "allow" else denied
    if scope.default == "allow":
        return None
    reason = "no rule of memory.scope allows it, and the default is deny"
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
