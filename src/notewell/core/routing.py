"""Which agent answers a message (by channel, account and peer), and what a session key says.

    agent:work:telegram:dm:alice         direct   agent work, channel telegram, peer alice
    agent:main:slack:channel:eng         channel
    agent:main:telegram:group:-100:topic:42
    agent:main:telegram:bot2:direct:7    with the account the message came through
    agent:main:main                      direct   the agent's own conversation

A key that cannot be parsed is a value too (`BadSessionKey`): keys come from other programs, and a
wrong one must not stop the caller.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ChatType: TypeAlias = Literal["direct", "group", "channel"]
MatchedBy: TypeAlias = Literal["key", "peer", "guild", "team", "account", "channel", "default"]
"""key: the session key names the agent; the others: the binding that matched, or none."""

DEFAULT_AGENT = "main"
# The id of an agent is the name of a folder in the state directory.
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
# Older OpenClaw keys have the kind inside a word: `guild-1:channel-2`, `1203@g.us`.
_OLD_CHANNEL = re.compile(r"(^|:)guild-[^:]+:channel-[^:]+")
_OLD_GROUP = re.compile(r"@g\.us(:|$)")


class Peer(NamedTuple):
    """The other end of a conversation: a person, a group or a channel."""

    kind: ChatType
    id: str


class SessionKey(NamedTuple):
    """The parts of a session key; `context` is the text after the channel, unchanged."""

    agent: str
    channel: str
    context: str
    chat_type: ChatType
    account: str | None = None
    peer: Peer | None = None


class BadSessionKey(NamedTuple):
    """A text that is not a session key, and why."""

    key: str
    why: str


class UnknownAgent(NamedTuple):
    """The agent that a session key names, and that the settings do not have."""

    id: str
    known: tuple[str, ...]

    @property
    def why(self) -> str:
        return f"it names the agent {self.id!r}; the settings have: {', '.join(self.known)}"


class Binding(NamedTuple):
    """A rule that sends messages to an agent; a part that is None matches everything."""

    agent: str
    channel: str | None = None
    account: str | None = None
    peer: Peer | None = None
    guild: str | None = None
    team: str | None = None


class Route(NamedTuple):
    """The agent that answers, and the kind of rule that selected it."""

    agent: str
    by: MatchedBy


def agent_id(text: str) -> str | None:
    """The id as folders and settings have it, in lower case; None if it is not an id."""
    id_ = text.strip().lower()
    return id_ if _AGENT_ID.fullmatch(id_) else None


def normal_agent_id(text: str) -> str | None:
    """The same for ids in configuration files, where OpenClaw replaces other characters by `-`;
    None if nothing is left."""
    valid = agent_id(text)
    if valid:
        return valid
    id_ = text.strip().lower()
    folded = re.sub(r"[^a-z0-9_-]+", "-", id_).strip("-")[:MAX_AGENT_ID_CHARS].lstrip("_-")
    return folded or None


def chat_type_of(word: object) -> ChatType | None:
    """The kind of a conversation, by its name in a binding or a key: `dm` is `direct`."""
    return _CHAT_TYPES.get(word.strip().lower()) if isinstance(word, str) else None


def parse_session_key(key: str) -> SessionKey | BadSessionKey:
    """The parts of `agent:<id>:<channel>:<context…>`."""
    key = key.strip()
    if len(key) > MAX_KEY_CHARS:
        return BadSessionKey(f"{key[:60]}…", f"longer than {MAX_KEY_CHARS} characters")
    if not key.isprintable():
        return BadSessionKey(ascii(key), "has characters that cannot be shown")
    head, *parts = key.split(":")
    if head.lower() != "agent":
        return BadSessionKey(key, "does not begin with 'agent:'")
    if len(parts) < 2:
        return BadSessionKey(key, "has no channel: expected 'agent:<id>:<channel>:<context>'")
    agent = agent_id(parts[0])
    if agent is None:
        return BadSessionKey(key, f"{parts[0]!r} is not the id of an agent")
    if not all(parts[1:]):
        return BadSessionKey(key, "has an empty part between two colons")
    return _parsed(agent, parts[1].lower(), parts[2:])


def _parsed(agent: str, channel: str, context: list[str]) -> SessionKey:
    """The kind is the first word, or the second after the account."""
    joined = ":".join(context)
    for at, word in enumerate(context[:2]):
        chat_type = chat_type_of(word)
        # Without an id after it there is no peer; `_guessed` then reads the kind from all words.
        if chat_type and len(context) > at + 1:
            account = context[0] if at else None
            peer = Peer(chat_type, context[at + 1])
            return SessionKey(agent, channel, joined, chat_type, account, peer)
    return SessionKey(agent, channel, joined, _guessed(":".join((channel, *context))))


def _guessed(context: str) -> ChatType:
    """A key without a kind is of a private conversation, unless any part names a group.

    In doubt it is a group: private memory must not be shown to others.
    """
    if _OLD_CHANNEL.search(context):
        return "channel"
    if _OLD_GROUP.search(context):
        return "group"
    kinds = {chat_type_of(word) for word in context.split(":")}
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
    """The agent of a message: the most specific binding wins, and of equals the first.

    The order is peer, guild, team (`place`, for channels that have them), account, channel,
    default.
    """
    message = Binding("", channel, account, peer, *place)
    agents: dict[MatchedBy, str] = {}
    for binding in bindings:
        if _matches(binding, message):
            # `setdefault`: of two bindings in one tier the first wins.
            agents.setdefault(_tier(binding), binding.agent)
    for tier in _TIERS:
        if tier in agents:
            return Route(agents[tier], tier)
    return Route(default, "default")


def resolve_session(
    bindings: Iterable[Binding],
    key: SessionKey,
    agents: Collection[str],
    default: str = DEFAULT_AGENT,
) -> Route | UnknownAgent:
    """The agent of a conversation, by its session key.

    A key that names an agent of the settings other than the default one was routed by its host.
    Hosts without bindings of their own write the default agent, or `main`, into every key; for
    those, ours decide. Any other agent is unknown: another one's memory would be the wrong
    answer. Settings without agents of their own have one memory, for whatever id a host uses.
    """
    if key.agent != default and key.agent in agents:
        return Route(key.agent, "key")
    if key.agent not in (default, DEFAULT_AGENT) and set(agents) - {DEFAULT_AGENT}:
        return UnknownAgent(key.agent, tuple(agents))
    return resolve_agent(bindings, key.channel, key.account, key.peer, default=default)


_TIERS: tuple[MatchedBy, ...] = ("peer", "guild", "team", "account", "channel", "default")


def _tier(binding: Binding) -> MatchedBy:
    for tier in _TIERS[:-1]:
        # `*` matches everything, so it does not make a binding more specific.
        pattern = getattr(binding, tier)
        if pattern is not None and pattern != "*":
            return tier
    return "default"


def _matches(binding: Binding, message: Binding) -> bool:
    if binding.peer is not None and not _matches_peer(binding.peer, message.peer):
        return False
    return all(
        _matches_text(getattr(binding, part), getattr(message, part))
        for part in ("channel", "account", "guild", "team")
    )


def _matches_peer(pattern: Peer, peer: Peer | None) -> bool:
    return peer is not None and pattern.kind == peer.kind and _matches_text(pattern.id, peer.id)


def _matches_text(pattern: str | None, text: str | None) -> bool:
    """Case is ignored: session keys are in lower case."""
    if pattern is None or pattern == "*":
        return True
    return text is not None and pattern.casefold() == text.casefold()
