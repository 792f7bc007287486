"""Which conversations may see a memory, and which are private: decided by the session key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core import (
    ConversationScope,
    ScopeRule,
    is_curated,
    is_private,
    is_private_path,
    is_transcript,
    scope_from,
    why_denied,
)


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        (None, True),
        ("agent:main:main", True),
        ("agent:main:telegram:dm:alice", True),
        ("agent:main:telegram:bot2:direct:7", True),
        ("agent:main:telegram:group:-100", False),
        ("agent:main:slack:channel:eng", False),
        ("agent:main:subagent:abc", False),
        ("AGENT:MAIN:Telegram:DM:Alice", True),
        ("nonsense", False),
        ("", False),
    ],
)
def test_unless_told_otherwise_only_direct_conversations_see_hits(
    key: str | None, allowed: bool
) -> None:
    assert (why_denied(key, ConversationScope()) is None) is allowed


def test_the_first_rule_that_fits_decides() -> None:
    scope = ConversationScope(
        "deny",
        (
            ScopeRule("deny", channel="Telegram", chat_type="group"),
            ScopeRule("allow", channel="telegram"),
            ScopeRule("allow", key_prefix="slack:channel:eng"),
            ScopeRule("allow", raw_key_prefix="agent:work:"),
        ),
    )
    assert why_denied("agent:main:telegram:dm:alice", scope) is None
    assert why_denied("agent:main:slack:channel:eng", scope) is None
    assert why_denied("agent:work:anything:group:1", scope) is None
    assert why_denied("agent:main:slack:channel:hr", scope) == (
        "the conversation has channel 'slack' and kind 'channel'; no rule of memory.scope "
        "allows it, and the default is deny"
    )
    told = why_denied("agent:main:telegram:group:-100", scope)
    assert told == "the conversation has channel 'telegram' and kind 'group'; rule 1 denies it"


def test_a_rule_without_an_action_denies() -> None:
    scope = scope_from("allow", [{"match.chatType": "group"}])
    assert why_denied("agent:main:telegram:group:-1", scope)
    assert why_denied("agent:main:telegram:dm:alice", scope) is None


def test_a_rule_by_prefix_says_nothing_of_the_owners_own_program() -> None:
    deny_all = ConversationScope("allow", (ScopeRule("deny", raw_key_prefix=""),))
    assert why_denied(None, deny_all) is None
    assert why_denied("agent:main:main", deny_all)


def test_a_subagent_is_of_no_kind_but_has_a_key() -> None:
    scope = ConversationScope("deny", (ScopeRule("allow", key_prefix="subagent:"),))
    assert why_denied("agent:main:subagent:abc", scope) is None
    told = why_denied("agent:main:subagent:abc", ConversationScope())
    assert told is not None
    assert "channel 'none' and kind 'unknown'" in told


@given(st.none() | st.text(), st.sampled_from(["allow", "deny"]))
def test_without_rules_the_default_decides_whatever_the_key(key: str | None, default: str) -> None:
    scope = ConversationScope("allow" if default == "allow" else "deny", ())
    assert (why_denied(key, scope) is None) is (default == "allow")


@pytest.mark.parametrize(
    ("key", "private"),
    [
        (None, True),
        ("agent:main:main", True),
        ("agent:main:telegram:dm:alice", True),
        ("agent:main:telegram:group:-100", False),
        ("agent:main:slack:channel:eng", False),
        # Its key does not say who reads the answers.
        ("agent:main:subagent:abc", False),
        ("nonsense", False),
    ],
)
def test_private_is_a_conversation_with_one_person(key: str | None, private: bool) -> None:
    assert is_private(key) is private


@pytest.mark.parametrize(
    ("path", "curated"),
    [
        ("MEMORY.md", True),
        ("memory.md", True),
        ("Memory.MD", True),
        ("qmd/memory-root-main/MEMORY.md", True),
        ("USER.md", True),
        ("user.md", True),
        ("qmd/memory-user-main/USER.md", True),
        ("/srv/ada/USER.md", True),
        ("memory/USER.md", False),
        ("memory/MEMORY.md", False),
        ("memory/birds/memory.md", False),
        # Of other workspaces, reached through extra paths and through collections of QMD.
        ("/srv/ada/MEMORY.md", True),
        ("/srv/ada/memory/MEMORY.md", True),
        ("other/memory.md", True),
        ("qmd/docs/MEMORY.md", True),
        ("qmd/docs-main/ada/MEMORY.md", True),
        ("/srv/ada/NOT-MEMORY.md", False),
        ("memory/2026-11-15.md", False),
        ("", False),
    ],
)
def test_the_curated_note_is_known_by_every_path_that_opens_it(path: str, curated: bool) -> None:
    assert is_curated(path) is curated


@pytest.mark.parametrize(
    ("path", "is_of_a_transcript"),
    [
        ("sessions/ab12.jsonl", True),
        ("sessions/claude/project/ab12.jsonl", True),
        ("sessions/gemini/chat.json", True),
        ("qmd/sessions-main/ab12-1f.md", True),
        # Notes of the user in a folder of that name.
        ("sessions/2026-11-15.md", False),
        ("memory/sessions/ab12.md", False),
        ("memory/2026-11-15.md", False),
    ],
)
def test_a_transcript_is_known_by_its_path(path: str, is_of_a_transcript: bool) -> None:
    assert is_transcript(path) is is_of_a_transcript
    assert is_private_path(path) is is_of_a_transcript
