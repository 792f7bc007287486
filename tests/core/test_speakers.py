"""A question about the user prefers what the user said."""

from __future__ import annotations

import pytest

from notewell.core.speakers import GAIN, are_users, is_about_user, speaker_factor, user_speaks


@pytest.mark.parametrize(
    "question",
    [
        "Where did I get my guitar serviced?",
        "what's my sister's name",
        "Can you tell me how many cameras I own?",
        "I'm meeting whom on Thursday?",
        "Where does the user live?",
        "Wann war mein letzter Zahnarzttermin?",
        "où est-ce que j'ai rangé mon passeport ?",
        "¿cuál es mi número de cliente?",
        "dove ho messo il mio passaporto?",
        "onde está o meu passaporte?",
        "waar heb ik mijn fiets gelaten?",
        "Когда у меня встреча?",
        "我的护照在哪里？",
        "私の猫の名前は？",
    ],
)
def test_a_question_in_the_first_person_is_about_the_user(question: str) -> None:
    assert is_about_user(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Which database did we choose?",
        "When did Melanie go on a hike?",
        "Which restaurants did you recommend to me?",
        "what did you say about my thesis",
        "Can you tell me about the database?",
        "remind me what the router costs",
        "user table migration",
        "你给我推荐了什么？",
        "welche Bücher hast du mir empfohlen?",
        "数据库在哪里？",
    ],
)
def test_others_are_not(question: str) -> None:
    assert not is_about_user(question)


@pytest.mark.parametrize(
    "text",
    ["User: I moved.", "user: I moved", "**User**: I moved", "Assistant: Hi\nUser: I moved"],
)
def test_the_user_gains_in_a_note_and_the_assistant_gives_way_in_a_transcript(text: str) -> None:
    assert speaker_factor("memory", has_user=user_speaks(text)) == GAIN
    assert speaker_factor("sessions", has_user=user_speaks(text)) == 1.0


@pytest.mark.parametrize("text", ["Assistant: Try Oslo.", "- [ ] a power user: Anna", "plain"])
def test_without_the_user_a_note_stays_as_it_is(text: str) -> None:
    assert speaker_factor("memory", has_user=user_speaks(text)) == 1.0
    assert speaker_factor("sessions", has_user=user_speaks(text)) == 1 / GAIN


def test_a_message_goes_on_until_the_next_speaker() -> None:
    lines = ["and so on", "User: one", "two", "**Assistant**: three", "four", "User: five"]
    assert are_users(lines) == [False, True, True, False, False, True]
