"""Passwords whose name is not directly before them: value first, question and answer, next line, bare pairs."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.around import look_of
from notewell.redaction.plausible import (
    MEDIUM,
    MIN_WEAK_CHARS,
    STRONG,
    is_passphrase,
    password_strength,
)
from notewell.redaction.rules import Rule
from notewell.redaction.weak_values import is_code, is_joined, is_run_together, is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterator

Span = tuple[int, int]
MAX_BEFORE_CHARS = 90

_OWNERS = (
    "my|the|our|your|his|her|their|mein|meine|das|dein|unser|fürs|mon|le|ma|notre|mi|la|el|nuestra|minha|meu|a|o|il mio|la mia"
    "|mijn|het|ons|moje|moj|mój|мой|наш|mitt|vårt|dit|min|mit|benim|new"
)
_FIRST = re.compile(
    r"(?i)(?:^|[\s（(:])(?P<q>[\"'`“„«「『*]{0,3})(?P<a>[^\s\"'`“”„«»「」<>|（）()*]{4,60})[\"'`”“»」』*]{0,3},?[ \t]*"
    r"(?P<tie>(?:[-–—,][ ]*)?(?:that(?:['’]s| is)|das ist|c['’]est)|(?<=\s)\(|(?<=[\s,])[-–—](?=[\s])|\bis\b|\bwas\b|\bist\b|\bwar\b|\best\b|\bera\b|\bes\b|(?<=\s)[éè]\b|\bto (?=moj|nasz)|\bär\b|是|,? ?that(?:['’]s| is)|,? ?das ist|,? ?c['’]est"
    r"|\bas\b|\bals\b|\bcomme\b|\bcomo\b|\bcome\b|\bolarak\b)[ \t]*(?:(?:still|now|auch)[ ])?"
    rf"(?P<owner>(?:{_OWNERS}|as)[ ]|我的|我们的)?(?:[\w'’-]{{1,16}}[ -]){{0,2}}$"
)
_AS = frozenset({"as", "als", "comme", "como", "come", "olarak"})
_USES = re.compile(
    r"(?i)\b(?:use|using|used|set|put|have|took|take|typed?|enter|pon|puse|usa|uso|messo|coloquei|utilise|mets|nimm|nutze|gebruik)\w{0,3}[ ](?:it to )?[\"'`“*]*$"
)
_SPEAKER = re.compile(
    r"(?:[\[(]?\d[\d:.,\- T]{3,24}[\])]?[ ]+(?:-[ ])?)?(?:[*_<\[]{0,3}[^\W\d_][\w .-]{0,20}(?:[*_>\]]{0,3}[:：]|>)[*_]{0,2}[ ]*)?"
)
_YES_OR_NO = re.compile(r"(?i)(?:is|are|was|did|does|do|can|could|has|should|will|must|ist|hat)\b")
_SAID = re.compile(
    r"(?i)(?:(?:sure|yes|yep|ok|okay|oh|hi|well|ja|oui|sí|sim|tak|да)[,.!:]*[ ]+)?"
    r"(?P<verb>(?:(?:i think |i believe )?(?:it['’]?s|its|it is)|that['’]?s|this is|use|try|should be|es ist|das ist|c['’]est|es|é|è|to|det är|het is|это|是|은|は)[ :]+"
    r"(?:still |now |just |noch )?)?"
)
_ANSWER = re.compile(
    r"""(?P<q>["'`“«「*]{0,3})(?P<a>[^\s"'`“”«»「」<>|]{3,80})["'`”»」*]{0,3}(?P<rest>[^\n]{0,60})"""
)
_ASKED = re.compile(
    r"[^\n?？؟]{0,60}(?:(?<![.:\w])(?=\r?\n[ \t>]*A:)|\?(?=[\s)\"'*_”])|[？؟])[)\"'*_”]{0,3}[ \t–—-]*(?P<break>(?:\r?\n[ \t>+]*){0,2})(?=[^\s])"
)
_BELOW = re.compile(
    r"[\"'`*_]{0,3}[ \t]*(?P<sign>[:：=]?)[*_]{0,3}[ \t]*(?:[|>][-+]?)?[ \t]*\r?\n(?:[ \t>+]*\r?\n)?(?:[ \t>+]*```\w*\r?\n)?[ \t>*+]*(?:-[ ]|:[ ]+)?"
    r"(?:value:[ ]*)?(?P<q>[\"'`*]{0,3})(?P<a>[\w!#$%&+][^\s\"'`<>|*,]{2,80})[\"'`*]{0,3}[ \t]*(?:\r?\n|$|please\b|pls\b|thx\b|thanks\b|bitte\b|danke\b|merci\b|:\)|\((?:until|bis))"
)
_PHRASE_BELOW = re.compile(
    r"[*_]{0,2}[:：][*_]{0,2}[ \t]*(?:\r?\n[ \t>+]*){1,2}(?:```\w*\r?\n)?[ \t>]*(?P<a>[^\W\d_]+(?:[ ][^\W\d_]+){3,7}(?:[ ]\d+)?)[ \t]*(?:\r?\n|$)"
)
# `PASSWORD=` and the next setting below it.
_SETTING = re.compile(r"[A-Z][A-Z0-9_]*=")
_ENDS = re.compile(
    r"[ \t]*(?:$|\n|[.,;!)。，]|[(–—:-]|and\b|but\b|so\b|for\b|on\b|to\b|at\b|of\b|für\b|du\b|de\b|del\b|do\b|van\b|z\b|от\b)"
)
_DONE = re.compile(r"[ \t.!,;:)？?]*(?:[^\w\s]{1,3})?[ \t]*$")
_LABEL_LINE = re.compile(r"[ \t>#*_+-]*(?:[\w'’.-]+:?[ ]){0,6}[\"'`*_]{0,3}")


def value_before(before: str, tail: str) -> Span | None:
    """The span in `before` of a password that comes before its name: `… is my password`."""
    if len(before) < MIN_WEAK_CHARS or not _ENDS.match(tail):
        return None
    offset = max(0, len(before) - MAX_BEFORE_CHARS)
    found = _FIRST.search(before, offset)
    if not found or not is_weak_password(found["a"]):
        return None
    span = found.span("a")
    strength = password_strength(found["a"])
    if found["tie"] == "(" and not tail.startswith(")"):
        return None
    is_owned = bool(found["owner"]) and found["tie"] not in {"(", "-"}
    if found["tie"] in _AS:
        is_owned = _USES.search(before[: found.start("a")]) is not None
    is_owned |= found["tie"] == "(" and not before[: found.start()].strip()
    return span if strength >= MEDIUM or found["q"] or is_owned or is_code(found["a"]) else None


def answer_below(before: str, tail: str) -> Span | None:
    """The span in `tail` of the answer to a question for a password."""
    asked = _ASKED.match(tail)
    if not asked or _YES_OR_NO.match(before):
        return None
    at = _end(_SPEAKER, tail, asked.end())
    said = _SAID.match(tail, at)
    at = said.end() if said else at
    found = _ANSWER.match(tail, at)
    if not found:
        return None
    value = found["a"].rstrip(".,;:!?)*") or found["a"]
    rest = found["a"][len(value) :] + found["rest"]
    # On the same line, only a verb tells that it is the answer.
    is_answer = bool(
        (asked["break"] and (_DONE.match(rest) or found["q"]))
        or (said and said["verb"] and _ENDS.match(rest))
    )
    if is_answer and is_weak_password(value):
        return found.start("a"), found.start("a") + len(value)
    return None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def value_below(before: str, tail: str) -> Span | None:
    """The span in `tail` of a value alone on the line below its name."""
    phrase = _PHRASE_BELOW.match(tail)
    if phrase and is_passphrase(phrase["a"]):
        return phrase.span("a")
    found = _BELOW.match(tail)
    if (
        not found
        or found["a"].endswith(":")
        or _SETTING.match(found["a"])
        or not _LABEL_LINE.fullmatch(before)
        or not is_weak_password(found["a"])
    ):
        return None
    is_answer = found["sign"] or password_strength(found["a"]) >= MEDIUM or is_code(found["a"])
    return found.span("a") if is_answer else None


# -- pairs ---------------------------------------------------------------------------------------

MAIL_RULE = Rule(
    "password",
    r"[\w+-]@[\w-]{1,40}(?:\.[\w-]{2,20}){1,3}(?:[ ]?[:|][ ]?|[ ]/[ ]|[ ]+|,[ ]?|;)([^\s\"'`<>|,;/@]{4,60})(?:\s|$|[,;\"'`)])",
    ("@",),
    proof="pair",
    says="a mail address and a password: `anna@corp.example:…`",
)
PAIR_RULE = Rule(
    "password",
    r"(?:^|[\s(\"'`])(?:root|admin|administrator|sa|pi|ubuntu|postgres|oracle|sys|system|guest|user|deploy|operator|manager|support)"
    r"(?:[ ]?/[ ]?|:)([^\s\"'`<>|,;/]{4,60})(?:[\s,;)\"'`]|$)",
    (
        "root:",
        "admin:",
        "root/",
        "root /",
        "admin/",
        "admin /",
        "administrator/",
        "sa/",
        "sa /",
        "pi/",
        "pi /",
        "ubuntu/",
        "sys/",
        "system/",
        "guest/",
        "user/",
        "user /",
    ),
    proof="pair",
    says="an account and a password: `root / …`",
)
LINE_PAIR_RULE = Rule(
    "password",
    r"(?m)(?:^|[\s:(>])[A-Za-z][\w.@-]{1,40}[ ]/[ ]([^\s\"'`<>|,;/]{4,80})",
    (" / ",),
    proof="pair",
    says="a user and a password: `anna / …`",
)
OPENED_RULE = Rule(
    "password",
    r"(?:\b(?:protected|encrypted|locked|secured|sealed|unlock(?:s|ed)?|opens|log in|sign in|login) (?:the |it |this |my )?(?:[\w.-]+ ){0,3}?with"
    r"|\b(?:re)?set it to|protected, use|passphrase)[ ]+[\"'`“«*]{0,2}([^\s\"'`“”«»<>|,;]{4,80})",
    (
        "protected with", "encrypted with", "locked with", "secured with", "unlock", "set it to",
        "protected, use", "passphrase", " in with",
    ),
    any_case=True,
    proof="pair",
    says="`the archive is protected with …`, `reset it to …`",
)  # fmt: skip
USED_RULE = Rule(
    "password",
    r"\b(?:use|type|enter)[ ]+[\"'`“«*]{0,2}([^\s\"'`“”«»<>|,;]{4,80})[\"'`”»*]{0,2}[ ](?:to (?:log|sign|unlock|connect|decrypt|open)|for (?:the )?(?:login|admin|root|wifi)|(?:when|if) (?:asked|prompted)|at the [\w ]{0,20}prompt)",
    (
        "to log",
        "to sign",
        "to unlock",
        "to connect",
        "to decrypt",
        "to open",
        "for the login",
        "when asked",
        "when prompted",
        "if asked",
        "prompt",
    ),
    any_case=True,
    proof="pair",
    says="`use … to log in`, `type … when asked`",
)
HOST_PAIR_RULE = Rule(
    "password",
    r"(?:\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?|https?://[^\s()\"'<>]+|\b[a-z][\w-]*(?:\.[\w-]+)*\.(?:lan|local|internal|example|home\.arpa|svc|corp|test|intern)\b)[ ,]{1,2}(?:->[ ]?|→[ ]?|as[ ])?[(\[]?"
    r"[A-Za-z][\w.-]{1,30}(?::|[ ]?/[ ]?|,[ ])([^\s\"'`<>|,;/)]{4,60})(?:[)\]\s,;.]|$)",
    (),
    proof="pair",
    says="a host, a user and a password: `10.0.0.4 anna:…`, `http://10.0.0.4 (anna, …)`",
)
ACCOUNT_SECRET_RULE = Rule(
    "password",
    r"\b(?:user(?:name)?|login|account|benutzer|usuario|utente|identifiant)[ :=]+[\w.@-]{2,40}[, ]+(?:and |und |et |y )?(?:secret|key|pass|code|pin|schlüssel|clé|clave)[ :=]+[\"'`]?([^\s\"'`<>|,;()]{4,60})",
    (", secret", ", key", ", pass", ", code", ", pin", " secret", " pass "),
    any_case=True,
    proof="weak",
    says="`user anna, secret …`",
)
CONNECTED_RULE = Rule(
    "password",
    r"\b(?:rdp|ssh|vnc|s?ftp|telnet|log ?in|connect|sign in|vpn|smb|imap|nas|anmelden|verbinden)\b[^\n]{0,60}?\b(?:as|user|als|como|come|en tant que)[ ][\w.@-]{2,40}[ ](?:with|and|using|mit|und|con|y|avec|et|/)[ ][\"'`]?([^\s\"'`<>|,;()]{4,60})",
    (" as ", " user ", " als ", " como ", " come "),
    any_case=True,
    proof="argument",
    also=(
        "rdp", "ssh", "vnc", "ftp", "telnet", "log in", "login", "connect", "sign in", "vpn", "smb", "imap", "nas", "anmelden", "verbinden",
    ),
    says="`ssh to the nas as anna with …`",
)  # fmt: skip
MENDED_RULE = Rule(
    "password",
    r"(?:sorry|no wait|oops|correction|i meant|scratch that|wait,? no|since then|until [\d-]+, since then|désolé|perdón|scusa|entschuldigung)[,:]?[ ]+(?:(?:it['’]?s|its|it is|jetzt ist es|c['’]est|es|is|now|actually|rather)[ ]+){0,2}"
    r"[\"'`“«*]{0,2}([^\s\"'`“”«»<>|,;]{4,80})",
    (
        "sorry",
        "no wait",
        "oops",
        "correction",
        "i meant",
        "scratch that",
        "since then",
        "désolé",
        "perdón",
        "scusa",
        "entschuldigung",
    ),
    any_case=True,
    proof="pair",
    says="a correction near a password: `no wait, …`",
)
PAIR_RULES = (
    MAIL_RULE,
    PAIR_RULE,
    LINE_PAIR_RULE,
    HOST_PAIR_RULE,
    ACCOUNT_SECRET_RULE,
    CONNECTED_RULE,
    OPENED_RULE,
    USED_RULE,
    MENDED_RULE,
)


_COLON_USERS = (b"root", b"admi")
_LOGIN = re.compile(
    rb"(?i)log|sign|user|account|cred|camera|router|access|acce|entra|zugang|admin|connect|nas\b|vpn|ssh|wifi|passw|anmeld|konto|compte|cuenta|inlog|\bilo\b|idrac|ipmi|\bbmc\b|console|bios|panel|portal|switch|printer|webui|\bftp|server"
)
HANDED_OVER_BYTES = 500
_PAIR_ITEM = re.compile(
    rb"[ \t>*+-]*(?:\d{1,2}[.)])?[ \t]*[^\s:][^\n:]{0,30}:[ ]+[\w.@+-]+[ ]/[ ][^\s/]+"
)
_HANDED_OVER = re.compile(
    rb"(?i)hand-?over|\xc3[\x9c\xbc]bergabe|zug\xc3\xa4nge|zugang|dost\xc4\x99p|przekaz|consegn|accesos|acessos|entrega|acc\xc3\xa8s|passation|onboarding|credentials|logins|accounts|what you need"
    rb"|\xd0\xbf\xd0\xb5\xd1\x80\xd0\xb5\xd0\xb4\xd0\xb0\xd1\x87|p\xc5\x99ed\xc3\xa1n|overdracht|overdragelse|inloggegevens"
)
_PASSWORD_NEAR = re.compile(
    rb"(?i)pass|\bpw|\bpin\b|kennwort|login|contrase|senha|mot de passe|wachtwoord|parol"
)


def pair_spans(match: Any, rule: Rule) -> Iterator[tuple[int, int, str]]:
    value = match.group(1).decode("utf-8", "surrogateescape").rstrip(".:)]}")
    data: bytes = match.string
    start = match.start(1)
    line_start = data.rfind(b"\n", max(0, start - 160), start) + 1
    line = data[line_start : match.end() + 60].partition(b"\n")[0]
    is_password = password_strength(value) >= MEDIUM or is_joined(value) or is_run_together(value)
    if (
        rule is PAIR_RULE
        and data[start - 1 : start] == b":"
        and match.group(0).lstrip()[:4] not in _COLON_USERS
    ):
        return
    if rule is MAIL_RULE:
        is_password = _is_behind_mail_address(match, value)
    elif rule is PAIR_RULE:
        is_password = (
            password_strength(value) == STRONG
            or (is_joined(value) and value[-2:].isdigit())
            or (is_run_together(value) and any(map(str.isdigit, value)))
        )
        is_password |= (
            password_strength(value) >= MEDIUM and value[:1].isupper() and value[-2:].isdigit()
        )
    elif rule is LINE_PAIR_RULE:
        is_password = (
            is_password
            and _LOGIN.search(line) is not None
            and (password_strength(value) >= MEDIUM or look_of(value) is not None)
        ) or _is_handed_over(
            value, line, data[max(0, line_start - HANDED_OVER_BYTES) : line_start]
        )
    elif rule is HOST_PAIR_RULE:
        is_password = look_of(value) is not None
    elif rule is OPENED_RULE:
        is_password = is_password and (
            password_strength(value) == STRONG
            or not value.islower()
            or value.count("-") + value.count(".") > 1
        )
    elif rule is MENDED_RULE:
        is_password = (
            is_password
            and _PASSWORD_NEAR.search(data[max(0, start - 200) : start + 100]) is not None
        )
    elif rule is USED_RULE:
        is_code_name = b"`" in match.group(0) and value.isidentifier() and value.islower()
        is_password = (is_password and not is_code_name) or (
            is_code(value) and b"sign" in match.group(0)
        )
        is_password |= is_weak_password(value) and b"prompt" in match.group(0)
    if is_password:
        yield start, start + len(value.encode("utf-8", "surrogateescape")), rule.kind


def _is_handed_over(value: str, line: bytes, above: bytes) -> bool:
    """An item `router: admin / …` below a heading of a handover."""
    return (
        _PAIR_ITEM.fullmatch(line.rstrip()) is not None
        and _HANDED_OVER.search(above) is not None
        and is_weak_password(value)
    )


def _is_behind_mail_address(match: Any, value: str) -> bool:
    if b" / " in match.group(0) and _is_handed_over(value, *_item_of(match)):
        return True
    is_git = b"git@" in match.string[max(0, match.start() - 4) : match.start() + 2]
    if is_git or not any(map(str.isalpha, value)):
        return False
    is_strong = password_strength(value) >= MEDIUM or look_of(value) is not None
    return is_strong or (_is_line(match) and is_weak_password(value))


def _item_of(match: Any) -> tuple[bytes, bytes]:
    """The line of a match, and what is above it."""
    data: bytes = match.string
    at = data.rfind(b"\n", max(0, match.start() - 160), match.start()) + 1
    line = data[at : match.end() + 60].partition(b"\n")[0]
    return line, data[max(0, at - HANDED_OVER_BYTES) : at]


def _is_line(match: Any) -> bool:
    """Whether the pair is all that is on its line."""
    data: bytes = match.string
    start = data.rfind(b"\n", max(0, match.start() - 80), match.start()) + 1
    end = data.find(b"\n", match.end(1), match.end(1) + 80)
    before = data[start : match.start()]
    return (
        b" " not in before.strip(b" \t>*+-")
        and not data[match.end(1) : end if end >= 0 else None].strip().partition(b"(")[0]
    )
