"""Names and values as languages and programs' files declare them, with a type, a call or a directive between.

    let api_key: &str = "…"      key = SecretStr("…")      setValue("…", forKey: "token")      SetEnv DB_PASS …

The patterns find any identifier; `names.py` and `labels.py` say whether it is the name of a secret.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from notewell.redaction.chosen import Place, is_chosen
from notewell.redaction.labels import is_password_label
from notewell.redaction.names import Family, family_of, is_named_secret
from notewell.redaction.plausible import MEDIUM, STRONG, is_random, password_strength
from notewell.redaction.rules import Rule
from notewell.redaction.weak_values import is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterator

TELLING = (
    "pass", "pwd", "pw", "psk", "secret", "secer", "psswo", "token", "tok", "key", "cred", "kennwort", "mdp", "senha", "wachtwoord", "heslo",
    "haslo", "clave", "contrase", "parol", "jelsz", "sifre", "lozink", "geslo", "salasana", "senord", "adgangskode", "kodeord", "sandi",
    "mima", "geheim", "pswd", "sifra", "losung", "matkhau", "mat_khau", "slaptaz", "zaporka", "contra", "psw",
)  # fmt: skip
"""A text without any of these has no name of a secret in Latin letters."""

_ENDS = (
    "word",
    "phrase",
    "secret",
    "token",
    "key",
    "pass",
    "pwd",
    "pw",
    "credential",
    "credentials",
    "pin",
)
"""How most names of secrets end: a literal that chooses a block needs more than a sign."""


def _before(*signs: str) -> tuple[str, ...]:
    return tuple(f"{end}{sign}" for end in _ENDS for sign in signs)


# No counted repetitions: they make the automaton large, and slow.
_NAME = rf"(?P<name>[\w.-]*(?:{'|'.join(TELLING)})[\w.-]*)"
_VALUE = r"(?:\"(?P<a>[^\"\n]+)\"|'(?P<b>[^'\n]+)'|`(?P<c>[^`\n]+)`)"
_TYPE = (
    r"(?:\??[ ]?:[ ]?[&A-Za-z][\w&'<>\[\]?. |,]*?|[ ]as[ ]\w+|[ ]\[?\]?(?:string|byte)|[ ]?\{[ ]?get;[^{}\n]*\}"
    r"|\[\d*\]|\[\])"
)
_WRAPPER = (
    r"(?:(?:new[ ])?[\w.:]*(?:from|some|ok|secret\w*|new|field|bytes?|just|sensitive|literal|of|default=|into|raw|str)!?\({1,2}(?:default=)?|(?:[a-z]\w*\.)?pack[ ]"
    r"|\[\]byte\(|\(|\[|\{[ ]?(?:\"?value\"?[ ]?:[ ]?)?|<!\[CDATA\[|[frub]{1,2}|'''?|\"\"\"?)"
)
_SIGN = r"[\"']?[ \t]*(?:=>|:=|\?\?=|\|\|=|=|:)[ \t]*"
_LINE = r"(?m)^[ \t>+|-]*(?:\d+[ ]+)?"
_BETWEEN = r"[\s>+\d]*"
_CONTENT = r"\s*(?P<d>[^\s<>]+)\s*"
_OTHER = _NAME.replace("<name>", "<other>")
_BARE = r"(?P<d>[^\s\"'`;<>]+)"

DECLARED_RULES = (
    Rule(
        "",
        rf"{_NAME}(?:{_TYPE}[ \t]*:?=[ \t]*{_WRAPPER}?|{_SIGN}{_WRAPPER}){_VALUE}",
        (),
        any_case=True,
        proof="declared",
        says='a declared value: `let api_key: &str = "…"`, `token = SecretStr("…")`',
    ),
    Rule(
        "",
        rf"[\"']{_NAME}[\"'][)\]]{{1,2}}[^\n\"'`]*?(?:=|unwrap_or\w*\((?:\|_?\|[ ]?)?|\{{|\|\||\?\?|[ ]or)[ ]?{_VALUE}",
        (
            "unwrap_or",
            "'] =",
            '"] =',
            "') {",
            "')) ",
            '")) ',
            "'] :=",
            "').",
            "'] ||",
            "') ||",
            '") ||',
            '"] ??',
        ),
        any_case=True,
        proof="declared",
        says='what is used where a setting is missing: `env::var("DB_PASS").unwrap_or("…")`',
    ),
    Rule(
        "",
        rf"\(\s?{_VALUE}\s*,\s*(?:for\w+|\w*key|\w*name)[ ]?:[ ]?[\"']{_NAME}[\"']",
        ("forkey", "forhttp", "key:", "name:"),
        any_case=True,
        proof="declared",
        says='`setValue("…", forHTTPHeaderField: "X-Token")`',
    ),
    Rule(
        "",
        rf"\bvalue[\"']?\s*[:=]\s*{_VALUE}\s*(?:,\s*)?(?:where\s+)?[\"'`]?\w*(?:name|key|id|setting)[\"'`]?\s*[:=]\s*[\"']{_NAME}[\"']",
        ('value"', "value=", "value ="),
        any_case=True,
        proof="declared",
        spans_lines=True,
        says='the value first: `{"value": "…", "name": "API_KEY"}`, `SET value = \'…\' WHERE name = \'token\'`',
    ),
    Rule(
        "",
        rf"\bprintf[ ]+(?:-v[ ]+{_NAME}[ ]+[\"']%s[\"']|[\"'](?P<other>[A-Za-z_]\w+)=%s(?:\\n)?[\"'])[ ]+(?:{_VALUE}|{_BARE})",
        ("printf",),
        proof="declared",
        says="`printf 'DB_PASS=%s\\n' …`",
    ),
    Rule(
        "",
        rf"{_LINE}(?:setenv|fastcgi_param|uwsgi_param|proxy_set_header|add_header|requestheader[ ]+set|http-request[ ]set-header|set[ ]+-g?x|set|setx|env|config[ ]set)[ \t]+[\"':$]?"
        rf"{_NAME}[\"']?,?[ \t]+(?:{_VALUE}|{_BARE});?[ \t]*(?:/m)?[ \t]*\r?$",
        (
            "setenv",
            "_param ",
            "_header ",
            "requestheader",
            "set-header",
            "set -",
            "set $",
            "set :",
            "setx ",
            "config set",
        ),
        any_case=True,
        proof="declared",
        says="a directive of a server or a shell: `SetEnv DB_PASS …`, `fastcgi_param TOKEN …;`",
    ),
    Rule(
        "",
        rf"{_LINE}{_NAME}[ \t]+(?:{_VALUE}|{_BARE})[ \t]*(?:;|$)",
        (),
        any_case=True,
        proof="directive",
        says="a directive that is the name itself: `auth_token …;`",
    ),
    Rule(
        "",
        rf"<(?:name|key|string)>{_NAME}</\w+>{_BETWEEN}<\w+[^<>\n]*>{_CONTENT}</",
        ("</name>", "</key>"),
        any_case=True,
        proof="declared",
        spans_lines=True,
        says="`<key>token</key><string>…</string>`, also in a quoted mail",
    ),
    Rule(
        "",
        rf"(?:name|key)=[\"']{_NAME}[\"'][^<>\n]*>{_BETWEEN}<value>{_CONTENT}</|<{_OTHER}>\s*<!\[CDATA\[(?P<e>[^\]\n]+)\]\]>",
        ("<value>", "cdata"),
        any_case=True,
        proof="declared",
        spans_lines=True,
    ),
    Rule(
        "",
        rf"\bvariable[ ]+[\"']{_NAME}[\"'][ ]*\{{[^{{}}]*?\bdefault[ ]*=[ ]*{_VALUE}",
        ("variable",),
        proof="declared",
        spans_lines=True,
        any_case=True,
        says='`variable "db_pass" { default = "…" }` of Terraform',
    ),
    Rule(
        "",
        rf"[\"'](?:name|key)[\"']\s*:\s*[\"']{_NAME}[\"']\s*,[^{{}}]*?[\"'](?:default)?value[\"']\s*:\s*{_VALUE}",
        ('value"',),
        proof="declared",
        spans_lines=True,
        any_case=True,
    ),
    Rule(
        "",
        rf"(?m)^[ \t>+]*\**{_NAME}\**[ \t]*\r?\n[ \t>+]*:[ ]+`?{_BARE}`?[ \t]*\r?$",
        ("\n:", "\n> :", "\n+:"),
        proof="declared",
        spans_lines=True,
        any_case=True,
        says="a term and its definition",
    ),
    Rule(
        "",
        rf"&quot;{_NAME}&quot;[ ]?:[ ]?&quot;(?P<d>[^\s&<>]+)&quot;",
        ("&quot;",),
        proof="declared",
        any_case=True,
    ),
    Rule(
        "",
        rf"\{{[ ]?{_NAME}[ ]?,[ ]?(?:<<)?\"(?P<a>[^\"\n]+)\"(?:>>)?[ ]?\}}",
        ('"},', '"}.', '">>}', '"}]', '"}\n', *_before(', "', ', <<"', ',"', ',<<"')),
        any_case=True,
        proof="declared",
        says='a tuple: `{db_pass, <<"…">>}`',
    ),
    Rule(
        "",
        r"\((?:def|defvar|defparameter|defconst|defcustom|setq|define)[ ]+(?P<name>[^\s\"()]+)[ ]+\"(?P<a>[^\"\n]+)\"",
        ("(def", "(setq"),
        proof="declared",
        says='a form: `(def auth-token "…")`',
    ),
    Rule(
        "",
        r"\[[\"'](?P<name>[^\"'\n]+)[\"'](?::\w+)?\]=>\s*string\(\d+\)[ ]\"(?P<a>[^\"\n]+)\"",
        ("string(",),
        proof="declared",
        spans_lines=True,
        says="`var_dump` of PHP",
    ),
    Rule(
        "",
        r"@Value\([\"']\$\{(?P<name>[\w.-]+):(?P<a>[^\s}\"'$]+)\}",
        ("@Value(",),
        proof="declared",
        says='`@Value("${db.password:…}")`',
    ),
    Rule(
        "",
        r"\blet!?\(:(?P<name>\w+)\)[ ]?\{[ ]?[\"'](?P<a>[^\"'\n]+)[\"']|\badd_argument\([^)\n]*?[\"']--(?P<other>[\w-]+)[\"'][^)\n]*?default=[\"'](?P<b>[^\"'\n]+)[\"']",
        ("let(:", "let!(:", "add_argument("),
        proof="declared",
        says="`let(:db_password) { '…' }`, `add_argument('--token', default='…')`",
    ),
    Rule(
        "",
        r"\{(?:[A-Z]\w*:[^\s{}]*[ ])*(?P<name>[A-Z]\w*(?:Pass|Password|Secret|Token|Key|Pwd|Passwd|Passphrase)|Pass|Password|Secret|Token|Pwd):(?P<a>[^\s{}]+)(?:[ ]\w+:|\})",
        ("Pass:", "Password:", "Secret:", "Token:", "Key:", "Pwd:", "Passwd:", "Passphrase:"),
        proof="declared",
        says="`{User:anna Pass:…}` of Go",
    ),
    Rule(
        "",
        r"(?:^|[\s{(]):(?P<key>[\w-]*(?:pass|secret|token|key|pwd)[\w-]*)[ ]+\"(?P<c>[^\"\n]+)\"",
        (
            *(
                f":{word}"
                for word in (
                    "pass",
                    "secret",
                    "token",
                    "api-",
                    "db-",
                    "auth-",
                    "client-",
                    "access-",
                    "smtp-",
                    "private-",
                    "signing-",
                    "deploy-",
                )
            ),
        ),
        any_case=True,
        proof="declared",
        says='`:secret "…"`',
    ),
    Rule(
        "",
        rf"\b(?:set|change|update|rotate|reset|put|export|assign|switch)\w{{0,2}}[ ]+[`\"']?{_NAME}[`\"']?[ ]+(?:to|as)[ ]+(?:{_VALUE}|{_BARE})",
        _before(" to ", "` to ", "' to ", '" to ', " as ", "` as "),
        any_case=True,
        proof="declared",
        says="`set webhook_secret to …`",
    ),
    Rule(
        "",
        rf"\[{_NAME}\][ ]{{1,2}}(?:{_VALUE}|{_BARE})|(?m)^[ \t>+-]*{_OTHER}\|(?P<e>[^\s|\"'`;<>]+)\|?[ \t]*$",
        _before("] ", "|"),
        any_case=True,
        proof="declared",
        says="`[password] …`, `password|…`",
    ),
    Rule(
        "",
        rf"\b(?:key|name)[ ]?=[ ]?{_NAME}[ ]?[,;][ ]?(?:value|val)[ ]?=[ ]?(?:{_VALUE}|{_BARE})|\b(?:key|name):[ ]*[\"']?{_OTHER}[\"']?[ ]*[\n,;][ \t>]*(?:value|val):[ ]*(?P<e>[^\s\"'`;<>]+)[ \t]*(?:[\r\n]|$)",
        (",value", ", value", ";value", "; value", "value:", "val:"),
        any_case=True,
        spans_lines=True,
        proof="declared",
        says="`Key=…,Value=…`, `name:` and `value:` on lines of their own",
    ),
    Rule(
        "",
        rf"(?:/\*[ ]?{_NAME}[ ]?\*/[ ]?{_VALUE})",
        ("/*",),
        any_case=True,
        proof="declared",
        says="an argument behind a comment that names it",
    ),
)


@lru_cache(maxsize=4096)
def secret_kind(name: str) -> Family | None:
    """What a value of that name is: `password`, `token`, …; None where the name says nothing."""
    name = name.lstrip("_-.$")
    if is_password_label(name):
        return "password"
    return family_of(name)


def declared_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    groups = match.groupdict()
    name = _text(groups.get("name") or groups.get("other") or groups.get("key"))
    kind = secret_kind(name)
    found = next((name for name in "abcde" if groups.get(name)), None)
    if kind is None or found is None:
        return
    value = _text(groups[found])
    place: Place = "quoted" if found in "abc" else "setting"
    if is_declared_secret(kind, value) or is_chosen(name, kind, value, place):
        yield (*match.span(match.re.groupindex[found]), "api-key" if kind == "key" else kind)


def directive_spans(match: Any, _: Rule) -> Iterator[tuple[int, int, str]]:
    """A line of a name and a value may be a line of prose: one of both must be unmistakable."""
    groups = match.groupdict()
    name = _text(groups["name"])
    kind = secret_kind(name)
    found = next((one for one in "abcd" if groups.get(one)), None)
    if kind is None or found is None:
        return
    value = _text(groups[found])
    is_setting = match.group(0).endswith(b";") and "_" in name
    if kind == "password":
        is_secret = is_weak_password(value) and (is_setting or password_strength(value) >= STRONG)
    else:
        is_secret = is_declared_secret(kind, value) and ("_" in name or is_random(value))
    if is_secret:
        yield (*match.span(match.re.groupindex[found]), "api-key" if kind == "key" else kind)


def is_declared_secret(kind: str, value: str) -> bool:
    """A password may be weak here; a token is what a machine made."""
    if kind == "password":
        return is_weak_password(value)
    if kind == "key":
        return is_random(value)
    return is_named_secret("token", value, quoted=True) or is_short_token(value)


def is_short_token(value: str) -> bool:
    """`FOl3i0SxC`, `k7!pRZh95qs`: too short or too odd for `is_token`, but nobody's word."""
    return 8 <= len(value) <= 200 and password_strength(value) >= MEDIUM and not value.isalpha()


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
