"""Passwords anywhere in a line that talks of one, whatever the words between.

    "put §1 in when it asks for the root password"   "the password is no longer §1 but §2"

In prose about passwords nothing else looks like one: 50 MB of documentation have 10 such words. So the value
needs no grammar that ties it to its topic, only a shape that no word of a sentence has:

    clear    `Silv3rjungl3!`, `walnut-olive-silver-reed`      anywhere in the line
    likely   `Sommer2025`, `Charlie.133`, `GartenFiddleSoleil`    in a short line, but not as the name of a thing (`for nas01`);
             in a paragraph at the edge of a clause, or handed over by a verb
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.redaction.compiled import compile_later
from notewell.redaction.plain_words import NOT_PLAIN
from notewell.redaction.plausible import MEDIUM, STRONG, is_jumbled, password_strength
from notewell.redaction.weak_values import is_joined, is_run_together, names_a_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
Look: TypeAlias = Literal["clear", "likely"]

MIN_CHOSEN_CHARS = 6
MAX_CHOSEN_CHARS = 60
MAX_APART_CHARS = 140
"""From the topic to the value: a sentence. What is further away belongs to something else."""
MAX_MESSAGE_CHARS = 160
"""A longer line is a paragraph, where three words with hyphens may be an adjective."""
MIN_CLEAR_WORDS = 4
MIN_LIKELY_WORDS = 3

_TOKEN = compile_later(r"[^\s\"'`“”„«»「」<>|,;()（）\[\]]{6,}")
_MAYBE = compile_later(
    r"[^\W\d_][^\s\w]?\d|\d[^\W\d_]|[^\W\d_][!@#$%^&*+=?~.-][^\W\d_]|[a-zß-ÿ][A-Z][A-Za-z]|[A-Z]{2}[a-z]|_[^\W_]+_|[a-z]!"
)
"""What every chosen password has, and most lines have not."""
_CODE = compile_later(
    r"\w\(\)?|[{};]\s*$(?<!\"\})|=>|::|&&|\|\||</?[a-z]|\$[{(\w]|^\s*(?://|/\*|\*\s*@|#!|%)|\b(?:return|def|const|import|function|elif)\b|^\s*[\w.-]+\s*[:=]\s*[\[{]\s*$|--[a-z]|==|\w\.\w+\.\w+ ?="
)
_SPANS_OF_CODE = compile_later(r"`[^`]*`|\]\([^)\s]*\)|[a-z]+://\S+")
_NO_PASSWORD = compile_later(
    r"[#@/.$%&~\\*+=-].*|.*[\\/].*|.*://.*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[A-Za-z_]\w*=.*"
    r"|(?i:[0-9a-f]{7,64}|[0-9a-f]{2}(?::[0-9a-f]{2}){3,}|[0-9a-f]{8}-[0-9a-f-]{20,})|v?\d+(?:[.:/-]\d+)*[a-z%]{0,4}|[A-Z]{1,5}-?\d{2,5}\+?[A-Za-z]?(?:-\w{1,6})*"
    r"|(?i:\d{1,4}[-./]\w{2,9}[-./]\d{1,4}|[a-z][a-z\d.-]*:\d{2,5}|(?:pkcs|[al]?gpl|cve|rfc|iso|utf)[-#]?\d.*|.*-v?\d+(?:\.\d+)+|.*(?:password|sha\d|github|oauth|openssl|localhost|example|\.(?:local|lan|com|org|net|io|de|svc|internal|arpa|p12|pem|key|pfx|crt|kdbx?|md|txt|pdf|docx?|xlsx?)$).*)|[A-Z]\w+-[a-z]+-[a-z]+"
)
_HANDED = compile_later(
    r"(?i)(?:^|[\s\"'`(*])(?:us(?:e|ed|ing)|typ(?:e|ed)|enter(?:ed)?|put(?: in)?|giv(?:e|en)|set|tr(?:y|ied)|tak(?:e|en)|took|pick(?:ed)?|chos(?:e|en)|is|was|are|be|now|it['’]?s|that['’]?s|to|with|by|no longer|but|not|as|says|reads|became|changed|means"
    r"|nimm|nutze?|ist|war|jetzt|gib|lautet|mit|mehr|sondern|mets|utilise|tape|est|c['’]est|avec|plus|mais|usa|uso|usar|pon|es|era|con|ahora|sino|use|com|é|agora|è|ora|usa|metti|is|nu|met|gebruik|to|jest|było|teraz|je|bylo|este|acum|är|var|er|med|on|oli|это|теперь|был|це|зараз)[\s:]+[\"'`“„«*_(]*$"
    r"|(?:[=:：→]|[-=]>|[–—(\"“«„]|\s-)[\s*_\"'`“„«]*$"
)
_ENDS = compile_later(
    r"[\"'`”“»*_]*(?:[.!?]?(?:$|[\s\"'”})])(?=$|\s*$|\s*[\"'}])|[.,;!?)\]](?:\s|$)|\s*(?:[-–—(|/<=←:;]|\.\.)|\s+(?:and|but|as|at|so|until|till|please|pls|plz|thx|thanks|now|if|when|while|because|again|und|bitte|bis|als|aber|et|svp|merci|jusqu|comme|y|por favor|hasta|como|e|per favore|come|en|tot|oraz|i|proszę|prosím|och|tack|ja|kiitos|и|до|пожалуйста)\b)"
)
_OF_A_THING = compile_later(
    r"(?i)(?:^|[\s(])(?:for|of|on|at|in|from|by|via|per|into|onto|to|über|für|von|vom|auf|bei|im|am|zum|zur|beim|aus|pour|du|de|sur|chez|dans|des|del|para|do|da|no|na|di|su|nel|van|voor|op|bij|dla|od|pro|ke|för|till|på|til|для|от|на|від|user(?:name)?|account|log-?in|host|server|machine|router|ticket|version"
    r"|model|the|an?|my|our|your|this|das|der|die|dem|den|le|la|les|el|los|il|het|nutzer|benutzer|konto|compte|usuario|utente|and|or|und|et)[\s\"'`“„«*]+$|[\w.]@$"
)
_FIRST = compile_later(r"[\s\"'`“„«*_(>\[\]-]*$|.*(?:[.!?:;,]|\s[-–—])[\s\"'`“„«*_(]+$")
_HYPHENATED = compile_later(r"[a-z]+(?:-[a-z]+)+")


def chosen_beside(line: str, start: int, end: int, *, body: int) -> Iterator[Span]:
    """The spans of chosen passwords in `line`, whose topic is from `start` to `end` and whose words begin at `body`."""
    if not _MAYBE.search(line, body) or is_code(line[body:]):
        return
    code = [found.span() for found in _SPANS_OF_CODE.finditer(line)]
    for found in _TOKEN.finditer(line, max(body, start - MAX_APART_CHARS), end + MAX_APART_CHARS):
        value = found[0].rstrip(".:?*_…")
        if not found[0].endswith(("!", "!.")):
            value = value.rstrip("!")
        first = found.start() + len(value) - len(value := value.lstrip("*_"))
        last = first + len(value)
        if first < end and last > start:
            continue
        look = look_of(value)
        if look is None or (line[last:][:1] in "(=" and line[last:]):
            continue
        is_inside = any(at <= first < until for at, until in code)
        if is_inside and (look == "likely" or value.isalnum()):
            continue
        if look == "likely" and "-" in value and len(line) > MAX_MESSAGE_CHARS:
            continue
        if look == "clear" or _is_handed(
            line[body:first], line[last:], is_short=len(line) <= MAX_MESSAGE_CHARS
        ):
            yield first, last


def is_code(line: str) -> bool:
    return _CODE.search(line) is not None


def look_of(value: str) -> Look | None:
    """How much a value looks like a password that somebody chose; None for a word, a name or a number."""
    if not MIN_CHOSEN_CHARS <= len(value) <= MAX_CHOSEN_CHARS or not value[:4].isascii():
        return None
    if value.isalpha() and value[1:].islower():
        return None  # A word, as most are: the tests below would say the same.
    if _NO_PASSWORD.fullmatch(value) or names_a_secret(value.lower()):
        return None
    strength = password_strength(value)
    if strength == STRONG:
        return "clear"
    words = len(re.split(r"[-_.]", value))
    if is_joined(value) and value[-2:].isdigit() and not value.islower():
        return "likely"
    if is_joined(value) and not any(map(str.isdigit, value)):
        if not NOT_PLAIN.isdisjoint(re.split(r"[-_.]", value.lower())):
            return None  # `two-factor-auth`
        is_clear = words >= MIN_CLEAR_WORDS and not _HYPHENATED.fullmatch(value)
        return "clear" if is_clear else ("likely" if words >= MIN_LIKELY_WORDS else None)
    if strength >= MEDIUM or is_jumbled(value):
        return "likely"
    return "likely" if is_run_together(value) and _is_phrase(value) else None


def _is_phrase(value: str) -> bool:
    """Two words may be a product: `GitHub`, `PowerShell`."""
    return sum(map(str.isupper, value)) >= MIN_LIKELY_WORDS or value[-1] in "!0123456789"


def _is_handed(before: str, after: str, *, is_short: bool) -> bool:
    if _HANDED.search(before):
        return True
    if _OF_A_THING.search(before):
        return False
    return is_short or bool(_ENDS.match(after) or _FIRST.fullmatch(before))
