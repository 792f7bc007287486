"""Names before values, as settings and code write them: `password = …`, `"apiKey": "…"`.

The name decides what its value must look like. Group 1 of a pattern is the name, and one of the
groups 2 to 5 the value.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from notewell.redaction.chosen import Place, is_certain, is_chosen
from notewell.redaction.name_words import head_of, is_joined_to_key, name_literals, name_patterns
from notewell.redaction.plausible import (
    MEDIUM,
    QUALIFIERS,
    STRONG,
    is_identifier,
    is_passphrase,
    is_random,
    is_token,
    password_strength,
    word_set,
)
from notewell.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_QUOTED_CHARS = 8
"""A shorter value behind `token` is a word or a number."""

Family: TypeAlias = Literal["password", "secret", "token", "api-key", "key"]
"""`key` is a key of unknown use (`cache_key`, `mistral_key`): its value must look random."""

# A value is the content of a quote, or the characters up to the next space. A quote may be
# escaped, as in JSON inside JSON, and may be left open.
_VALUE = (
    r"""(?:[@rbNLu]?\\{0,3}"([^"\n]+)|[@rbNLu]?\\{0,3}'([^'\n]+)|`([^`\n]+)|([^\s"'`,;<>|]+))"""
)
# `labels.py` has the names of passwords.
_MISSPELT = {
    **dict.fromkeys(("toekn", "tokne", "tkoen", "otken", "tokn", "tken", "tokken"), "token"),
    **dict.fromkeys(("secert", "secrte", "sercet", "serect", "sceret", "scret", "secrt", "seceret", "secrect"), "secret"),
    **dict.fromkeys(("kye", "keyy"), "key"),
    "acctok": "token", "apitok": "token", "authtok": "token", "tok": "token", "apisec": "secret", "clientsecert": "secret",
    "apikye": "apikey", "apkey": "apikey", "apykey": "apikey", "apikeey": "apikey",
}  # fmt: skip
_PARTS = ("secret", "token", "key", "credential", "auth", *sorted({*_MISSPELT} - {"tok"}), "_tok")
_OTHER_LETTERS = r"\x{aa}\x{b5}\x{c0}-\x{24f}\x{300}-\x{52f}\x{590}-\x{e7f}\x{10a0}-\x{10ff}\x{1e00}-\x{1fff}\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}"
_NAME = rf"((?:[a-z0-9_.-]*(?:{'|'.join(_PARTS)})[a-z0-9_-]*|\b(?:[a-z0-9]+_)*(?:pat|pin)|[a-z0-9]*(?-i:[a-z]P(?:at|in))))"
_OTHER_LETTERS = r"\x{aa}\x{b5}\x{c0}-\x{24f}\x{300}-\x{52f}\x{590}-\x{e7f}\x{10a0}-\x{10ff}\x{1e00}-\x{1fff}\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}"
# In other languages and spellings: rare, so it is a rule of its own.
_OTHER_NAME = (
    rf"([a-z0-9_.{_OTHER_LETTERS}-]*(?:{'|'.join(name_patterns())})[a-z0-9_{_OTHER_LETTERS}-]*)"
)
# What may close a name: quotes, brackets, an index, a remark, Markdown.
_CLOSED = r"""(?:\\{0,3}["'`])?[\])}]?(?:\[\d*\])?(?:[ ]\([^()\n]{1,24}\))?[`*]{0,3}"""
_TYPE = r"[?!]?:[ \t]*[a-z][a-z0-9_\[\]|., ]{0,30}?[ \t]*=[ \t]*"
_SIGN = r"[ \t]*(?:=>|:=|->|<-|→|={1,3}|[:：]|\||\?=|\{)\*{0,2}[ \t]*"
# `{"name": "API_KEY", "value": "…"}`, `<add key="…" value="…">`, `--name … --value …`.
_PAIR = (
    r"""["']?[ \t]*[,{>]?\s*(?:</\w+>\s*<|<)?(?:type\s*=\s*\w+\s*)?["']?(?:--)?(?:default|parameter)?[ _]?"""
    r"""(?:value|default|string|content)["'>]?[ \t]*[:=]?[ \t]*"""
)

NAME_RULES = (
    # First: the name is itself a value, behind `key=` or `"name":`.
    Rule(
        "",
        rf"""\b(?:key|name)["']?[ \t]*[:=][ \t]*["']?{_NAME}{_PAIR}""" + _VALUE,
        ("value",),
        any_case=True,
        proof="name",
        spans_lines=True,
        says='`{"name": "API_KEY", "value": "…"}`',
    ),
    Rule(
        "",
        _NAME + rf"(?:{_CLOSED}(?:{_SIGN}|{_TYPE})|{_PAIR}|[\"'][ \t]*,[ \t]*)" + _VALUE,
        (*_PARTS, "pat", "pin"),
        any_case=True,
        proof="name",
        says='a value behind a name: `password = …`, `"apiKey": "…"`',
    ),
    Rule(
        "",
        rf"<(?:[a-z]+>)?{_NAME}(?:</t[hd]>\s*<td|</dt>\s*<dd)?>\s*()()()([^\s<>]+)</",
        (),
        any_case=True,
        proof="name",
        says="the content of an element: `<password>…</password>`",
    ),
    Rule(
        "",
        _OTHER_NAME
        + rf"""(?:{_CLOSED}(?:{_TYPE}|{_SIGN})|{_PAIR}|[\"'][ \t]*,[ \t]*|(?:["'`\]]|</name)?>\s*(?:<\w+>)?|[ \t]*:[ \t]*(?:[|>][-+]?)?[ \t]*\r?\n[ \t]+)"""
        + _VALUE,
        name_literals(),
        any_case=True,
        proof="name",
        says="the same behind a name in another language or with a letter wrong: `klucz_api: …`, `credentails=…`",
    ),
    # A name that ends a line, and the value alone on the next one.
    Rule(
        "",
        _NAME
        + r"""(?:\\{0,3}["'`])?\*{0,2}[ \t]*[:：=]\*{0,2}[ \t]*(?:[|>][-+]?)?[ \t]*\r?\n\s*"""
        r"(?:```[a-z]*\s*\n)?[ \t>]*[\"'`]?()()()([^\s\"'`,;<>]+)[\"'`]?[ \t]*(?:\r?\n|$)",
        _PARTS,
        any_case=True,
        proof="name",
        spans_lines=True,
        says="a value alone on the line after its name",
    ),
)

_PASSWORDS = word_set(
    "password passwd passwort pwd passphrase passcode pass pw kennwort psk pincode userpass"
)
_NO_PASSWORD = word_set("bypass compass trespass surpass encompass overpass underpass multipass")
_SECRETS = word_set("secret secrets credential credentials creds clientsecret appsecret")
_TOKENS = word_set(
    "token authtoken accesstoken refreshtoken bearer jwt auth pat authorization apitoken bottoken"
)
_KEYS = word_set(
    "apikey accesskey secretkey authkey privatekey licensekey authkey subscriptionkey"
)
_OF_KEY = word_set(
    "api access auth secret private encryption signing account master service license admin"
    " webhook session shared app application client deploy hmac jwt cookie storage subscription"
    " licence recovery preshared decryption write routing integration server"
)
_NO_SECRET_KEY = word_set(
    "public pub primary foreign cache sort partition idempotency object row dict s3 map hash index"
    " unique composite group state query storage redis lookup dedup deduplication sorting routing"
    " config registry translation i18n message locale entry node reference ref ssh host commit"
)
_TRAILING = QUALIFIERS | word_set("string encrypted acceso accesso acesso acces")
_PARAMETER = re.compile(rb"&(?:amp;)?[A-Za-z_][A-Za-z0-9_.-]*=")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_HEXADECIMAL = re.compile(r"[0-9a-f]{16,}")
_LIST = re.compile(rb"[\"'][ \t]*,")
"""`["password", "token"]`: a list of names, or a call that sets one."""
MIN_DIFFERENT = 5
MAX_INDENT = 60
_BEFORE_SETTING = re.compile(rb"[ \t>+*|-]*+(?:export |<\w+> )?[\"'`*]{0,3}[ \t]*")
_BEHIND_SETTING = re.compile(rb"[ \t]*(?:\r?\n|$|[ ]#|[ ]//|[ ];|<)")
_QUOTED = (2, 3, 4)


@lru_cache(maxsize=8192)
def family_of(name: str) -> Family | None:
    """What a name says about its value; None for `tokens`, `keyboard`, `secretRef`, `tokenFile`.

    The last word decides: `api_token_count` is a count, `count_token` is a token.
    """
    family = _english_family_of(name)
    if family is not None:
        return family
    head = head_of(name)
    return "api-key" if head == "key" and is_certain(name) else head


def _english_family_of(name: str) -> Family | None:
    words = [_MISSPELT.get(word.lower(), word.lower()) for word in _HUMPS.findall(name)]
    while words and (words[-1] in _TRAILING or words[-1].isdigit()):
        words.pop()
    if "for" in words[1:]:
        words = words[: words.index("for", 1)]
    if not words or "public" in words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORDS or (last == "code" and before == "pin") or _ends_as_password(last):
        return "password"
    if last == "pin":
        return "password"
    if last.endswith("secret") or last in _SECRETS:
        return "secret"
    if last == "key" and before in {"secret", "private"}:
        return "secret"
    if last in _TOKENS or last.endswith("token"):
        return "token"
    if last in _KEYS or (last == "key" and before in _OF_KEY) or is_joined_to_key(last):
        return "api-key"
    return "key" if last == "key" and before not in _NO_SECRET_KEY else None


def _ends_as_password(word: str) -> bool:
    """`pgpassword`, `sshpass`, `rpcpassword`: run together, as environment variables are."""
    return word.endswith(("password", "passwd", "passphrase", "pwd")) or (
        word.endswith("pass") and word not in _NO_PASSWORD
    )


def is_named_secret(family: Family, value: str, *, quoted: bool) -> bool:
    """A name alone is no proof: `token: string` in documentation is no secret."""
    if family == "password":
        return password_strength(value) >= MEDIUM or (quoted and is_passphrase(value))
    if family == "key":
        return is_random(value)
    if quoted and _HEXADECIMAL.fullmatch(value) and not value.isdigit() and not value.isalpha():
        return len(set(value)) > MIN_DIFFERENT
    if quoted and len(value) >= MIN_QUOTED_CHARS and password_strength(value) == STRONG:
        return True
    return is_token(value) and (quoted or not is_identifier(value))


def is_quoted(match: Any) -> bool:
    return any(match.group(number) for number in _QUOTED)


def value_span(match: Any) -> tuple[int, int]:
    """The span of the value, without the characters that belong to the sentence around it."""
    group = next(number for number in (2, 3, 4, 5) if match.group(number))
    start, end = match.span(group)
    # An escaped quote leaves a backslash at the end; a sentence or a list leaves punctuation.
    value: bytes = match.group(group)
    trimmed = value.rstrip(b"\\") if group != 5 else _without_punctuation(value)
    return start, end - (len(value) - len(trimmed))


def _without_punctuation(value: bytes) -> bytes:
    """An unquoted value ends before the next parameter of a URL and before punctuation."""
    value = value.split(b"\\n", 1)[0] or value
    return _PARAMETER.split(value, maxsplit=1)[0].rstrip(b".,:;)]}*|\\")


def named_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    name = match.group(1).decode("utf-8", "replace")
    family = family_of(name)
    if family is None:
        return
    start, end = value_span(match)
    value = match.string[start:end].decode("utf-8", "replace")
    # In the environment nothing but a literal can be a value: `API_KEY=…` needs no quotes.
    # So does the content of an element, and `key=…` without spaces.
    sign = match.string[match.end(1) : match.end(1) + 1]
    is_literal = name.isupper() or sign == b"=" or match.group(0)[:1] == b"<"
    quoted = is_quoted(match) or is_literal
    if is_named_secret(family, value, quoted=quoted) or is_chosen(
        name, family, value, _place(match, name, start, end)
    ):
        yield start, end, "api-key" if family == "key" else family


def _place(match: Any, name: str, start: int, end: int) -> Place:
    data: bytes = match.string
    if data[end : end + 3] == b"..." or _LIST.match(data, match.end(1)):
        return "anywhere"
    first = match.start(1)
    if is_quoted(match) or b"<" in {match.group(0)[:1], data[first - 1 : first]}:
        return "quoted"
    line_start = max(
        data.rfind(b"\n", max(0, first - MAX_INDENT), first) + 1, first - MAX_INDENT, 0
    )
    before, behind = data[line_start:first], data[end : end + 3]
    is_alone = _BEHIND_SETTING.match(behind) is not None
    is_tight = data[match.end(1) : match.end(1) + 1] == b"="
    if is_tight and (name.isupper() or (is_alone and (not before or not name.isascii()))):
        return "environment"
    if is_alone and _BEFORE_SETTING.fullmatch(before):
        return "setting"
    is_flow = b"{" in before and behind[:1] in {b",", b"}"} and data[start - 1 : start] == b" "
    return "flow" if is_flow else "anywhere"
