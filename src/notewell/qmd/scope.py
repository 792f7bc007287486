"""Which conversations may see what QMD finds.

    rules   the first that fits decides; a rule fits if everything it names is so
    else    the default: deny, with one rule that allows direct conversations

What a person told an agent alone must not turn up in a group. No session key at all means that
nobody is talking through a channel: it is the owner's own program, and counts as direct.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from notewell.core import BadSessionKey, ChatType, SessionKey, parse_session_key

Action: TypeAlias = Literal["allow", "deny"]

SUBAGENT = "subagent"


class ScopeRule(NamedTuple):
    """What it does not name, it does not ask for."""

    action: Action
    chat_type: ChatType | None = None
    channel: str | None = None
    key_prefix: str | None = None
    """Of the key without its `agent:<id>:`."""
    raw_key_prefix: str | None = None
    """Of the key as it is."""


@dataclass(frozen=True, slots=True)
class Scope:
    default: Action = "deny"
    rules: tuple[ScopeRule, ...] = (ScopeRule("allow", chat_type="direct"),)


class _Talk(NamedTuple):
    """What is known of a conversation."""

    key: str
    rest: str
    channel: str | None
    chat_type: ChatType | None


def why_denied(session_key: str | None, scope: Scope) -> str | None:
    """None if the conversation may see the hits; else the reason, in words."""
    talk = _talk(session_key)
    for number, rule in enumerate(scope.rules, start=1):
        if _fits(rule, talk):
            return None if rule.action == "allow" else f"{_told(talk)}; rule {number} denies it"
    if scope.default == "allow":
        return None
    return f"{_told(talk)}; no rule of memory.qmd.scope allows it, and the default is deny"


def _talk(session_key: str | None) -> _Talk:
    if session_key is None:
        return _Talk("", "", None, "direct")
    told = parse_session_key(session_key)
    if isinstance(told, BadSessionKey):
        # It cannot be told what it is, so only a rule for keys that begin so can allow it.
        return _Talk(session_key.strip().lower(), session_key.strip().lower(), None, None)
    key = session_key.strip().lower()
    rest = key.split(":", 2)[2]
    return _Talk(key, rest, *_kind_of(told))


def _kind_of(told: SessionKey) -> tuple[str | None, ChatType | None]:
    """A subagent talks to an agent, not to people: it has neither channel nor kind."""
    return (None, None) if told.channel == SUBAGENT else (told.channel, told.chat_type)


def _fits(rule: ScopeRule, talk: _Talk) -> bool:
    return (
        (rule.chat_type is None or rule.chat_type == talk.chat_type)
        and (rule.channel is None or rule.channel.lower() == talk.channel)
        and (rule.key_prefix is None or _begins(talk.rest, rule.key_prefix))
        and (rule.raw_key_prefix is None or _begins(talk.key, rule.raw_key_prefix))
    )


def _begins(key: str, prefix: str) -> bool:
    return bool(key) and key.startswith(prefix.lower())


def _told(talk: _Talk) -> str:
    kind = talk.chat_type or "unknown"
    return f"the conversation has channel {talk.channel or 'none'!r} and kind {kind!r}"
