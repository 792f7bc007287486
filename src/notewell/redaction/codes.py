"""Codes of digits: PINs, door codes, one-time codes, CVV; payment cards; answers to security questions."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.compiled import compile_later
from notewell.redaction.rules import Rule
from notewell.redaction.weak_values import is_code, is_plain_word, is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHOSE = (
    "door|gate|alarm|entry|access|unlock|security|safe|lock|garage|keypad|voicemail|verification|verify|confirmation|one[ -]?time"
    "|log-?in|sign-?in|sms|2fa|mfa|two-factor|auth|authentication|authenticator|phone|sim|card|screen|tablet|locker|lockbox"
    "|building|office|gym|vault|activation|house|apartment|elevator|suitcase|padlock|pin|pass|secret|reset|recovery|backup"
    "|tür|tor|haus|zugangs|zugriffs|tresor|garagen|entsperr|sicherheits|bestätigungs|prüf|freischalt|einmal|toegangs|deur|beveiligings"
    "|port|dörr|larm|kapı|doğrulama|onay|güvenlik"
)
CODE_STEMS = "|".join((
    r"(?:(?:\b|_)pin|(?-i:[a-z0-9]Pin))(?:\b|_|-?(?:code|kod)|(?-i:Code))|\bpuk\b|keypad|digicode|\botp\b|\bcv[vc]2?\b|\btan\b|geheimzahl|alarmanlage|screen lock|bike lock|padlock|lockbox|sperrcode|zahlenschloss|schlosscode|combinación|combinazione|combinaison|combinação|codeslot|cijferslot|szyfr",
    rf"(?:{_WHOSE})[ _-]?(?:code|combination|combo)\b|combination\b|\bkod\b|kod(?:u|un|um|en)\b|kód\b|пин|код|mã (?:pin|xác|otp|mở)",
    "验证码|驗證碼|动态码|校验码|PIN ?码|認証コード|確認コード|コードは|暗証番号|オートロック|ロック番号|解錠番号|도어락|문 비밀번호|门锁|门禁|PIN(?:は|番号|コード)|인증 ?번호|인증 ?코드|PIN(?:은|번호)|رمز|الرقم السري|पिन|ओटीपी|รหัส|קוד",
))  # fmt: skip
"""Where a code may be named; `_NAMES` says which of these are names of secret codes."""

_THING = (
    "door|gate|alarm|safe|garage|building|lock|lockbox|office|house|padlock|suitcase|vault|tür|haus|tor|safe|tresor|garage|alarmanlage"
    "|porte|portail|alarme|immeuble|puerta|portón|alarma|caja|porta|portão|cofre|alarme|cancello|allarme|cassaforte|portone|deur|poort|kluis"
    "|bramy|drzwi|sejfu|двери|ворот|домофона|сейфа|dörren|porten|larmet|dveřím|dveří|verificación|acceso|seguridad|acesso|verificação"
    "|segurança|accesso|verifica|accès|entrée|vérification|sécurité|dostępu|weryfikacyjny|подтверждения|доступа|pin|sms|confidentiel|secret"
)
_NAMES = compile_later(
    rf"(?i)(?:(?:{_WHOSE})[ _-]?(?:code|pin|combination|combo|kod\w{{0,3}})|pin(?:[ _-]?(?:code|kod|number|nr|no)\w{{0,3}})?|puk|keypad|digicode|otp|cv[vc]2?|tan"
    rf"|geheimzahl|alarmanlage|screen lock|bike lock|padlock|lockbox|\w*sperrcode|\w*(?:zahlen|cijfer|code)sch?lo(?:ss|t)|combination|(?:combinación|combinazione|combinaison|combinação|szyfr)(?:[ ][\w’'-]{{1,12}}){{0,4}}|(?:codes?|combo|código|codigo|codice|kod|kód|код|koden|code)(?:[ ][\w’'-]{{1,12}}){{0,3}}[ '’](?:{_THING})"
    r"|пин(?:[- ]?код)?|mã (?:pin|xác|otp|mở)|[^\x00-\x7f]{2,}|PIN\S{0,3})[\"'`*_]{0,3}$"
)
_DIGITS = compile_later(
    r"[\"'`*_#(]{0,4}(?P<a>\d{4,8}|\d{3}[ -]\d{3,4}|\d{2}(?:-\d{2}){1,3}|\d{3})(?![A-Za-z0-9_%/-]|[.:,]\d)"
)
_BETWEEN = compile_later(r"[^\d\n.;{}()\[\]<>|%?!]{0,34}?(?=[\"'`*_#(]{0,4}\d)")
_FIRST = compile_later(
    r"(?i)(?:^|[\s\"'`*:（(])(?P<a>\d{4,8}|\d{3}[ -]\d{3})[\"'`*]*(?:[ ](?:is|ist|est|es|é|è|as)[ ]|是|为|[ ][-–—][ ])"
    r"(?:(?:your|the|my|our|a|dein|ihr|mein|votre|tu|su|seu|der|die|le|il tuo|您的|你的)[ ]?)?(?:[\w-]{1,16}[ ]){0,3}[\w-]{0,16}$"
)
MAX_CODE_LINE_BYTES = 140
_FOUR_DIGITS = re.compile(rb"\d{4}")
_CODE_SYNTAX = re.compile(
    rb"[{}<>=\\$]|\w\(|//|\d{4}-\d\d|\d\.\d|#\d{4}|(?i:\b(?:bug|closes|fix\w*|commit|patch)\b|error|status|exit|http|port|line|zip|postal|country|area|issue|ticket|unicode|hex)[ -]?(?:code|number|[0-9])|(?i:\b(?:rfc|iso|port)\b)"
)
_NUMBER = re.compile(rb"\d[\d -]\d")
MAX_BETWEEN_BYTES = 100
_OTHER_USE = compile_later(r"(?i)^(?:combination|tan|alarmanlage|keypad|\w*schloss)$")
_SHORT_LINE = compile_later(r"(?:[^\s\d]+[ ]){0,4}[ ]?")
_VERB_OR_SIGN = compile_later(r"(?i)[:：=]|\b(?:is|ist|lautet|code)\b")
_CVV = compile_later(r"(?i)cv[vc]|security|sicherheit")

CODE_RULE = Rule(
    "pin",
    rf"({CODE_STEMS})|\b(code|codigo|código|codice) (?:for|to|of|d|der|vom|zur|für|van|till|pin|confid|secret)",
    (),
    any_case=True,
    proof="code",
    says="a PIN, a door code, a one-time code or a CVV: digits beside a name that says so, in eighteen languages",
)
ANSWER_RULE = Rule(
    "security-answer",
    r"(?:maiden name|mädchenname|nom de jeune fille|apellido de soltera|(?:secret|security) answer|sicherheitsantwort|réponse secrète|respuesta secreta"
    r"|resposta secreta|security question[^\n]{0,100}?\banswer|девичья фамилия[^\n:]{0,20}|(?:name of your first|city were you born|street you grew up|mother's maiden)[^\n?]{0,40}\?|sicherheitsfrage[^\n]{0,100}?\bantwort|question secrète[^\n]{0,100}?réponse)"
    r"(?:[ ](?:of|to|for|von|für|is|auf|de)[^\n:]{0,40}?)?(?:[ ]*(?:[-=]+>|[:=→-]+)|[ ]is|[ ]was|[ ]ist|[ ]est|[ ]es|\?)?[ ]*[\"'`*“]*([^\s\"'`*“”,;()?:]{3,60})",
    (
        "maiden name",
        "mädchenname",
        "jeune fille",
        "soltera",
        "secret answer",
        "security answer",
        "security question",
        "sicherheits",
        "secrète",
        "secreta",
        "name of your",
        "were you born",
        "grew up",
        "девичья",
    ),
    any_case=True,
    proof="answer",
    says="the answer to a security question",
)
_OPENING = "door|gate|safe|alarm|locker|intercom|garage|shed|lock(?:box)?|barrier|entrance|elevator|lift|keypad|padlock|panel|tür|tor|pforte|tresor|alarm\\w*|schließfach|haustür|garage|porte|portail|alarme|coffre|interphone|digicode|portal|puerta|caja|alarma|portón|garaje|porta|portão|cofre|cancello|allarme|cassaforte|citofono|garage|deur|poort|kluis|drzwi|bramy|domofonu|sejfu|dveř\\w*|brán\\w*|двер\\w*|ворот\\w*|домофон\\w*|подъезд\\w*|сейф\\w*|kapı\\w*|alarm\\w*|dörren|porten|larm\\w*|oven|ajtó\\w*|kapu\\w*|ușă|poartă|cửa|pintu"
_CODE_WORD = "codes?|combination|combo|pin|number|opens? with|code's|kombination|codice|código|codigo|kod\\w*|код\\w*|пин\\w*|número|numéro|cijfercode|koodi|kód\\w*|codul|mã|kode\\w*|öffnet mit|geht auf mit|s'ouvre avec|se abre con"
_CODE_LINE = compile_later(
    rf"(?i)(?:(?<![\w])(?:{_OPENING})(?!\w).{{0,50}}?(?<!\w)(?:{_CODE_WORD})(?!\w)|(?<!\w)(?:alarm panel|keypad|panel|intercom|digicode|padlock)[ ]?[-–—:=]+|(?<!\w)(?:{_CODE_WORD})(?!\w).{{0,40}}?(?<!\w)(?:{_OPENING})(?!\w))"
    r"[^\d]{0,24}?[ :#*(\"'`](?P<a>\d{4,8})[#*]?(?![\w%/-]|[.,:]\d)"
)
CODE_LINE_RULE = Rule(
    "pin",
    rf"(?:{_OPENING})[^\n]*?\d{{4}}",
    (),
    any_case=True,
    proof="code-line",
    says="a number in a short line about a code and a door, in seventeen languages",
)
_DEAR = ("first", "favorite", "favourite", "childhood", "best")
_THINGS = "pet car school teacher job street friend city town book film movie food boss concert color colour team hero nickname".split()  # noqa: SIM905
PET_RULE = Rule(
    "security-answer",
    rf"\b(?:{'|'.join(_DEAR)})[ ](?:{'|'.join(_THINGS)})\w{{0,2}}(?:'s name|[ ]name)?[ ]*(?:\?|:|=|[-=]>|→|[ ]is|[ ]was)+[ ]*[\"'`*“]*([^\s\"'`*“”,;()?:]{{3,40}})[^\n]{{0,20}}?(?:security|secret|recovery|reset|bank|answer|question)",
    tuple(f"{which} {thing}" for which in _DEAR for thing in _THINGS),
    any_case=True,
    proof="answer",
    says="`first pet? … (security answer)`",
)
CARD_RULE = Rule(
    "payment-card",
    r"(?:card|visa|amex|master|cv[vc]|kart|carte|tarjeta|cartão|carta|kaart|карт|卡|カード|카드|cc)[^\n\d]{0,40}?"
    r"([3-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,4}(?:[ -]?\d{1,3})?|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?:[^\w.]|[.]?(?:\s|$))",
    (
        "card",
        "visa",
        "amex",
        "mastercard",
        "cvv",
        "cvc",
        "karte",
        "carte",
        "tarjeta",
        "cartão",
        "kaart",
        "карт",
        "卡",
        "カード",
        "카드",
    ),
    any_case=True,
    proof="card",
    says="the number of a payment card, with a valid check digit, behind a word that says card",
)


def code_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    data: bytes = match.string
    start, end = match.span(1) if match.group(1) is not None else match.span(2)
    behind, ahead = data[end : end + MAX_BETWEEN_BYTES], data[max(0, start - 60) : start]
    # Most of these words have no number near them.
    has_code_behind, has_code_ahead = _NUMBER.search(behind), _NUMBER.search(ahead)
    if not has_code_behind and not has_code_ahead:
        return
    before = ahead.rpartition(b"\n")[2].decode("utf-8", "surrogateescape")
    tail = behind.decode("utf-8", "surrogateescape")
    name = data[start:end].decode("utf-8", "surrogateescape")
    if has_code_behind and (span := code_behind(before, name, tail)):
        yield _in_bytes(tail, span, end)
    if has_code_ahead and (span := code_ahead(before, name)):
        yield _in_bytes(before, span, start - len(before.encode("utf-8", "surrogateescape")))


def code_line_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    """A short line that names a code and what it opens, and has a number."""
    data: bytes = match.string
    at = data.rfind(b"\n", max(0, match.start() - MAX_CODE_LINE_BYTES), match.start()) + 1
    end = data.find(b"\n", match.end(), match.end() + MAX_CODE_LINE_BYTES)
    line = data[at : end if end >= 0 else match.end() + MAX_CODE_LINE_BYTES]
    if not _FOUR_DIGITS.search(line) or len(line) > MAX_CODE_LINE_BYTES:
        return
    if _CODE_SYNTAX.search(line):
        return
    text = line.decode("utf-8", "surrogateescape")
    found = _CODE_LINE.search(text)
    if not found or not is_code(found["a"]):
        return
    is_year = len(found["a"]) == 4 and found["a"][:2] in {"19", "20"}
    if not is_year:
        yield _in_bytes(text, found.span("a"), at)


def _in_bytes(text: str, span: tuple[int, int], offset: int) -> tuple[int, int, str]:
    """A digit may have several bytes: `९७८४`."""
    first = offset + len(text[: span[0]].encode("utf-8", "surrogateescape"))
    value = text[span[0] : span[1]].encode("utf-8", "surrogateescape")
    return first, first + len(value), CODE_RULE.kind


def code_behind(before: str, name: str, tail: str) -> tuple[int, int] | None:
    """The span of a code in `tail`, if `name`, which ends `before + name`, is that of a secret code."""
    between = _BETWEEN.match(tail)
    digits = _DIGITS.match(tail, between.end()) if between else None
    if not between or not digits:
        return None
    named = _NAMES.search((before + name)[-48:] + _words(between[0])) or _NAMES.search(
        (before + name)[-48:]
    )
    if not named:
        return None
    if _OTHER_USE.search(named[0]) and not _VERB_OR_SIGN.search(between[0]):
        # `garage keypad 7634`, and nothing else in the line.
        rest = tail[digits.end() :].partition("\n")[0]
        if rest.strip() or between[0].strip() or not _SHORT_LINE.fullmatch(before):
            return None
    value = digits["a"]
    least = 3 if _CVV.search(named[0]) else 4
    is_year = len(value) == 4 and value[:2] in {"19", "20"} and not between[0].strip(" \"'`*")
    return digits.span("a") if is_code(value, least=least) and not is_year else None


def code_ahead(before: str, name: str) -> tuple[int, int] | None:
    """The span in `before` of a code that comes before its name: `482913 is your verification code`."""
    found = _FIRST.search(before)
    return (
        found.span("a")
        if found and is_code(found["a"]) and _NAMES.search((before + name)[-48:])
        else None
    )


def _words(between: str) -> str:
    """`code for the front door is`: the thing behind the word belongs to the name."""
    words = re.match(
        r"(?i)(?:[ ](?!is\b|ist\b|est\b|es\b|é\b|è\b|to\b|är\b|je\b)[\w’'-]{1,16}){1,4}", between
    )
    return words[0] if words else ""


def answer_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    value = match.group(1).decode("utf-8", "replace").rstrip(".")
    if is_weak_password(value) or is_plain_word(value):
        start = match.start(1)
        yield start, start + len(value.encode()), ANSWER_RULE.kind


def is_card_number(value: str) -> bool:
    """Whether the check digit (Luhn) is right, and the number is no sample of zeros."""
    digits = [int(char) for char in value if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 4:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
