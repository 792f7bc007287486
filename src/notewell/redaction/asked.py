"""Values in the lines below a topic: the answer to a question, the items of a list below a heading."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from notewell.redaction.message_lines import body_at
from notewell.redaction.plausible import MEDIUM, STRONG, is_passphrase, password_strength
from notewell.redaction.topics import IS, NO_ANSWERS, QUESTION_SIGNS, QUESTIONS
from notewell.redaction.weak_values import (
    is_code,
    is_joined,
    is_long_word,
    is_run_together,
    is_weak_password,
    is_word_alone,
    names_a_secret,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
MAX_ASKED_CHARS = 90
MAX_ITEMS = 16

_QUESTION = re.compile(rf"(?i)(?<![\w’'])(?:{QUESTIONS})(?![\w])|{QUESTION_SIGNS}")
_MARK = re.compile(r"[?？؟](?=$|[\s\"'*_)}])|[？؟]|(?<=[\u0370-\u03ff]);$")
_YES_OR_NO = re.compile(
    r"(?i)(?:is|are|was|did|does|can i|should|will|must|ist|hat sich|why|warum|pourquoi|how|when|where|wo\b|where's)\b"
)
_ANSWER = re.compile(
    r"(?i)(?:(?:yes|yep|yeah|sure|ok|okay|oh|hi|well|hmm+|uh|ah|here|ja|klar|oui|sí|si|sim|sì|tak|да|так|evet|igen|joo|jo|ano|da|ναι|có|ya|好的|はい|네)[,.!:]*[ ]+)?"
    rf"(?:(?:i think|i believe|i guess|pretty sure|probably|glaub|glaube|ich glaube|je crois|creo que|acho que|credo|penso|i(?:['’]ve)? used?|we use|i set|try|use|nimm|versuch(?:e|s mal)?|essaie|essaye|prueba|tenta|prova|probeer|spróbuj|попробуй|dene|prøv|prova|kokeile|próbáld|zkus|încearcă|δοκίμασε|thử|coba|спробуй)[ :]+(?:that )?)?"
    rf"(?:(?:{IS}|that['’]?s|this is|es ist|das ist|det är|det er|se on|το|het is|dit is|questa è|这是|是|はい)[ :]+){{0,2}}(?:still |now |just |noch |mit )?"
    r"(?P<q>[\"'`“„«「*_]{0,3})(?P<a>[^\s\"'`“”„«»「」<>|]{3,80})[\"'`”“»」*_]{0,3}"
    r"(?P<rest>[ \t]*(?:[,.!(–—-].{0,60}|(?P<think>i think|i guess|i believe|glaube? ich|je crois|creo|acho|credo|mislim|now|iirc|if i remember.{0,30}|:\)|;\)|です|だよ|입니다|이야|है).{0,20})?[\"}\]\s.!]*)$"
)
_ITEM = re.compile(
    r"(?P<label>(?:[^\W\d_][\w.'’ @/-]{0,40}?(?:[ ]?[:=–—→-]+|[ ]))?)[ ]*[\"'`“*]{0,2}(?P<a>[^\s\"'`“”<>|,;]{4,80})[\"'`”*]{0,2}[ ]*(?:\([^()]{0,40}\))?[\"}.]*$"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|(?:19|20)\d\d-(?:19|20)\d\d|\d\d:\d\d|=====")
_NAMES = re.compile(r"(?:[^\W_][\w'’&/-]*[ ]){0,4}[\w-]{0,12}")
_HEADING = re.compile(r"[^.?!]{0,40}[:：][*_]{0,2}[ ]*$|[*_]{0,2}[ ]*$")


def answers_below(before: str, tail: str, group: str, below: str) -> Iterator[Span]:
    """The spans in `below` of the answer to a question for a secret."""
    if len(before) + len(tail) > MAX_ASKED_CHARS or not _asks(before, tail):
        return
    lines = list(_lines(below, 2))
    if not lines:
        return
    at, body = lines[0]
    answer = _ANSWER.match(body)
    if not answer:
        phrase = body.strip("\"'}` .")
        if (
            group == "password"
            and _MARK.search(tail)
            and len(phrase.split()) > 3
            and phrase.islower()
            and is_passphrase(phrase)
            and not names_a_secret(phrase)
        ):
            yield at + body.index(phrase), at + body.index(phrase) + len(phrase)
        return
    if group == "login" and len(lines) > 1 and (second := _ANSWER.fullmatch(lines[1][1])):
        # The user first, then the password.
        is_alone = not (answer["rest"] + second["rest"]).strip(' .!"}')
        if _is_answer(second["a"], group, is_sure=is_alone):
            yield _span(second, lines[1][0])
    if group != "login" or password_strength(answer["a"]) >= MEDIUM:
        is_alone = bool(answer["think"]) or not answer["rest"].strip(' .!"}')
        if _is_answer(answer["a"], group, is_sure=is_alone):
            yield _span(answer, at)


def listed_below(before: str, word: str, tail: str, group: str, below: str) -> Iterator[Span]:
    """The spans in `below` of the items of a list, if the line of the topic is its heading."""
    if group == "login" or len(before) > 40 or not _HEADING.fullmatch(tail):
        return
    if not _NAMES.fullmatch(before):
        return
    has_sign = tail.rstrip(" *_")[-1:] in {":", "："}
    is_plural = has_sign and (word.endswith("s") or tail[:1] == "s")
    for number, (at, body) in enumerate(_lines(below, MAX_ITEMS, is_list=True)):
        item = _ITEM.match(body)
        if not item or (item["label"] and not (is_plural or has_sign)):
            return
        value = item["a"].rstrip(".:*_")
        is_certain = (
            is_long_word(value)
            or password_strength(value) >= MEDIUM
            or is_joined(value)
            or is_run_together(value)
            or is_code(value)
        )
        if not is_weak_password(value) or not is_certain:
            return
        yield at + item.start("a"), at + item.start("a") + len(value)
        if not is_plural and number:
            return


def _asks(before: str, tail: str) -> bool:
    if _YES_OR_NO.match(before):
        return False
    line_end = tail.rstrip(' \t"}*_')
    has_mark = _MARK.search(line_end) is not None
    if not has_mark and line_end[-1:] in set(".:!,"):
        return False
    # Without a mark: one of the first words asks, or the last one.
    return (
        has_mark
        or _QUESTION.search(before[:24]) is not None
        or _QUESTION.search(tail[-16:]) is not None
    )


def _lines(below: str, count: int, *, is_list: bool = False) -> Iterator[tuple[int, str]]:
    """Where the words of the next lines begin, and the words; empty lines before the first are left out."""
    at, found = below.find("\n") + 1, 0
    if not at:
        return
    for line in below[at:].split("\n"):
        begins = body_at(line, is_spoken=not is_list)
        body = line[begins:].rstrip()
        if body:
            yield at + begins, body
            found += 1
        elif found:
            return
        if found == count:
            return
        at += len(line) + 1


def _is_answer(value: str, group: str, *, is_sure: bool) -> bool:
    value = value.rstrip(".,:!?*_") or value
    if value.lower() in NO_ANSWERS or not (
        is_weak_password(value) or (is_sure and is_word_alone(value))
    ):
        return False
    if (
        _DATE.match(value)
        or (value[:1] in "@_-&" and password_strength(value) < STRONG)
        or ("," in value and password_strength(value) < STRONG)
    ):
        return False
    if group == "code" and not any(char.isdigit() for char in value):
        return False
    return (
        is_sure
        or password_strength(value) >= MEDIUM
        or is_joined(value)
        or is_run_together(value)
        or is_code(value)
    )


def _span(found: re.Match[str], at: int) -> Span:
    value = found["a"].rstrip(".,:!?*_") or found["a"]
    if value == found["a"].rstrip("!"):
        value = found["a"]  # It may end with one.
    return at + found.start("a"), at + found.start("a") + len(value)
