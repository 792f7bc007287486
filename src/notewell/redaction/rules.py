"""What a rule is, and the rules that are not bound to a vendor.

    CERTAIN_RULES     standard formats: JWT, PuTTY keys, Kubernetes secrets
    PASSWORD_RULES    URLs, command lines, configuration files
    HEADER_RULES      HTTP headers and cookies
    NAME_RULES        `password = …`, `"apiKey": "…"`, `token is …`: the name before a value
    private keys      armoured blocks, on many lines, on one line, or with `\\n` written out

Patterns run on RE2, which has no look-around and never backtracks: its time is linear in the
text, so no input can make it slow. Group 1 of a pattern is the secret, except in `NAME_RULES`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.redaction.plausible import word_set

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGINS = r"(?:\b|\\[nrt])"
"""Where a token may begin. In pasted JSON a line break is two characters, `\\n`."""


Proof: TypeAlias = Literal["shape", "random", "password", "address", "name", "prose"]
"""What proves that a match is a secret:

shape      the pattern alone
random     the pattern, and the value looks generated
password   the pattern, and the value looks like a password
address    its place in a URL
name       the name before it in a setting: `password = …`
prose      the name before it in a sentence: `the token is …`
"""


class Rule(NamedTuple):
    """One kind of secret, by its shape."""

    kind: str
    """As it appears in the mask: `github-token`."""
    pattern: str
    literals: tuple[str, ...]
    """A text without any of these has no such secret, so the pattern does not run. They are
    case-sensitive unless `any_case`."""
    any_case: bool = False
    """Whether literals and pattern ignore case."""
    proof: Proof = "shape"


def token(kind: str, prefixes: str, body: str) -> Rule:
    """A rule for a token that starts with one of `prefixes` (separated by spaces)."""
    literals = tuple(prefixes.split())
    any_prefix = "|".join(re.escape(prefix) for prefix in literals)
    return Rule(kind, rf"{BEGINS}((?:{any_prefix}){body})", literals)


# -- standard formats, passwords, headers --------------------------------------------------------

_UNQUOTED = r"""["'`]?([^\s"'`<>|;]+)"""

CERTAIN_RULES = (
    Rule(
        "jwt",
        BEGINS + r"(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        ("eyJ",),
    ),
    # A JWT that was base64-encoded a second time: `ZXlK` is `eyJ` in base64.
    Rule("jwt", BEGINS + r"(ZXlK[A-Za-z0-9+/_-]{60,}={0,2})", ("ZXlK",)),
    Rule(
        "putty-key",
        r"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{64}\s+)*[A-Za-z0-9+/=]{1,64})",
        ("Private-Lines:",),
    ),
    # The keys of a Kubernetes Secret are arbitrary names, so all of its values are masked.
    Rule(
        "kubernetes-secret",
        r"(?s)\bkind:\s*[\"']?Secret\b.*?\n(?:d|stringD)ata:[ \t]*\n"
        r"((?:[ \t]+[\w.-]+:[^\n]*\n)*[ \t]+[\w.-]+:[^\n]*)",
        ("Secret",),
    ),
    Rule(
        "kubernetes-secret",
        r"client-key-data:\s*([A-Za-z0-9+/]{40,}={0,2})",
        ("client-key-data:",),
    ),
)

PASSWORD_RULES = (
    # The user may be empty (`redis://:secret@host`). The password ends at the last `@` before the
    # path, because people do not escape an `@` inside it.
    Rule(
        "url-password",
        r"[a-z][a-z0-9+.-]*://[^\s/:@\"'`<>]*:([^\s/\"'`<>]+)@",
        ("://",),
        any_case=True,
        proof="address",
    ),
    Rule(
        "settings-password",
        r"""key=["'][A-Za-z]*[Pp]assword["']\s+value=["']([^"'\s]+)""",
        ("assword",),
        proof="password",
    ),
    Rule("netrc-password", r"\blogin\s+\S+\s+password\s+(\S+)", ("login",), proof="password"),
    Rule(
        "command-password",
        r"\bcurl\b[^\n|;&]*\s(?:-u|--user)[ =]" + r"""["']?[^\s:"']+:([^\s"']+)""",
        ("curl",),
        proof="password",
    ),
    Rule("command-password", r"\bsshpass\s+-p\s*" + _UNQUOTED, ("sshpass",), proof="password"),
    Rule(
        "command-password",
        r"(?:^|[\s\"'`])--?(?:password|passwd|pass|passphrase|token|secret|api-key|access-key"
        r"|auth-token)[ =]+" + _UNQUOTED,
        ("--",),
        proof="password",
    ),
)

HEADER_RULES = (
    Rule(
        "authorization",
        r"\bauthorization[\"'\\]*[ \t]*[:=][ \t]*[\"'\\]*(?:bearer|basic|token|bot|apikey|key)\s+"
        r"([A-Za-z0-9._~+/=:-]{8,})",
        ("authorization",),
        any_case=True,
        proof="random",
    ),
    Rule(
        "bearer-token",
        r"\bbearer\s+([A-Za-z0-9._~+/=-]{16,})",
        ("bearer",),
        any_case=True,
        proof="random",
    ),
    Rule(
        "cookie",
        r"\b(?:set-)?cookie:[ \t]*(?:[^\s;=]+=[^\s;]*;[ \t]*)*?"
        r"[^\s;=]*(?:sess|token|auth|sid)[^\s;=]*=([^\s;\"']{16,})",
        ("cookie:",),
        any_case=True,
        proof="random",
    ),
)


# -- values behind a name ------------------------------------------------------------------------

Family: TypeAlias = Literal["password", "secret", "token", "api-key"]

# A value is the content of a quote, or the characters up to the next space. A quote may be
# escaped, as in JSON inside JSON, and may be left open.
_VALUE = r"""(?:\\{0,3}"([^"\n]+)|\\{0,3}'([^'\n]+)|`([^`\n]+)|([^\s"'`,;<>]+))"""
_NAMES = ("pass", "pwd", "secret", "token", "key", "credential", "auth")
_LATIN = ("kennwort", "contraseña", "mot de passe", "senha")
_OTHER = ("密码", "密碼", "口令", "密钥", "密鑰", "令牌", "パスワード", "비밀번호", "пароль")

NAME_RULES = (
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
    # In prose a value is ASCII only: Chinese and Japanese have no spaces between words, so the
    # value ends where their characters begin.
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
"""Group 1 is the name, and one of the groups 2 to 5 the value. The family is the kind."""

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
    """What a name says about its value; None for `tokens`, `keyboard`, `secretRef`, `tokenFile`.

    The last word decides: `api_token_count` is a count, `count_token` is a token.
    """
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


def family_in_prose(name: str) -> Family:
    """The family of a name in prose, in any of the languages of `NAME_RULES`."""
    lowered = name.lower()
    if lowered in {"token", "令牌"}:
        return "token"
    if lowered in {"secret", "密钥", "密鑰"}:
        return "secret"
    return "api-key" if lowered == "api key" else "password"


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
    return _PARAMETER.split(value, maxsplit=1)[0].rstrip(b".,:;)]}*|\\")


# -- armoured private keys -----------------------------------------------------------------------

MAX_BLOCK_BYTES = 64 * 1024
"""A PGP key with many parts has about 10 kB; a larger block is parts of two different ones."""

_KEY_LITERAL = b"PRIVATE KEY"
_FENCE = r"-----(BEGIN|END) [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_RUN = r"[A-Za-z0-9+/=]{16,}"
# Headers (`Proc-Type: 4,ENCRYPTED`) may come first; lines may be quoted (`> `).
_BODY = (
    r"(?:(?:\s|\\[nr]|>|[A-Z][A-Za-z-]+: [^\n]{1,80}\n)*[A-Za-z0-9+/=]{16,})+"
    r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/]+={1,2})?"
)


def find_private_keys(data: bytes) -> Iterator[tuple[int, int]]:
    """The span of each block, in bytes, in one pass.

    A closed block goes from BEGIN to END. A block that was cut off goes as far as it looks like
    key data, so that the text after it stays readable.
    """
    if _KEY_LITERAL not in data:
        return
    fence, run, body = _key_patterns()
    fences = list(fence.finditer(data))
    for fence_match, after in zip_longest(fences, fences[1:]):
        if fence_match.group(1) != b"BEGIN":
            continue
        if _closes(fence_match, after):
            # Documentation that shows the shape of a key (`BEGIN … END`) has no data in between.
            if run.search(data, fence_match.end(), after.start()):
                yield fence_match.start(), after.end()
            continue
        limit = after.start() if after else len(data)
        key_data = body.match(
            data, fence_match.end(), min(limit, fence_match.end() + MAX_BLOCK_BYTES)
        )
        if key_data:
            yield fence_match.start(), key_data.end()


def _closes(fence_match: Any, after: Any) -> bool:
    if after is None or after.group(1) != b"END":
        return False
    return bool(after.start() - fence_match.end() <= MAX_BLOCK_BYTES)


@cache
def _key_patterns() -> tuple[Any, Any, Any]:
    import re2  # type: ignore[import-untyped]

    return re2.compile(_FENCE), re2.compile(_RUN), re2.compile(_BODY)
