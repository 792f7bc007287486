"""`password = …`, `"apiKey": "…"`, `token is …`: the name tells, the value is looked at twice."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from notewell.redaction.plausible import is_password, is_token, word_set
from notewell.redaction.rule import Rule

Family: TypeAlias = Literal["password", "secret", "token", "api-key"]

# A value is what a quote holds, or what stands up to the next space. A quote may be escaped, as in
# JSON inside JSON, and need not be closed.
_VALUE = r"""(?:\\{0,3}"([^"\n]+)|\\{0,3}'([^'\n]+)|`([^`\n]+)|([^\s"'`,;<>]+))"""
_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
_LATIN = ("kennwort", "contraseña", "mot de passe", "senha")
_OTHER = ("密码", "密碼", "口令", "密钥", "密鑰", "令牌", "パスワード", "비밀번호", "пароль")

RULES = (
    Rule(
        "",
        rf"([a-z0-9_.-]*(?:{'|'.join(_NAMES)})[a-z0-9_-]*)"
        r"""(?:\\{0,3}["'`])?\]?\*{0,2}[ \t]*(?:=>|:=|={1,3}|[:：])\*{0,2}[ \t]*""" + _VALUE,
        _NAMES,
        any_case=True,
        proof="name",
    ),
    Rule(
        "",
        r"<[a-z:.-]*(password|passwd|secret|token|api-?key)>\s*()()()([^\s<>]+)</",
        (">",),
        any_case=True,
        proof="name",
    ),
    # In prose a value is written in ASCII: without spaces between words it ends where they go on.
    Rule(
        "",
        r"(\b(?:pass ?word|pass ?phrase|pass ?code|passwd|pwd|token|secret|api key|passwort|"
        rf"{'|'.join(_LATIN)})|{'|'.join(_OTHER)})\*{{0,2}}\s*"
        r"(?:[:：=]| is | was | to | ist | es | est | é |是|为|為|は|는|은)\*{0,2}\s*"
        r"""["'`“”「『]?()()()([!#-&(-+\--:=?-_a-~]+)""",
        ("pass", "pwd", "token", "secret", "api key", *_LATIN, *_OTHER),
        any_case=True,
        proof="prose",
    ),
)
"""Group 1 is the name, one of the groups 2 to 5 the value; its family is the kind."""

_PASSWORDS = word_set("password passwd passwort pwd passphrase passcode pass pw kennwort")
_SECRETS = word_set("secret secrets credential credentials clientsecret appsecret")
_TOKENS = word_set("token authtoken accesstoken refreshtoken bearer jwt auth pat")
_KEYS = word_set("apikey accesskey secretkey authkey privatekey licensekey")
_OF_KEY = word_set(
    "api access auth secret private encryption signing account master service license admin"
    " webhook session shared app application client deploy hmac jwt cookie storage subscription"
)
_TRAILING = word_set(
    "prod production dev development staging stage test testing live base old new current main"
    " primary secondary default plain"
)
_PARAMETER = re.compile(rb"&(?:amp;)?[A-Za-z_][A-Za-z0-9_.-]*=")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def family_of(name: str) -> Family | None:
    """What a name says of its value; None for `tokens`, `keyboard`, `secretRef`, `tokenFile`."""
    words = [word.lower() for word in _HUMPS.findall(name)]
    while words and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS:
        return "password"
    if last in _SECRETS or (last == "key" and before in {"secret", "private"}):
        return "secret"
    if last in _TOKENS:
        return "token"
    if last in _KEYS or (last == "key" and before in _OF_KEY):
        return "api-key"
    return None


def said_family(name: str) -> Family:
    """Of a name in prose, in any of the languages we know a few words of."""
    lowered = name.lower()
    if lowered in {"token", "令牌"}:
        return "token"
    if lowered in {"secret", "密钥", "密鑰"}:
        return "secret"
    return "api-key" if lowered == "api key" else "password"


def is_plausible(family: Family, value: str) -> bool:
    return is_password(value) if family == "password" else is_token(value)


def value_span(found: Any) -> tuple[int, int]:
    """Where the value stands: in the group of its quotes, without what belongs to the sentence."""
    group = next(number for number in (2, 3, 4, 5) if found.group(number))
    start, end = found.span(group)
    # An escaped quote leaves its backslash behind; a sentence or a list leaves its marks.
    value: bytes = found.group(group)
    kept = value.rstrip(b"\\") if group != 5 else _without_marks(value)
    return start, end - (len(value) - len(kept))


def _without_marks(value: bytes) -> bytes:
    """A value without quotes ends before the next parameter of an address, and before a stop."""
    return _PARAMETER.split(value, maxsplit=1)[0].rstrip(b".,:;)]}*|\\")
