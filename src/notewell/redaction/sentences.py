"""Secrets that somebody tells in a sentence, with words between the topic and its value.

    SENTENCE_RULE (a topic) ──▶ the words of its line (message_lines.py) ──▶ behind it, before it, in the answer below (asked.py)

`labelled.py` reads a value beside its name. Here the tie is looser, so a value must not be a plain word
of a sentence, unless a sign or its abbreviation (`pw`) points at it.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.redaction.answers import corrected_in_line, replies
from notewell.redaction.around import chosen_beside
from notewell.redaction.asked import answers_below, listed_below
from notewell.redaction.message_lines import body_at
from notewell.redaction.neighbours import values_around
from notewell.redaction.plain_words import NOT_PLAIN
from notewell.redaction.plausible import (
    MEDIUM,
    STRONG,
    is_passphrase,
    is_token,
    password_strength,
)
from notewell.redaction.rules import Rule
from notewell.redaction.topics import (
    AGED,
    CLOSED,
    CODES,
    CURRENTLY,
    IS,
    ITS,
    KEYS,
    LOGINS,
    MENDED,
    NETWORK_KEYS,
    NETWORKS,
    PASSWORDS,
)
from notewell.redaction.weak_values import (
    is_code,
    is_joined,
    is_long_word,
    is_odd,
    is_phrase,
    is_run_together,
    is_weak_password,
    names_a_secret,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Span = tuple[int, int]
MAX_LINE_CHARS = 300
BELOW_BYTES = 600
ABOVE_BYTES = 300

SENTENCE_RULE = Rule(
    "password",
    rf"(?P<password>{PASSWORDS}|{NETWORK_KEYS})|(?P<code>{CODES})|(?P<key>{KEYS})|(?P<login>{LOGINS})|(?P<mended>{MENDED})|(?P<network>{NETWORKS})",
    (),
    any_case=True,
    proof="sentence",
    says="a value that somebody tells in a chat, a mail or a note, with words between: `change password (currently …)`, "
    "`need the login` and the answer in the next lines, a list below `passwords:`; a password that somebody chose (`Sommer2025`, "
    "`walnut-olive-reed-sail`) anywhere in a line that talks of one, whatever the words",
)


class Topic(NamedTuple):
    """A word that a secret may belong to, in its line."""

    group: str
    word: str
    before: str
    """The words of the line before it, without stamps and speakers."""
    tail: str
    """The rest of the line."""


_VALUE = r"[\"'`“„«「*_]{0,3}(?P<a>[^\s\"'`“”„«»「」<>|,;()（）]{4,80}+)[\"'`”“»」*_]{0,3}"
_END = r"(?=[ \t]*(?:$|[,;.)(\"\\<]|[–—]|and\b|but\b|und\b|et\b|y\b|for\b|on\b|user\b|as\b|now\b|if\b|until\b|please\b|pls\b|[^\x00-\u024f]))"
_WORD = r"[^\W\d_][\w'’./@-]{0,30}"
_ENDING = re.compile(r"[^\W\d_A-Z]{0,6}+(?![\w-])")
_ENGLISH = re.compile(r"pass(?!ord|wort)|p/?w|p@|psw|psk")
_DIGIT = re.compile(rb"\d")
_WITH_DIGITS = frozenset({"code", "key"})
_WORDS = re.compile(
    rf"(?i)(?:[ ,]+{_WORD}){{0,6}}?(?:[ ](?:{IS}))?(?:[ ]*[:：=→]|[=-]>|(?<=is)|(?<=ist)|(?<=est)|(?<=es))[ ]+[\"'“„«*`]{{0,3}}(?P<a>[^\W\d_]{{3,12}}(?:[ ][^\W\d_]{{3,12}}){{3,7}}?)(?=[ ]?[.!]?{CLOSED})"
)
_AGED_PAIR = re.compile(
    rf"(?i)[ :]+{_VALUE}[ ]*(?:[,;/(]|->|→|and\b|und\b|et\b|y\b|e\b)+[ ]*(?:the[ ]|das[ ]|le[ ])?(?:{AGED})\b"
)
_REMARK = re.compile(rf"(?i)(?:[ ]{_WORD}){{0,2}}[ ]?\((?P<now>(?:{CURRENTLY})[ :]+)?{_VALUE}\)")
_SIGN = re.compile(
    rf"(?:[ ,]+{_WORD}){{0,9}}?(?:[ ]?\([^()\n]{{1,40}}\))?[ ]?(?:[:：=→]|[=-]>|[ ][–—-](?=[ ]))[ ]*{_VALUE}{_END}"
)
_VERB = re.compile(
    rf"(?i)(?:[ ,]+{_WORD}){{0,8}}?[ ,]+(?:{IS})(?:[ ](?:now|still|just|jetzt|noch|maintenant|ahora|agora|nu|teraz|теперь|зараз))?[ :]+(?:\([^()\n]{{1,40}}\)[ ]*)?{_VALUE}"
)
_NEXT = re.compile(rf"(?i)[ :]+(?:(?:{AGED})[ :]+)?(?:\([^()\n]{{1,40}}\)[ ]*)?{_VALUE}")
_FROM = re.compile(
    rf"(?i)(?:[ ]+{_WORD}){{0,5}}?[ ]+(?:from|von|de|da|z|с|från|fra|van)[ ]{_VALUE}[ ]"
)
_PAIR = re.compile(
    rf"(?i)(?:[ ,]+{_WORD}){{0,7}}?[ ,:–—-]+[\w.@+-]{{2,60}}(?:[ ]/[ ]|[ ]?[:/|][ ]?|[ ](?:and|und|et|y|e|i|with|mit|avec|con|og|och|ja|și|a|ve|dan|и|та)[ ]){_VALUE}{_END}"
)
_TIGHT_PAIR = re.compile(rf"(?i)s?[ :]+[a-z][\w.-]{{1,30}}[/:][a-z]{{4,20}}(?={CLOSED})")
_ARROW_PAIR = re.compile(
    rf"(?i)s?[ ](?:[\w.-]+[ ]){{1,4}}?(?:->|→|=>|:|=)[ ]?[\w.@-]{{2,40}}[ ]{_VALUE}(?={CLOSED})"
)
_LOGIN_WITH = re.compile(
    rf"(?i)(?:[ ,]+{_WORD}){{0,3}}?[ ](?:with|mit|avec|con|com|med|met|using|cu|με)[ :]+{_VALUE}{_END}"
)
_MENDED = re.compile(
    rf"(?i)[,:.!–—… -]{{1,4}}(?:{_WORD}[ ]){{0,2}}?(?:{ITS})[ :]+{_VALUE}[ ]?(?=$|[.!,(\"<]|now\b|jetzt\b|instead\b)"
    rf"|[,:.!–—… -]{{1,4}}{_VALUE.replace('<a>', '<b>')}[.!]?[\"<]?(?:$|[ ]\()"
)
_NETWORK = re.compile(
    rf"(?i)(?:[ ,:]+[\w.'’\"“”-]{{1,30}}){{0,5}}?[ ,]+(?:(?:key|code|pw|pass|pin|schlüssel|clé|clave|chave|chiave|kod|kode|kodu|код|ключ|klucz|sleutel|nyckel|nøkkel)\w{{0,3}}|[–—/|-]|→)(?:[ ]*(?:{IS}))?[ :=]+{_VALUE}{_END}"
)
_KEY_WORD = re.compile(
    r"(?i)\b(?:key|code|pw|pass|schlüssel|clé|clave|chave|chiave|sleutel|ключ)\b[ ]?[:=]"
)
MAX_MESSAGE_CHARS = 120
_DASHES = frozenset("-–—")
_ABBREVIATED = frozenset({"pw", "pwd", "psw", "mdp", "ww", "p/w", "passw"})
_PROSE_ENDINGS = ("ing", "ed", "ly", "tion", "able", "ment", "ness", "ity", "words")
_PARTICIPLES = (
    "eno", "áno", "ano", "ado", "ada", "ato", "ata", "ată", "ert", "ttu", "tty", "tett", "tva", "ldi", "ldı", "miş", "mış", "iert", "rat", "tat", "dat", "ită",
)  # fmt: skip
_PAUSES = ("", ",", ";", "-", "–", "—", "(", "/", ".", ":")
_CODE = re.compile(r"[A-Za-z0-9]{4,20}[#*]?|[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{2,8}){1,7}[#*]?")
_PROVIDERS = frozenset(
    "google github facebook apple microsoft twitter linkedin gitlab email mail phone sso saml slack discord okta logout register signup sign".split()  # noqa: SIM905
)
_LOOSE = re.compile(
    rf"(?:[ ]+{_WORD}){{0,2}}[ ]+(?!(?:for|of|on|at|to|in|from|by|with|as|or|and|für|von|vom|auf|pour|du|de|la|en|para|do|da|di|per|van|voor|na|для|на|від|от|för|til|till|på)[ ]){_WORD}[ ]{_VALUE}[.!]?[\"}}<]*$"
)
_TO = re.compile(
    rf"(?i)(?:[ ]+{_WORD}){{0,3}}?[ ]+(?:from|von|de|da|z|с|från|fra|van)[ ]\S{{4,80}}[ ](?:to|auf|à|a|para|su|na|на|til|till|naar)[ ]{_VALUE}"
)
_BEFORE = re.compile(
    rf"(?i)(?:^|[ ][–—-][ ]|[.!?:][ ])[\"'`“„«「*]{{0,3}}(?P<a>[^\s\"'`“”„«»「」<>|,;()（）]{{4,80}}+)[\"'`”“»」*]{{0,3}}[ ]?"
    rf"(?P<tie>[(（=]|&lt;-+|<[-=]+|←|[–—-](?=[ ])|,|(?<=[\s\"'`”»])(?:{IS}|as|als|comme|como)(?![\w]))[ ]*(?:{_WORD}[ ]){{0,5}}[\w-]{{0,16}}$"
)
_OF = re.compile(
    r"(?i)[ ](?:for|of|on|to|für|von|vom|pour|du|de|del|do|da|di|van|voor|от|для|na|för|til|till)\b"
)
_TURNED_ENDS = re.compile(
    r"(?i)\w{0,6}[ ]?(?:$|[.,;!?)\"'<}]|(?:for|of|on|to|in|für|von|vom|pour|du|de|del|do|da|di|van|voor|от|для|na|k|för|til|till|now|btw)\b)"
)


def sentence_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    """Start, end (in bytes) and kind of each secret that is told around the topic of `match`."""
    data: bytes = match.string
    start, end = match.span()
    if _is_identifier(data, start, end) or (
        match.lastgroup in _WITH_DIGITS and not _DIGIT.search(data, max(0, start - 60), end + 160)
    ):
        return
    line_at = data.rfind(b"\n", max(0, start - MAX_LINE_CHARS), start) + 1
    limit = end + 2 * MAX_LINE_CHARS
    line_end = data.find(b"\n", end, limit)
    line_end = len(data) if line_end < 0 else line_end
    if line_end > limit or (line_at == 0 and start > MAX_LINE_CHARS):
        return
    whole = _text(data[line_at:start])
    body = min(body_at(whole), len(whole))
    tail = _text(data[end:line_end])
    word = _text(data[start:end])
    topic = Topic(match.lastgroup or "", word.lower(), whole[body:], tail)
    if topic.group == "password" or _is_other_topic(topic):
        line = whole + word + tail
        for span in chosen_beside(line, len(whole), len(whole) + len(word), body=body):
            yield *_in_bytes(line, span, line_at), SENTENCE_RULE.kind
    turned = corrected_in_line(topic.before, topic.tail) if topic.group == "password" else ()
    for is_before, (first, last) in turned:
        text, offset, at = (whole, line_at, body) if is_before else (tail, end, 0)
        yield *_in_bytes(text, (at + first, at + last), offset), SENTENCE_RULE.kind
    for span in behind(topic):
        yield *_in_bytes(tail, span, end), SENTENCE_RULE.kind
    for first, last in ahead(topic):
        yield *_in_bytes(whole, (body + first, body + last), line_at), SENTENCE_RULE.kind
    if topic.group in {"password", "code", "login"}:
        for first, last in _in_other_lines(topic, data, line_at, line_end):
            yield first, last, SENTENCE_RULE.kind


def _is_other_topic(topic: Topic) -> bool:
    """A short line of a network and its key."""
    if topic.group != "network" or len(topic.before) + len(topic.tail) > MAX_MESSAGE_CHARS:
        return False
    return _KEY_WORD.search(topic.tail) is not None


def _in_other_lines(topic: Topic, data: bytes, line_at: int, line_end: int) -> Iterator[Span]:
    below = _below(data, line_end)
    for span in (
        *answers_below(topic.before, topic.tail, topic.group, below),
        *listed_below(topic.before, topic.word, topic.tail, topic.group, below),
        *replies(topic.before, topic.word, topic.tail, topic.group, below),
    ):
        yield _in_bytes(below, span, line_end)
    if topic.group == "code":
        return
    first = max(0, line_at - ABOVE_BYTES)
    above = _text(data[first : max(0, line_at - 1)])
    for where, span in values_around(topic.before, topic.word, topic.tail, above, below):
        text, offset = (below, line_end) if where == "below" else (above, first)
        yield _in_bytes(text, span, offset)


def _below(data: bytes, line_end: int) -> str:
    """The next lines, each as a whole: half a value must not be taken for one."""
    below = data[line_end : line_end + BELOW_BYTES]
    return _text(below if len(below) < BELOW_BYTES else below.rpartition(b"\n")[0])


def _is_identifier(data: bytes, start: int, end: int) -> bool:
    """Whether the topic is part of a name in code; `labelled.py` reads those."""
    before, first, after = data[start - 1 : start], data[start : start + 1], data[end : end + 2]
    if before == b"(":
        return data[start - 2 : start - 1].isalnum()
    if before == b"-":
        return not data[start - 2 : start - 1].isalpha()
    if before and (before in b"_.$/\\&@{[" or (first.isupper() and before.islower())):
        return True
    return after[:1] in (b"_", b"(", b"[", b"=", b"/", b"\\") or (
        after[:1] == b"." and after[1:].isalnum()
    )


def behind(topic: Topic) -> Iterator[Span]:
    """The values behind a topic, in its line."""
    tail = topic.tail
    match topic.group:
        case "mended":
            found = _MENDED.match(tail)
            if found:
                group = "a" if found["a"] else "b"
                if is_unlike_prose(found[group].rstrip(".!?:")):
                    yield _trimmed(found, group)
        case "network":
            yield from _taken(_NETWORK.match(tail), is_weak_password)
        case "login":
            yield from _logins(topic)
        case _:
            yield from _beside(topic)


def ahead(topic: Topic) -> Iterator[Span]:
    """The value before a topic: `… <- that's the admin pw`."""
    if topic.group not in {"password", "code", "key"} or not _TURNED_ENDS.match(topic.tail):
        return
    found = _BEFORE.search(topic.before[-MAX_LINE_CHARS:])
    if not found:
        return
    is_pointed = found["tie"] in {"<-", "<--", "<=", "←", "&lt;-"} or (
        found["tie"] == "=" and _OF.match(topic.tail)
    )
    is_value = _VALUES.get(topic.group, is_unlike_prose)
    yield from _taken(found, is_weak_password if is_pointed else is_value)


def _logins(topic: Topic) -> Iterator[Span]:
    pair = _PAIR.match(topic.tail)
    is_line = pair is not None and not topic.before.strip() and " / " in pair[0]
    if pair and pair["a"].lower() in _PROVIDERS:
        return
    # `login anna/kettle` and nothing else.
    is_line |= (
        pair is not None and not topic.before.strip() and _TIGHT_PAIR.match(topic.tail) is not None
    )
    yield from _taken(pair, is_weak_password if is_line else is_unlike_prose)
    yield from _taken(_ARROW_PAIR.match(topic.tail), is_weak_password)
    yield from _taken(_LOGIN_WITH.match(topic.tail), _is_no_product)


def _beside(topic: Topic) -> Iterator[Span]:
    ending = _ENDING.match(topic.tail)
    if not ending:
        return
    at, tail = ending.end(), topic.tail
    is_likely = _VALUES.get(topic.group, is_unlike_prose)
    if remark := _REMARK.match(tail, at):
        yield from _taken(remark, is_weak_password if remark["now"] else is_likely)
    if sign := _SIGN.match(tail, at):
        is_apart = topic.group == "password" and tail[sign.start("a") - 1] in " \"'`*“„«"
        # `change the password - anna`: the name of the writer.
        is_apart = is_apart and not (
            (topic.before.strip() or " " in tail[at : sign.start("a")].strip())
            and tail[: sign.start("a")].rstrip(" \"'`*“„«")[-1:] in _DASHES
        )
        yield from _taken(sign, is_weak_password if is_apart else is_likely)
    if verb := _VERB.match(tail, at):
        is_end = not _ENGLISH.match(topic.word) and not tail[verb.end() :].strip(' .!"}<')
        is_end = is_end and not verb["a"].lower().endswith(_PARTICIPLES)
        yield from _taken(
            verb, is_weak_password if is_end and topic.group == "password" else is_likely
        )
    if topic.group == "password":
        yield from _phrases(tail, at)
        yield from _taken(_AGED_PAIR.match(tail, at), is_weak_password)
    yield from _taken(_FROM.match(tail, at), is_likely)
    yield from _taken(_TO.match(tail, at), is_likely)
    yield from _taken(_LOOSE.match(tail, at), is_likely)
    is_short = topic.word in _ABBREVIATED and topic.before.rstrip()[-1:] in _PAUSES
    if next_ := _NEXT.match(tail, at):
        is_last = not tail[next_.end() :].strip(' .!)"}<')
        yield from _taken(next_, is_weak_password if is_short and is_last else is_likely)


def _phrases(tail: str, at: int) -> Iterator[Span]:
    """Four to eight plain words, as a generator of passphrases makes them: no sentence has no grammar."""
    found = _WORDS.match(tail, at)
    if not found or not found["a"].islower() or not is_passphrase(found["a"]):
        return
    words = found["a"].split()
    is_prose = any(word.endswith(_PROSE_ENDINGS) or word in NOT_PLAIN for word in words)
    if not is_prose and not names_a_secret(found["a"]):
        yield found.span("a")


def _taken(found: re.Match[str] | None, is_value: Callable[[str], bool]) -> Iterator[Span]:
    is_call = found is not None and found.string.startswith("(", found.end("a"))
    if found and not is_call and is_value(found["a"].rstrip(".:!?*_\\") or found["a"]):
        yield _trimmed(found, "a")


def _trimmed(found: re.Match[str], group: str) -> Span:
    value = found[group].rstrip(".:*_\\")
    return found.start(group), found.start(group) + len(value)


def is_unlike_prose(value: str) -> bool:
    """No word of a sentence: a strong password, a phrase, words run together, a code."""
    if not is_weak_password(value):
        return False
    is_year = len(value) == 4 and value[:2] in {"19", "20"}
    return (
        password_strength(value) >= MEDIUM
        or is_joined(value)
        or is_run_together(value)
        or is_long_word(value)
        or is_odd(value)
        or (is_code(value) and not is_year)
    )


def _is_no_product(value: str) -> bool:
    """Not `GitHub`, `OpenRouter`: two words run together."""
    return is_unlike_prose(value) and (not is_run_together(value) or is_phrase(value))


def _is_code_value(value: str) -> bool:
    """A code is digits, perhaps with letters; a phrase beside `code` is something else."""
    digits = sum(char.isdigit() for char in value)
    return digits > 2 and _CODE.fullmatch(value) is not None and is_unlike_prose(value)


def _is_key_value(value: str) -> bool:
    return password_strength(value) == STRONG or (
        is_token(value) and sum(map(str.isdigit, value)) > 3
    )


_VALUES: dict[str, Callable[[str], bool]] = {"code": _is_code_value, "key": _is_key_value}


def _in_bytes(text: str, span: Span, offset: int) -> Span:
    first = offset + len(text[: span[0]].encode("utf-8", "surrogateescape"))
    return first, first + len(text[span[0] : span[1]].encode("utf-8", "surrogateescape"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
