"""Whether a value beside a name that says password is one.

The less a place can hold anything but a password, the weaker the password may be: `DB_PASS=dragon`
is masked, `password: required` and `password = form_value` are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from notewell.redaction.compiled import compile_later
from notewell.redaction.plain_words import BEHIND_PASSWORD
from notewell.redaction.plausible import (
    MEDIUM,
    STRONG,
    is_identifier,
    is_passphrase,
    password_strength,
)
from notewell.redaction.topics import COURTESY
from notewell.redaction.weak_values import is_code, is_joined, is_plain_word, is_weak_password

if TYPE_CHECKING:
    from notewell.redaction.beside import ValuePlace

MAX_LABEL_CHARS = 40


class PasswordName(NamedTuple):
    """A name that says password, and what is around it."""

    name: str
    before: str
    """The line, the string or the message up to the name."""
    tail: str
    """What comes behind the name, of the next lines, too."""
    data: bytes
    """The whole text."""


_PAUSES = frozenset(",:;-–—")
_ORDINARY = frozenset({"pass", "contra", "passes"})
_SPOKEN_LOWER = frozenset({"password", "pw", "passphrase", "passcode", "pwd", "pass"})
_SPOKEN = frozenset({"password", "pw", "passphrase", "passcode", "pwd", "psk"})
_ENGLISH = compile_later(r"(?i)pass(?!e\b|ord|wort)|pw|psk|password|code")
_CHANGED = compile_later(r"(?i)\b(?:set|chang|reset|updat|switch)\w{0,4}\b")
_OWNED = compile_later(r"(?i)\b(?:my|our|his|her|your|wi-?fi|guest|admin|root)[ ]$")
_USER_ABOVE = compile_later(
    r"(?i)[\s>*+|-]*(?:user|login|account|wi-?fi|ssid|network|id|mail|e-mail|name)\w{0,4}\b"
    r"[^\n]{0,60}$"
)
_USER_BEFORE = compile_later(
    r"(?i)\b(?:user(?:name)?|login|account|konto|benutzer|compte|cuenta|utente)[ :=]+"
    r"[\w.@-]{2,40}[ ,;/]+$"
)
_PARAMETERS = compile_later(r"[ \t]+[\w.-]{1,30}=")
_CODE_BEFORE = compile_later(
    r"[({\[]|;\s| = |==|\b(?:const|let|var|return|def|if|elif|while|await|self|this|func|fn|type"
    r"|import)\b"
)
_ENDS = compile_later(
    r"[ \t]*(?:$|\n|\r|\\n|[.,;!?)\]\"'”。，；！<]|[-–—(/|#&]|and\b|but\b|und\b|et\b|y\b|e\b|i\b"
    rf"|(?:{COURTESY})(?![\w-])|[:;]-?[)(DP]|[^\x00-\u024f])"
)
_KIND_BEFORE = compile_later(
    r"(?i)(?:the |my |your |our )?(?:(?:initial|temp|temporary|new|old|default|current|wi-?fi|root"
    r"|admin|guest|one-time|start|master|neues|altes|nouveau|nueva|nuova|nova)[ -])?"
)
_DASH = compile_later(r"(?:^|[ ])[-–—][ ]+[\"'`*“„«]*$")
_MESSAGE_ENDS = compile_later(
    rf"(?i)[!]?[ \t]*(?:\r?\n|$|,[ ]|[:;]-?[)(DP]|[(]|[ ]?[-–—][ ]|(?:{COURTESY})(?![\w-]))"
)
_LINE_ENDS = compile_later(r"[ \t]*(?:\r?\n|$|#|;|//|--|\()")
_ITEM = compile_later(
    r"[\s>*+|#$⎿-]*(?:\d+[.)→]|[\w./-]+:\d+[:-])?"
    r"[\s*_`\"']*(?:export |set |[\w.]{1,20}[ .])?[\s*_`\"']*"
)
_PARTICIPLES = (
    "ed", "ing", "ly", "able", "ible", "ized", "ised", "ness", "ment", "ation",
)  # fmt: skip
_IDENTIFIER_BEFORE = b"([{.,!&*"
_IDENTIFIER_AFTER = (b"(", b".", b"[", b",", b")", b"=")


def is_labelled_secret(label: PasswordName, value: ValuePlace) -> bool:
    text = label.tail[value.start : value.end]
    if value.quoted and " " in text:
        return value.tie != "next" and not _is_ordinary(label.name) and is_passphrase(text)
    if not is_weak_password(text):
        return False
    if _is_ordinary(label.name):
        return _is_beside_ordinary(label, value, text)
    is_strong = password_strength(text) >= MEDIUM
    if (
        not is_strong
        and not _KIND_BEFORE.fullmatch(label.before)
        and _DASH.search(label.tail[: value.start])
    ):
        return False  # `change the password - anna`: the name of the writer.
    match value.tie:
        case "place" | "cell":
            return True
        case "assign" | "spaced":
            return _is_assigned(label, value, text)
        case "remark":
            return is_strong or is_code(text) or (is_joined(text) and label.tail[:1] != ",")
        case "next":
            return _is_next(label, value, text)
    return is_strong or _is_behind_verb(label, value, text)


def _is_beside_ordinary(label: PasswordName, value: ValuePlace, text: str) -> bool:
    """`pass` and `credentials` are words of ordinary sentences and of the reports of tests."""
    is_word = is_plain_word(text) and password_strength(text) < MEDIUM
    match value.tie:
        case "pair":
            return _is_said(label.name, text, label.tail[value.end :])
        case "assign" if label.name.isupper() and label.tail[:1] == "=":
            return True
        case "assign" | "spaced" if is_word:
            return _is_below_user(label) or _USER_BEFORE.search(label.before) is not None
        case "place" | "assign" | "spaced":
            return not is_word
        case "next" if not label.before.strip():
            return _is_below_user(label)
        case "verb":
            if password_strength(text) >= MEDIUM:
                return True
            is_owned = not is_word or _OWNED.search(label.before) is not None
            before = label.before.strip()
            is_owned |= not before or (before[-1] in ",:" and len(before) < MAX_LABEL_CHARS)
            return is_owned and _is_said(label.name, text, label.tail[value.end :])
    return False


def _is_behind_verb(label: PasswordName, value: ValuePlace, text: str) -> bool:
    """A weak value behind a verb, or of a user and a password."""
    is_said = _is_said(label.name, text, label.tail[value.end :])
    if value.tie == "perhaps":
        is_change = label.tail.startswith(" to ") and _CHANGED.search(label.before) is not None
        has_sign = label.tail[: value.start].rstrip()[-1:] in {":", "=", "→"}
        is_phrase = is_joined(text) and (has_sign or _is_foreign(label.name))
        return is_phrase or (is_said and (_is_foreign(label.name) or is_change))
    if value.tie == "verb" and label.tail[:2] in {"'s", "’s"}:
        return is_said and label.name.lower() in _SPOKEN
    return value.quoted or is_said


def _is_next(label: PasswordName, value: ValuePlace, text: str) -> bool:
    is_strong = password_strength(text) >= MEDIUM
    rest = label.tail[value.end :]
    # `resource "random_password" "main" {`: the name of a block.
    if rest.lstrip("\"' ").startswith("{"):
        return False
    if not label.before.strip() and _LINE_ENDS.match(rest) and _is_below_user(label):
        return True
    if _is_foreign(label.name) or label.tail.startswith("**"):
        # In a short line or another script: a word in the middle of a paragraph is prose.
        is_short = (
            len(label.before.rpartition(". ")[2]) < MAX_LABEL_CHARS
            and _LINE_ENDS.match(rest) is not None
        )
        is_plain = (is_short or not label.name.isascii()) and _is_said(label.name, text, rest)
        return is_strong or not is_plain_word(text) or is_plain
    if value.quoted and not _CODE_BEFORE.search(label.before):
        return True
    if _is_whole_message(label, text, rest):
        return True
    is_year = len(text) == 4 and text[:2] in {"19", "20"}
    return (is_strong and _ENDS.match(rest) is not None) or (is_code(text) and not is_year)


def _is_whole_message(label: PasswordName, text: str, rest: str) -> bool:
    """`password hunter` and nothing else in the line but a greeting; not `password manager`."""
    before = label.before.strip()
    if not text.islower() or text in BEHIND_PASSWORD or label.name not in _SPOKEN_LOWER:
        return False
    if before and (label.name == "pwd" or rest[:1] == ","):
        return False
    is_alone = len(before) < MAX_LABEL_CHARS and ". " not in before
    return is_alone and label.tail[:1] == " " and _MESSAGE_ENDS.match(rest) is not None


def _is_assigned(label: PasswordName, value: ValuePlace, text: str) -> bool:
    rest = label.tail[value.end :]
    if value.quoted or text.isdigit() or (label.name.isupper() and value.tie == "assign"):
        return True
    if rest[:1] and rest[0] in "([{":
        return False
    is_strong = password_strength(text) >= MEDIUM
    if _CODE_BEFORE.search(label.before):
        is_phrase = is_joined(text) and text.count("-") > 1
        is_name = text.isidentifier() and (
            password_strength(text) < STRONG or is_identifier(text) or "_" in text
        )
        return is_phrase or (is_strong and not is_joined(text) and not is_name)
    if is_strong or (is_joined(text) and "-" in text):
        return True
    if _LINE_ENDS.match(rest) and _ITEM.fullmatch(label.before):
        return not _is_used_as_identifier(text, label.data)
    is_tight = value.tie == "assign"
    # Inside a connection string or a command line: `user=anna password=dragon`.
    if _PARAMETERS.match(rest) or (is_tight and label.tail[:1] == "=" and rest[:1] != ","):
        return True
    return is_tight and _ENDS.match(rest) is not None and not rest.rstrip().endswith(",")


def _is_ordinary(name: str) -> bool:
    lower = name.lower()
    return lower in _ORDINARY or lower.endswith(("cred", "creds", "credential", "credentials"))


def _is_below_user(label: PasswordName) -> bool:
    """Whether the line above names a user or a network: `user: anna`, `Wifi: HomeNet`."""
    at = label.data.find(f"{label.before}{label.name}".encode("utf-8", "surrogateescape"))
    line_at = label.data.rfind(b"\n", 0, max(0, at)) if at > 0 else -1
    above = label.data[max(0, line_at - 80) : max(0, line_at)].rpartition(b"\n")[2]
    return _USER_ABOVE.match(above.decode("utf-8", "replace")) is not None


def _is_said(name: str, text: str, rest: str) -> bool:
    """True for "the password is dragon.", not for "the password is stored in the vault"."""
    ends = _ENDS.match(rest) is not None
    if text.isdigit() or (is_joined(text) and (ends or text[-2:].isdigit())):
        return True
    return ends and (_is_foreign(name) or not text.lower().endswith(_PARTICIPLES))


def _is_foreign(name: str) -> bool:
    return not _ENGLISH.search(name)


def _is_used_as_identifier(text: str, data: bytes) -> bool:
    """Whether the same word is elsewhere in the text as a variable: `hashed = …`, `f(hashed)`."""
    word, at = text.encode("utf-8", "surrogateescape"), -1
    for _ in range(8):
        at = data.find(word, at + 1)
        if at < 0:
            return False
        before, after = data[at - 1 : at], data[at + len(word) : at + len(word) + 3]
        if before and before in _IDENTIFIER_BEFORE:
            return True
        if after[:1] in _IDENTIFIER_AFTER or after.startswith(b" = "):
            return True
    return True
