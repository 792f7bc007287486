"""Who speaks in a conversation: what users ask about themselves, they have said themselves.

"Where did I have my guitar serviced?" is answered by one sentence of the user, said in passing.
The replies around it are about guitars at length, and have more of the words. So if a question is
about the user, what the user said counts more than what the assistant said:

    chunk of a note in which the user speaks        × GAIN
    chunk of a transcript without the user          ÷ GAIN
    every other chunk                               as it is

In a note, a part of a long reply looks like any other text, so that only the user can be told. In
a transcript every chunk is a part of the conversation; there the assistant gives way, so that what
is said does not rise above what is noted. Among the lines of a hit, those of the user count more
in both (`packing.py`). docs/ranking.md has the measured effect.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

GAIN = 1.15
"""1.1 and 1.2 find as much; with 1.3 wrong sentences of the user rise above right replies."""

SPOKEN_LINE = re.compile(r"\W{0,4}(user|assistant)\W{0,2}:[* ]*(.*)", re.IGNORECASE)
"""Speaker and words, as Notewell, OpenClaw and notes in Markdown write it: `User: …`, `user: …`,
`**User**: …`."""

_USER_LINE = re.compile(r"^\W{0,4}user\W{0,2}:", re.IGNORECASE | re.MULTILINE)
_WORD = re.compile(r"\w+")

_ASKER = """
i me my mine myself
ich mich mir mein meine meinem meinen meiner meines
je j moi mon ma mes
yo mi mis mío mía
io mio mia miei mie
eu meu minha meus minhas
ik mij mijn
я меня мне мной мой моя моё мои моего моей моих мою
"""
_ASKER_WORDS = frozenset(_ASKER.split())
_ASKER_CHARS = frozenset("我私僕俺")
"""Of languages that are written without spaces."""

_ASSISTANT = """
you your yours
du dich dir dein deine deinem deinen deiner
tu te toi ton ta tes vous votre vos
tú ti tus usted
tuo tua tuoi
você teu
jij jouw
ты тебя тебе тобой твой твоя вы вас вам ваш
"""
_ASSISTANT_WORDS = frozenset(_ASSISTANT.split())
_ASSISTANT_CHARS = frozenset("你您")

_THE_USER = re.compile(r"\bthe user\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"\b(?:(?:can|could|would|will) you|(?:tell|remind|show|give|help) me)\b", re.IGNORECASE
)
"""Asks for an answer, and says nothing of whom it is about."""


@lru_cache(maxsize=64)
def is_about_user(question: str) -> bool:
    """Whether a question is about the person who asks, or `the user` if an agent asks, and not
    about what the assistant said. A word of one language may be another word in a second one: then
    the order changes a little."""
    if _THE_USER.search(question):
        return True
    words = set(_WORD.findall(_REQUEST.sub("", question).casefold()))
    if not (words.isdisjoint(_ASSISTANT_WORDS) and _ASSISTANT_CHARS.isdisjoint(question)):
        return False
    return not (words.isdisjoint(_ASKER_WORDS) and _ASKER_CHARS.isdisjoint(question))


def user_speaks(text: str) -> bool:
    # Few texts have the word at all, and to look for it is cheaper.
    return "user" in text.casefold() and _USER_LINE.search(text) is not None


def speaker_factor(source: str, *, has_user: bool) -> float:
    """That of a chunk, for a question about the user, who speaks in it or not."""
    if source == "sessions":
        return 1.0 if has_user else 1 / GAIN
    return GAIN if has_user else 1.0


def are_users(lines: Iterable[str]) -> list[bool]:
    """Which lines of a conversation are the user's; a message may have several."""
    speaker, found = "", []
    for line in lines:
        if spoken := SPOKEN_LINE.match(line):
            speaker = spoken[1].lower()
        found.append(speaker == "user")
    return found
