"""Secrets that a message has alone: the answer some messages below a request, what is corrected, a value before its words.

"can you send me the password?"      "the password is §1, not §2"      "§ is the new password"
"sure, one sec"                      "neither § nor § works"
"§"
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.redaction.around import is_code as is_program
from notewell.redaction.around import look_of
from notewell.redaction.compiled import compile_later
from notewell.redaction.message_lines import body_at
from notewell.redaction.topics import ITS, NO_ANSWERS
from notewell.redaction.weak_values import is_code, is_plain_word, is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
MAX_REQUEST_CHARS = 110
MAX_REPLIES = 3
MAX_REPLY_CHARS = 70
MAX_VALUE_LINE_CHARS = 120
_LOOSE = frozenset({"to", "into", "auf", "в", "на"})
"""Any word may follow: `change it to something longer`."""

_ASKS = compile_later(
    r"(?i)\b(?:send|give|tell|need|share|schick|sende?|gib|sag|brauche?|donne|envoie|passe|dis|file|pasa|p[áa]same|dame|dime|manda|mande|passa|fala|diz|mi dai|dammi|mandami|podaj|daj|wyślij|пришли|скинь|дай|скажи|підкажи|pošli|napiš|dej|stuur|geef|skicka|ge mig|kirim|minta|cho|gửi|gönder|söyle|küldd|add meg|trimite|dă-mi|locked out|can['’]t (?:log|get) in)\b"
)
_YES = "yes|yep|yeah|sure|ok|okay|of course|here you go|ja|klar|na klar|oui|bien sûr|sí|si|claro|sim|sì|certo|tak|jasne|да|конечно|так|звісно|evet|tabii|igen|joo|jo|ano|jasně|da|sigur|ναι|ya|vâng"
_HERE = "here(?: it is| you go| you are)?|eccol[ao]|ecco(?:la|lo)?|voil[àa]|l[ae] voici|tiens|aquí(?: está| tienes| va)?|ahí va|toma|aqui(?: está| vai)?|hier(?: bitte)?|bitte(?:schön)?|proszę|tu|вот|держи|ось|тримай|tady(?: je)?|tumaš|işte|buyur|itt van|iată|uite|værsgo|her|här|varsågod|tässä|ini|đây|alsjeblieft|try|use"
_REPLY = compile_later(
    rf"(?i)(?P<lead>(?:(?:{_YES})(?:[ ]?[,.!:;–—-]+[ ]*|[ ]+))?(?:(?:{_HERE})(?:[ ]?[,.!:;–—-]+[ ]*|[ ]+))?(?:(?:{ITS})(?:[ ]?:)?[ ]+)?)"
    r"[\"'`“«*]{0,2}(?P<a>[^\s\"'`“”«»<>|]{4,80}?)[\"'`”»*]{0,2}[.]?(?:[ ](?:[:;]-?[)D]|[^\x00-\u024f]{1,3}))?[\"}]*[ \t]*$"
)
_NEGATED = compile_later(
    r"(?i)(?:^|[\s(,])(?:not|nicht|no|non|pas|não|nie|не|ne|nu|niet|inte|ikke|ej)[ ][\"'`“«*]{0,2}(?P<a>[^\s\"'`“”«»<>|,;()]{4,80}?)[\"'`”»*]{0,2}(?=[.!)]*$|[ ]?,?[ ](?:but|sondern|sino|mais|mas|ma|ale|а|але|maar|utan|men)[ ])"
)
_NEITHER = compile_later(
    r"(?i)(?:^|[\s>])(?:neither|weder|ni|né|né|ani|ни|ні|noch)[ ][\"'`]?(?P<a>[^\s\"'`,;<>]{4,80})[\"'`]?,?[ ](?:nor|noch|ni|né|ani|ни|ні)[ ][\"'`]?(?P<b>[^\s\"'`,;<>]{4,80})[\"'`]?[ ]"
)
_TOKEN = compile_later(r"[^\s\"'`“”«»<>|,;()]{4,80}")
_CHANGE = compile_later(
    r"(?i)chang|reset|\bset\b|updat|ganti|ubah|đổi|schimbat|ændr|endre|ändra|bytt|geändert|gesetzt|modifi|devient|cambi|\bmud|alter|zmieni|změni|смени|измени|зміни|değiş"
)
_BECAME = compile_later(
    r"(?i)[^.?!:\n]{0,30}?[ ](?P<to>thành|jadi|menjadi|în|til|till|devient|to|into|auf|в|на)[ ][\"'`“«*]{0,2}(?P<a>[^\s\"'`“”«»<>|,;()]{4,80}?)[\"'`”»*]{0,2}(?:[ ](?:rồi|nhé|ya|nhen|now))*[.!]?$"
)
_NEW = "new|nouveau|nouvelle|nueva|nuevo|nova|novo|nuova|neue[sr]?|nowe|nové|новий|новый|nytt|nya?|nye|yeni|új|noul|noua|nieuwe|current|same|usual|default|actuel|actual"
_BEFORE = compile_later(
    rf"(?i)[\"'“«*]{{0,2}}(?P<a>[^\s\"'“”«»<>|,;:()]{{4,60}})[\"'”»*]{{0,2}}[ ](?P<tie>is|est|es|é|è|ist|to|je|jest|är|er|on|este|—|–)[ ](?:(?:the|das|le|la|el|o|il|my|our|notre|l['’]|het|den|det)[ ]?)?(?:{_NEW})[ -]$"
)
_AT_FIRST = compile_later(
    r"(?i)(?:[\"'“«](?P<b>[^\s\"'“”«»]{4,60})[\"'”»][ ]?[—–,-][ ][^.?!\n]{0,48}|(?P<a>[^\s\"'“”<>|,;:()]{4,60})[ ](?:\(|=[ ])|(?:try|use|nimm|prova|essaie|prueba)[ ][\"'“]?(?P<c>[^\s\"'“”<>|,;()]{4,60})[\"'”]?(?:,[ ](?:it|that)['’]?s|[ ]as)[ ](?:[\w'’]+[ ]){0,3})$"
)
_OF_SOMETHING = compile_later(
    r"(?i)s?[ -](?:manager|policy|field|hash\w*|reset|generator|prompt|form|input|file|type|store|provider|encoder|strength|rule|length|management|hint|grant|flow)"
)


def corrected_in_line(before: str, tail: str) -> Iterator[tuple[bool, Span]]:
    """The spans of values in a line of a password, and whether each is in `before`."""
    line = before + tail
    if len(line) > MAX_VALUE_LINE_CHARS or is_program(line) or _OF_SOMETHING.match(tail):
        return
    found = _NEGATED.search(tail)
    if found and is_weak_password(found["a"]) and (is_code(found["a"]) or _has_chosen(line)):
        yield False, found.span("a")
    if (found := _NEITHER.search(before)) and _has_chosen(line):
        yield from ((True, found.span(one)) for one in "ab" if is_weak_password(found[one]))
    found = _BECAME.match(tail)
    is_sure = found is not None and (found["to"] not in _LOOSE or look_of(found["a"]) is not None)
    if found and is_sure and _CHANGE.search(line) and is_weak_password(found["a"]):
        yield False, found.span("a")
    yield from ((True, span) for span in _first(before))


def _has_chosen(line: str) -> bool:
    return any(look_of(found[0].rstrip(".!")) is not None for found in _TOKEN.finditer(line))


def _first(before: str) -> Iterator[Span]:
    if (found := _BEFORE.match(before)) and is_weak_password(found["a"]):
        is_name = found["tie"] == "is" and found["a"].istitle()
        if not (is_name and found["a"].isalpha()):
            yield found.span("a")
    if found := _AT_FIRST.match(before):
        group = next(one for one in "abc" if found[one])
        is_apart = group != "a" or look_of(found[group]) is not None or is_code(found[group])
        if is_apart and is_weak_password(found[group]) and not found[group].istitle():
            yield found.span(group)


def replies(before: str, word: str, tail: str, group: str, below: str) -> Iterator[Span]:
    """The span in `below` of a value that is a message of its own, behind a request for it."""
    line = before + word + tail
    if len(line) > MAX_REQUEST_CHARS or is_program(line):
        return
    is_question = tail.rstrip(" \t\"'*_})").endswith(("?", "？", "؟"))
    if not is_question and not _ASKS.search(line):
        return
    for at, text, is_message in _messages(below):
        found = _REPLY.match(text)
        if found and _is_reply(found["a"], group, is_message=is_message or bool(found["lead"])):
            yield at + found.start("a"), at + found.end("a")
            return


def _messages(below: str) -> Iterator[tuple[int, str, bool]]:
    """Where each of the next messages begins, its words, and whether somebody says it."""
    at = below.find("\n") + 1
    if not at:
        return
    for line in below[at:].split("\n")[:MAX_REPLIES]:
        if not line.strip():
            return
        begins = body_at(line)
        text = line[begins:].rstrip()
        if 0 < len(text) <= MAX_REPLY_CHARS and not is_program(text):
            # The item of a list may be of a menu: `- Forgot password?`, `- Dashboard`.
            is_said = ":" in line[:begins] or line.lstrip()[:1] in set("—–[(<")
            yield at + begins, text, is_said
        at += len(line) + 1


def _is_reply(value: str, group: str, *, is_message: bool) -> bool:
    if value.lower().strip("!") in NO_ANSWERS or not is_weak_password(value):
        return False
    if group == "code":
        return is_code(value)
    if look_of(value) is not None or is_code(value):
        return True
    return is_message and group == "password" and is_plain_word(value)
