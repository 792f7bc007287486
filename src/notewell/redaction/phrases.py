"""Secrets as people say them: "the password for guests is …", `密码是：…`, "user anna, mdp …".

    a line with a telling word ──▶ its candidates ──▶ how is each one tied to the word? ──▶ spans

A telling word proves little in a sentence, so the looser the tie, the more a value must look like
a secret:

    SIGN    `password: …`, `пароль — …`            a password that is no plain word
    VERB    `the password is …`, `密码是…`            the same
    NEXT    `user anna, password …`                the same, unless it looks like a technical term
    NEAR    `password for the router on the 1st floor …`   a password that nobody could guess

A token, a key or a secret must always look random.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from notewell.redaction.plausible import (
    MEDIUM,
    STRONG,
    Strength,
    is_random,
    password_strength,
)
from notewell.redaction.rules import Rule
from notewell.redaction.telling_words import (
    ACCOUNTS,
    LATIN_PASSWORDS,
    LATIN_SECRETS,
    LITERALS,
    LONG_PASSWORDS,
    LONG_SECRETS,
    OTHER_PASSWORDS,
    OTHER_SECRETS,
    SHORT_PASSWORDS,
    SHORT_SECRETS,
    VERBS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Tie: TypeAlias = Literal["sign", "verb", "next", "near"]

MAX_TIE_CHARS = 60
MAX_TIE_WORDS = 8
MAX_NAME_CHARS = 20
MAX_LINE_CHARS = 400
"""Behind the telling word. A longer line is a paragraph, and its end speaks of something else."""

MAX_BEFORE_BYTES = 8
PHRASE_STRIDE_BYTES = 200
"""A word so near behind another one is read with it: the value that belongs to it, too."""

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0900-\u097f\u0e00-\u0e7f\u0600-\u06ff"

PHRASE_RULE = Rule(
    "",
    rf"(?:{LATIN_PASSWORDS}|{LATIN_SECRETS}|{OTHER_PASSWORDS}|{OTHER_SECRETS})[^\n]*?"
    r"(?:[a-z][^\s]*?[0-9!@#$%^&*+~?]|[0-9][^\s]*?[a-z])",
    LITERALS,
    any_case=True,
    proof="phrase",
    says="a value in a sentence, behind a telling word of twenty-six languages",
)

# A short word must not be the end of another one (`monkey`, `typescript`), unless capitals or
# underscores part them; a long one may (`Adminpasswort`).
_SHORT = r"(?:(?<![^\W_])|(?<=[a-z0-9])(?=(?-i:[A-Z])))"
_AFTER = r"[^\W\d_]{0,3}(?![^\W_])"
_NAME = re.compile(
    rf"(?i)(?P<password>(?:{LONG_PASSWORDS}){_AFTER}|{_SHORT}(?:{SHORT_PASSWORDS}){_AFTER}|{OTHER_PASSWORDS})"
    rf"|(?P<secret>(?:{LONG_SECRETS}){_AFTER}|{_SHORT}(?:{SHORT_SECRETS}){_AFTER}|{OTHER_SECRETS})"
)
_TOKEN = re.compile(rf"[^\s\"'`<>|,;\\“”„«»（）()【】。，、；：{_CJK}]+")
# A letter before a digit or a symbol, or a digit before a letter. Only the nearest pair is looked
# for: no other letter or digit is between, so no stretch is read twice. The same in _FOREIGN.
_ODD = re.compile(r"[^\W\d_](?:[^\w!@#$%^&*+~?]|_)*+[\d!@#$%^&*+~?]|\d[\W_]*+[^\W\d_]")
_SIGN = re.compile(r"(?:[-=]>|[:：=→–—?|]|(?:^|\s)-)[\s\"'`*_“„«「『（(]*$")
_VERB = re.compile(
    rf"(?i)(?:^|[\s\"'`*,.)])(?:{VERBS})[\s:\"'`*_“„«「『(]*$|[{_CJK}][\s:：\"'`「『“]*$"
)
_NEXT = re.compile(r"[\s\"'`*_“„«(\[]*")
# The end of a sentence, or another value: what comes then belongs to something else.
_FOREIGN = re.compile(
    r"[.!。](?:\s|$)|\n|\]\(|<|(?<![-=])>"
    r"|[`\"|{}=;<>\[\]\\](?:[^\w`\"|{}=;<>\[\]\\]|_)*+[^\W_]"
)
_PUBLIC = re.compile(r"(?i)pub(?:lic)?[ _-]?$")
_FINGERPRINT = re.compile(r"(?i)[ ]?(?:fingerprint|checksum|digest|id\b|size\b)")
_KEY_ID = re.compile(r"[0-9A-F]{16}|[0-9A-F]{40}")  # Of OpenPGP.
_LABEL = re.compile(r"[\w\s'’().@*-]*")


def phrase_end(match: Any) -> int:
    """Up to where a word is read together with the telling word of the match."""
    data: bytes = match.string
    limit = match.start() + PHRASE_STRIDE_BYTES
    end = data.find(b"\n", match.start(), limit)
    return limit if end < 0 else end


def phrase_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    """Start, end (in bytes) and kind of each secret in the line from a telling word on."""
    data: bytes = match.string
    start = match.start()
    # What is before the word tells whether it is the end of another one.
    start = max(data.rfind(b"\n", 0, start) + 1, start - MAX_BEFORE_BYTES)
    limit = match.start() + 4 * MAX_LINE_CHARS
    end = data.find(b"\n", match.start(), limit)
    end = min(len(data), limit) if end < 0 else end
    line = data[start:end].decode("utf-8", "surrogateescape")[:MAX_LINE_CHARS]
    for first, last, kind in line_secrets(line):
        before = start + len(line[:first].encode("utf-8", "surrogateescape"))
        yield before, before + len(line[first:last].encode("utf-8", "surrogateescape")), kind


def line_secrets(line: str) -> Iterator[tuple[int, int, str]]:
    for found in _TOKEN.finditer(line):
        token = found[0]
        is_cut = found.end() == MAX_LINE_CHARS or "..." in token or "…" in token
        if is_cut or not _ODD.search(token):
            continue
        value = token.rstrip(".:)]}*_").lstrip("*_[{=:")
        # Values first: most lines have none that could be a secret, and names cost more to find.
        strength = password_strength(value)
        if strength < MEDIUM:
            continue
        start = found.start() + token.index(value)
        name = _name_before(line, start)
        tie = tie_between(line[name.end() : start]) if name else None
        if name and tie and _is_secret(name, tie, value, strength):
            yield start, start + len(value), _kind(name)


def _name_before(line: str, at: int) -> re.Match[str] | None:
    names = list(_NAME.finditer(line, max(0, at - MAX_TIE_CHARS - MAX_NAME_CHARS), at))
    return names[-1] if names and names[-1].end() < at + 1 else None


def _kind(name: re.Match[str]) -> str:
    if name["password"]:
        return "password"
    return "token" if "token" in name[0].lower() else "secret"


def tie_between(text: str) -> Tie | None:
    """How a word and a value with `text` between them belong together."""
    if len(text) > MAX_TIE_CHARS or _FOREIGN.search(text):
        return None
    if _NEXT.fullmatch(text):
        return "next"
    words = len(text.split())
    if words > MAX_TIE_WORDS:
        return None
    sign = _SIGN.search(text)
    if sign:
        return "sign" if _LABEL.fullmatch(text[: sign.start()]) else "near"
    if _VERB.search(text):
        return "verb"
    return "near"


_NEEDED: dict[Tie, Strength] = {"sign": MEDIUM, "verb": MEDIUM, "next": MEDIUM, "near": STRONG}


def _is_secret(name: re.Match[str], tie: Tie, value: str, strength: Strength) -> bool:
    if name["password"]:
        return strength >= _NEEDED[tie]
    if _FINGERPRINT.match(name.string, name.end()) or _KEY_ID.fullmatch(value):
        return False
    return is_random(value) and not _PUBLIC.search(name.string[: name.start()])


# -- user and password in one breath -----------------------------------------------------------

_QUOTE = "[\"'`*“„«]*"
_WORD_VALUE = rf"{_QUOTE}([^\s\"'`<>|,;/“”（）()。，、；：]+)"
_USER = r"[\w.@-]+"
_SIGNS = " \t:：=-.@\"'`*“„«"
"""What can stand behind `conta`, which many words begin with."""

ACCOUNT_RULES = (
    Rule(
        "password",
        rf"\b(?:{ACCOUNTS})\b(?:[ ][a-zà-ÿ'-]{{1,16}}){{0,4}}?[ \t]*"
        r"(?:is|are|with|as|ist|mit|avec|con|für|for|est|es|:)?[ \t]*"
        rf"[:：=-]?[ \t]*{_QUOTE}{_USER}{_QUOTE}"
        r"(?:\s*/\s+|/|:|\s-\s|\s(?:and|und|et|y|e|i|with|mit|avec|con)\s)"
        rf"\s*{_WORD_VALUE}(?:[\s.,;!)\"'`]|$)",
        (*ACCOUNTS.replace("|conta|", "|").split("|"), *(f"conta{sign}" for sign in _SIGNS)),
        any_case=True,
        proof="account",
        says="user and password in one breath: `login anna / …`",
    ),
    Rule(
        "password",
        rf"\bu(?:ser)?[ \t]*[:=][ \t]*{_USER}[\s,;/]+p(?:w|ass)?[ \t]*[:=][ \t]*{_WORD_VALUE}",
        ("u:", "u=", "user:", "user=", "u :", "user :"),
        any_case=True,
        proof="weak",
        says="`u: anna p: …`",
    ),
    Rule(
        "password",
        rf"(?m)(?:^|[\s,;(])p(?:w|ass)?[ \t]*[:=][ \t]*{_WORD_VALUE}[\s,;/]+u(?:ser)?[ \t]*[:=]",
        ("u:", "u=", "user:", "user=", "u :", "user :"),
        any_case=True,
        proof="weak",
        says="`p: … u: anna`",
    ),
    Rule(
        "password",
        rf"\bcred(?:s|entials)?:[ ]+{_USER}[ ]+{_WORD_VALUE}",
        ("cred",),
        any_case=True,
        proof="password",
        says="`creds: anna …`",
    ),
)
