"""Who answers: from channel, account and peer to an agent, and what a session key says.

    agent:work:telegram:dm:alice         direct   agent work, channel telegram, peer alice
    agent:main:slack:channel:eng         channel
    agent:main:telegram:group:-100:topic:42
    agent:main:telegram:bot2:direct:7    with the account the message came through
    agent:main:main                      direct   the agent's own conversation

Everything here is decided from the values alone. What cannot be understood is a value too
(`BadSessionKey`), because a key comes from outside and a wrong one is no reason to stop.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

ChatType: TypeAlias = Literal["direct", "group", "channel"]
MatchedBy: TypeAlias = Literal["peer", "guild", "team", "account", "channel", "default"]

DEFAULT_AGENT = "main"
MAX_AGENT_ID_CHARS = 64
MAX_KEY_CHARS = 1024

_CHAT_TYPES: dict[str, ChatType] = {
    "direct": "direct",
    "dm": "direct",
    "group": "group",
    "supergroup": "group",
    "channel": "channel",
    "room": "channel",
}
_AGENT_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# Older OpenClaw keys say it inside a word: `guild-1:channel-2`, `1203@g.us`.
_OLD_CHANNEL = re.compile(r"(^|:)guild-[^:]+:channel-[^:]+")
_OLD_GROUP = re.compile(r"@g\.us(:|$)")


class Peer(NamedTuple):
    """The other end of a conversation: a person, a group or a channel."""

    kind: ChatType
    id: str


class SessionKey(NamedTuple):
    """What a session key says; `context` is what follows the channel, as it was written."""

    agent: str
    channel: str
    context: str
    chat_type: ChatType
    account: str | None = None
    peer: Peer | None = None


class BadSessionKey(NamedTuple):
    """A session key that is none, and why."""

    key: str
    why: str


class Binding(NamedTuple):
    """A rule that sends messages to an agent; whatever it does not name, it does not ask for."""

    agent: str
    channel: str | None = None
    account: str | None = None
    peer: Peer | None = None
    guild: str | None = None
    team: str | None = None


class Route(NamedTuple):
    """The agent that answers, and which kind of rule chose it."""

    agent: str
    by: MatchedBy


def normal_agent_id(text: str) -> str | None:
    """An id as it is kept: lower case, other characters folded to `-`; None if nothing is left."""
    told = text.strip().lower()
    if _AGENT_ID.fullmatch(told):
        return told
    folded = re.sub(r"[^a-z0-9_-]+", "-", told).strip("-")[:MAX_AGENT_ID_CHARS].lstrip("_-")
    return folded or None


def chat_type_of(word: object) -> ChatType | None:
    """What a binding or a key calls the kind of a conversation: `dm` is `direct`."""
    return _CHAT_TYPES.get(word.strip().lower()) if isinstance(word, str) else None


def parse_session_key(key: str) -> SessionKey | BadSessionKey:
    """The parts of `agent:<id>:<channel>:<context…>`."""
    told = key.strip()
    shown = told if len(told) <= MAX_KEY_CHARS else f"{told[:60]}…"
    if len(told) > MAX_KEY_CHARS:
        return BadSessionKey(shown, f"longer than {MAX_KEY_CHARS} characters")
    if not told.isprintable():
        return BadSessionKey(ascii(told), "has characters that cannot be shown")
    head, *parts = told.split(":")
    if head.lower() != "agent":
        return BadSessionKey(shown, "does not begin with 'agent:'")
    if len(parts) < 2:
        return BadSessionKey(shown, "has no channel: expected 'agent:<id>:<channel>:<context>'")
    agent = parts[0].lower()
    if not _AGENT_ID.fullmatch(agent):
        return BadSessionKey(shown, f"{parts[0]!r} is no id of an agent")
    if not all(parts[1:]):
        return BadSessionKey(shown, "has an empty part between two colons")
    return _parsed(agent, parts[1].lower(), parts[2:])


def _parsed(agent: str, channel: str, context: list[str]) -> SessionKey:
    """The kind stands first, or second behind the account."""
    joined = ":".join(context)
    for at, word in enumerate(context[:2]):
        chat_type = chat_type_of(word)
        if chat_type and len(context) > at + 1:
            account = context[0] if at else None
            peer = Peer(chat_type, context[at + 1])
            return SessionKey(agent, channel, joined, chat_type, account, peer)
    return SessionKey(agent, channel, joined, _guessed(":".join((channel, *context))))


def _guessed(told: str) -> ChatType:
    """Keys without a kind are private conversations, unless any part speaks of a group.

    In doubt it is a group: what is private must not turn up in front of others.
    """
    if _OLD_CHANNEL.search(told):
        return "channel"
    if _OLD_GROUP.search(told):
        return "group"
    kinds = {chat_type_of(word) for word in told.split(":")}
    if "group" in kinds:
        return "group"
    return "channel" if "channel" in kinds else "direct"


def resolve_agent(
    bindings: Iterable[Binding],
    channel: str,
    account: str | None = None,
    peer: Peer | None = None,
    *,
    place: tuple[str | None, str | None] = (None, None),
    default: str = DEFAULT_AGENT,
) -> Route:
    """The agent of a message: the most particular binding wins, and of equals the first.

    Peer, then guild and team (`place`, of channels that have them), account, channel, default.
    """
    told = Binding("", channel, account, peer, *place)
    found: dict[MatchedBy, str] = {}
    for binding in bindings:
        if _fits(binding, told):
            found.setdefault(_tier(binding), binding.agent)
    for tier in _TIERS:
        if tier in found:
            return Route(found[tier], tier)
    return Route(default, "default")


_TIERS: tuple[MatchedBy, ...] = ("peer", "guild", "team", "account", "channel", "default")


def _tier(binding: Binding) -> MatchedBy:
    for tier in _TIERS[:-1]:
        asked = getattr(binding, tier)
        if asked is not None and asked != "*":
            return tier
    return "default"


def _fits(binding: Binding, told: Binding) -> bool:
    if binding.peer is not None and not _same_peer(binding.peer, told.peer):
        return False
    return all(
        _same(getattr(binding, part), getattr(told, part))
        for part in ("channel", "account", "guild", "team")
    )


def _same_peer(asked: Peer, told: Peer | None) -> bool:
    return told is not None and asked.kind == told.kind and _same(asked.id, told.id)


def _same(asked: str | None, told: str | None) -> bool:
    """Session keys come in lower case, so case is not asked for."""
    if asked is None or asked == "*":
        return True
    return told is not None and asked.casefold() == told.casefold()
