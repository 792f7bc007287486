"""Session keys and bindings: the original's examples, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notewell.core.routing import (
    BadSessionKey,
    Binding,
    ChatType,
    Peer,
    Route,
    SessionKey,
    chat_type_of,
    normal_agent_id,
    parse_session_key,
    resolve_agent,
)


@pytest.mark.parametrize(
    ("key", "agent", "channel", "chat_type", "peer"),
    [
        ("agent:work:telegram:dm:alice", "work", "telegram", "direct", "alice"),
        ("agent:work:telegram:dm:bob", "work", "telegram", "direct", "bob"),
        ("agent:work:slack:channel:eng", "work", "slack", "channel", "eng"),
        ("agent:work:whatsapp:dm:+1234567890", "work", "whatsapp", "direct", "+1234567890"),
        ("agent:main:telegram:dm:user123", "main", "telegram", "direct", "user123"),
        ("agent:work:slack:channel:engineering", "work", "slack", "channel", "engineering"),
        ("agent:main:telegram:group:-100:topic:42", "main", "telegram", "group", "-100"),
        ("agent:main:discord:channel:12:thread:34", "main", "discord", "channel", "12"),
        ("AGENT:Main:Telegram:DIRECT:Seven", "main", "telegram", "direct", "Seven"),
    ],
)
def test_a_key_tells_agent_channel_kind_and_peer(
    key: str, agent: str, channel: str, chat_type: ChatType, peer: str
) -> None:
    parsed = parse_session_key(key)
    assert isinstance(parsed, SessionKey)
    assert (parsed.agent, parsed.channel, parsed.chat_type) == (agent, channel, chat_type)
    assert parsed.peer == Peer(chat_type, peer)


def test_a_key_may_name_the_account_before_the_kind() -> None:
    parsed = parse_session_key("agent:main:telegram:bot2:direct:7")
    assert isinstance(parsed, SessionKey)
    assert (parsed.account, parsed.peer) == ("bot2", Peer("direct", "7"))


@pytest.mark.parametrize(
    ("key", "chat_type"),
    [
        ("agent:main:main", "direct"),
        ("agent:support:web:session:abc123", "direct"),
        ("agent:main:discord:acct:guild-1:channel-2", "channel"),
        ("agent:main:whatsapp:1203-44@g.us", "group"),
        ("agent:main:some:thing:else:group:9", "group"),
        ("agent:main:subagent:5d-41", "direct"),
        ("agent:main:slack:dm:group", "direct"),
        ("agent:main:slack:group:dm", "group"),
    ],
)
def test_the_kind_of_conversation_is_told_by_its_place_or_guessed_on_the_safe_side(
    key: str, chat_type: ChatType
) -> None:
    parsed = parse_session_key(key)
    assert isinstance(parsed, SessionKey)
    assert parsed.chat_type == chat_type


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("", "does not begin with 'agent:'"),
        ("main", "does not begin with 'agent:'"),
        ("session:main:telegram:dm:1", "does not begin with 'agent:'"),
        ("agent:main", "has no channel: expected 'agent:<id>:<channel>:<context>'"),
        ("agent:", "has no channel: expected 'agent:<id>:<channel>:<context>'"),
        ("agent::telegram:dm:1", "'' is not the id of an agent"),
        ("agent:../x:telegram:dm:1", "'../x' is not the id of an agent"),
        ("agent:main::dm:1", "has an empty part between two colons"),
        ("agent:main:telegram:dm:", "has an empty part between two colons"),
        ("agent:main:tele\x00gram:dm:1", "has characters that cannot be shown"),
        ("agent:main:x:" + "y" * 2000, "longer than 1024 characters"),
    ],
)
def test_a_malformed_key_is_a_value_that_says_why(key: str, why: str) -> None:
    parsed = parse_session_key(key)
    assert isinstance(parsed, BadSessionKey)
    assert parsed.why == why


@given(st.text())
def test_any_text_gives_an_answer(text: str) -> None:
    assert isinstance(parse_session_key(text), SessionKey | BadSessionKey)
    assert isinstance(parse_session_key(f"agent:main:{text}"), SessionKey | BadSessionKey)


# The bindings of the original's page on routing.
BINDINGS = (
    Binding("work", channel="slack", account="company-workspace"),
    Binding("support", channel="telegram", peer=Peer("group", "support-channel")),
    Binding("main"),
)


def test_the_originals_bindings_route_as_its_page_says() -> None:
    company = resolve_agent(BINDINGS, "slack", "company-workspace", Peer("channel", "eng"))
    assert company == Route("work", "account")
    group = resolve_agent(BINDINGS, "telegram", None, Peer("group", "support-channel"))
    assert group == Route("support", "peer")
    assert resolve_agent(BINDINGS, "telegram", None, Peer("direct", "x")) == Route(
        "main", "default"
    )
    assert resolve_agent(BINDINGS, "slack", "another") == Route("main", "default")


def test_peer_wins_over_guild_team_account_channel_and_default_in_any_order() -> None:
    peer = Peer("direct", "7")
    rules = {
        "peer": Binding("a", "discord", peer=peer),
        "guild": Binding("b", "discord", guild="g"),
        "team": Binding("c", "discord", team="t"),
        "account": Binding("d", "discord", "bot"),
        "channel": Binding("e", "discord"),
        "default": Binding("f"),
    }
    while rules:
        expected = next(iter(rules))
        for order in (list(rules.values()), list(rules.values())[::-1]):
            route = resolve_agent(order, "discord", "bot", peer, place=("g", "t"))
            assert route == Route(rules[expected].agent, expected)  # type: ignore[arg-type]
        del rules[expected]
    assert resolve_agent((), "discord", default="home") == Route("home", "default")


def test_of_two_equal_bindings_the_first_wins() -> None:
    rules = (Binding("a", "slack"), Binding("b", "slack"))
    assert resolve_agent(rules, "slack").agent == "a"


def test_a_star_is_any_account_and_so_no_more_than_a_channel_binding() -> None:
    rules = (Binding("any", "slack", "*"), Binding("one", "slack", "acme"))
    assert resolve_agent(rules, "slack", "acme") == Route("one", "account")
    assert resolve_agent(rules, "slack", "else") == Route("any", "channel")
    assert resolve_agent(rules, "slack") == Route("any", "channel")


def test_a_peer_of_another_kind_channel_or_account_is_another_peer() -> None:
    rules = (Binding("a", "telegram", "bot", Peer("group", "7")),)
    assert resolve_agent(rules, "telegram", "bot", Peer("group", "7")).agent == "a"
    assert resolve_agent(rules, "telegram", "bot", Peer("direct", "7")).agent == "main"
    assert resolve_agent(rules, "slack", "bot", Peer("group", "7")).agent == "main"
    assert resolve_agent(rules, "telegram", None, Peer("group", "7")).agent == "main"
    assert resolve_agent(rules, "telegram", "bot").agent == "main"


def test_a_parsed_key_routes_like_the_message_it_came_from() -> None:
    rules = (Binding("eng", "slack", peer=Peer("channel", "C0ENG")),)
    parsed = parse_session_key("agent:eng:slack:channel:c0eng")
    assert isinstance(parsed, SessionKey)
    assert resolve_agent(rules, parsed.channel, parsed.account, parsed.peer).agent == "eng"


@pytest.mark.parametrize(
    ("told", "kept"),
    [("Work", "work"), (" Team A! ", "team-a"), ("a_b-c", "a_b-c"), ("***", None), ("", None)],
)
def test_an_agents_id_is_kept_in_one_form(told: str, kept: str | None) -> None:
    assert normal_agent_id(told) == kept


@given(st.text(max_size=200))
def test_a_normal_id_is_a_safe_file_name_and_stays_what_it_is(told: str) -> None:
    kept = normal_agent_id(told)
    if kept is not None:
        assert normal_agent_id(kept) == kept
        assert len(kept) <= 64
        assert set(kept) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


def test_dm_is_another_word_for_direct() -> None:
    assert chat_type_of("DM") == chat_type_of("direct") == "direct"
    assert chat_type_of(7) is None
