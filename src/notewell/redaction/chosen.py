"""Values that a person chose for a secret: `client_secret: MeadowOlive12`, `API_TOKEN=12067`.

What a machine made shows it (`plausible.py`). Behind the name of a token a chosen value may also be
a type, a state or a variable, so the name must be certain of its kind (`client_secret`, not `token`)
or the value must be nobody's word, and the place must hold a literal: a quote, the environment, or
a line that is nothing but a setting.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.redaction.name_words import head_of, words_of
from notewell.redaction.plain_words import NOT_PLAIN
from notewell.redaction.plausible import (
    MEDIUM,
    STRONG,
    is_identifier,
    is_passphrase,
    is_placeholder,
    password_strength,
    word_set,
)
from notewell.redaction.weak_values import (
    is_code,
    is_joined,
    is_odd,
    is_plain_word,
    is_run_together,
    is_weak_password,
    names_a_secret,
)

if TYPE_CHECKING:
    from notewell.redaction.names import Family

Place: TypeAlias = Literal["quoted", "environment", "setting", "flow", "anywhere"]
"""Where the value is: in quotes, in `NAME=…`, alone behind its name in a line, in `{name: …}`, or elsewhere."""

_CERTAIN = word_set(
    "api access auth private encryption decryption signing master license licence webhook shared hmac jwt deploy"
    " recovery preshared bot bearer refresh personal registration join oauth client consumer csrf"
    " wifi wlan wpa vpn ssh ftp smtp github gitlab npm slack vault session app cookie"
)
_STORED = word_set("session app cookie client storage")
"""Before `key` these are names of entries: `storageKey = "theme"`."""

_OF_LANGUAGE = word_set(
    "max min num count total eos bos pad unk sep cls mask next last first prev previous input output prompt completion"
    " design color stop start end special begin close open lex lexer parser cancel cancellation type page continuation"
)
"""Tokens of a text, of a list, of a program."""

_MADE_UP = word_set(
    "foo bar baz qux test tests testing fake dummy mock sample demo example stub some any your my"
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_SIMPLE = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*[!?*#]?")
_MANY = re.compile(r"(?:-[^-]+){3}|(?:[._][^._]+){2}[._]\d+$")
MIN_DIGITS = 4


def is_certain(name: str) -> bool:
    """Whether only a secret can have this name: `client_secret`, `apiToken`, `WIFI_KEY`; not `secret`, `token`."""
    words = words_of(name)
    if not words or not _OF_LANGUAGE.isdisjoint(words) or is_entry(words):
        return False
    if any("secret" in word for word in words):
        return len("".join(words)) > len("secrets")
    head = head_of(name)
    if head is not None:
        return head != "key" or len(words) > 1
    return not _CERTAIN.isdisjoint(words[:-1]) or _is_run_together_name(words)


def is_entry(words: tuple[str, ...]) -> bool:
    """`storageKey`, `session_key`: what something is filed under."""
    return words[-1] == "key" and not _STORED.isdisjoint(words[:-1]) and "secret" not in words


def _is_run_together_name(words: tuple[str, ...]) -> bool:
    return any(
        word != "token"
        and word.endswith(("key", "token"))
        and word[:-3].removesuffix("to") in _CERTAIN
        for word in words
    )


def is_chosen(name: str, family: Family, value: str, place: Place) -> bool:
    """Whether a person could have chosen `value` as the secret called `name`."""
    words = words_of(name)
    if place == "anywhere" or not words or is_entry(words) or _is_made_up(value):
        return False
    if family == "password":
        return _is_chosen_password(name, value, place)
    if place == "quoted" and " " in value:
        return is_certain(name) and is_passphrase(value) and len(value.split()) > 3
    if is_certain(name):
        return _is_chosen_for_certain(name, value, place)
    if words[-1] in {"auth", "authorization", "pat"} or not _OF_LANGUAGE.isdisjoint(words):
        return False
    return (family != "key" or head_of(name) is not None) and _is_odd_enough(value, place)


def _is_chosen_password(name: str, value: str, place: Place) -> bool:
    if words_of(name)[-1:] == ("pin",):
        return _is_odd_enough(value, place) or (place == "quoted" and is_passphrase(value))
    if place == "quoted" and is_passphrase(value):
        return True
    if not is_weak_password(value):
        return False
    return (
        place in {"quoted", "environment"} or not is_plain_word(value) or head_of(name) is not None
    )


def _is_chosen_for_certain(name: str, value: str, place: Place) -> bool:
    if not is_weak_password(value) or names_a_secret(value.lower()):
        return False
    if place in {"quoted", "environment"}:
        return not is_plain_word(value) or value.islower()
    if place == "flow" or not (name.islower() or name.isupper()):
        return _is_odd_enough(value, place)
    return not is_plain_word(value) or value.islower()


def _is_odd_enough(value: str, place: Place) -> bool:
    """A phrase, words with a number, letters and digits that are no word: no type, state or reference."""
    if is_code(value):
        return place != "setting" and len(value) > MIN_DIGITS
    if not is_weak_password(value) or is_plain_word(value) or names_a_secret(value.lower()):
        return False
    if not _SIMPLE.fullmatch(value):
        return password_strength(value) >= MEDIUM and _has_digits(value) and place != "flow"
    if is_run_together(value):
        is_literal = place in {"quoted", "environment"} or value[-1:].isdigit()
        return is_literal and len(_PARTS.findall(value)) > 2
    if is_joined(value):
        if place == "flow":
            return _has_digits(value)
        return place != "setting" or value[:1].isupper() or _MANY.search(value) is not None
    return is_odd(value) or (_has_digits(value) and not is_identifier(value))


def _has_digits(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _is_made_up(value: str) -> bool:
    """`test-token-1`, `my_api_key`: what examples and tests write."""
    if is_placeholder(value) or value[-1:] in {"-", "_", ":"} or value[:1] in {"#", "/", "@"}:
        return True
    words = [word.lower() for word in _PARTS.findall(value)]
    plain = sum(word in NOT_PLAIN for word in words if len(word) > 2)
    return not _MADE_UP.isdisjoint(words[:1]) or (plain > 0 and password_strength(value) < STRONG)
