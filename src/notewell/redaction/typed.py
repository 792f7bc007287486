"""Secrets as people type them: at prompts, in protocols, through pipes, as arguments of a call."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.around import look_of
from notewell.redaction.plausible import MEDIUM, password_strength
from notewell.redaction.rules import Rule
from notewell.redaction.weak_values import is_weak_password

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTEXT_BYTES = 240
_VALUE = r"""["'`]?([^\s"'`<>|;]+)"""
_READERS = r"(?:secret|passw|pass\b|-stdin|login|sudo\b[^\n]{0,20}-S|\bsu\b|cryptsetup|kinit|\bgpg|openssl|vault|keyring|smbpasswd|auth|credential|ssh-add|ansible-vault|age\b)"

_ARGUMENT = r"(?:[\w.$\[\]]+|[\"'][^\"'\n]{0,120}[\"'])"

TYPED_RULES = (
    Rule(
        "command-password",
        rf"\b(?:echo|printf|yes)[ \t]+(?:-\w+[ \t]+)*[\"']?(?:%s\S*[\"']?\s+[\"']?)?([^\s\"'|<>]+)[^\n|]{{0,80}}?\|[^\n]{{0,80}}?{_READERS}",
        ("echo", "printf", "yes "),
        proof="typed",
        says="`echo … | docker secret create db -`, `printf … | passwd --stdin`",
    ),
    Rule(
        "command-password",
        rf"{_READERS}[^\n]{{0,80}}?<<<\s*{_VALUE}",
        ("<<<",),
        proof="typed",
        says="`kinit anna <<< …`",
    ),
    Rule(
        "command-password",
        rf"{_READERS}[^\n]{{0,60}}?<\((?:echo|printf)\s+(?:-\w+\s+)*{_VALUE}",
        ("<(echo", "<(printf"),
        proof="typed",
        says="`docker secret create db <(echo …)`",
    ),
    Rule(
        "prompt-answer",
        r"(?:\bsend(?:line|_user|-keys|text)?\s*\(?\s*(?:--\s+|-l\s+)?|\.(?:write|type|fill|send_?keys|input|respond|sendall)\(\s*)b?[\"']([^\s\"']+?)(?:\\[rn])*[\"']",
        ("send", ".write(", ".type(", ".fill(", "keys(", ".input(", ".respond("),
        proof="typed",
        says="the answer of a script to a prompt for a password: `send \"…\\r\"`",
    ),
    Rule(
        "protocol-password",
        r"(?m)^[^\n]{0,24}?\bPASS[ \t]+:?([^\s\"']+)[ \t]*(?:\\r\\n)?[\"']?\r?$",
        ("PASS ",),
        proof="typed",
        says="`USER anna`, `PASS …` of FTP, POP3 and IRC",
    ),
    Rule(
        "protocol-password",
        r"(?m)^[^\n]{0,12}?\b[a-zA-Z]{1,4}\d{0,5}[ ]LOGIN[ ]\"?[\w.@+-]+\"?[ ]\"?([^\s\"]+)",
        ("LOGIN ",),
        proof="weak",
        says="`a1 LOGIN anna …` of IMAP",
    ),
    Rule(
        "protocol-password",
        r"(?m)(?:^[\s>*$#-]*|[>\"'`] ?)AUTH[ \t]+(?:[\w.@-]+[ \t]+)?[\"']?([^\s\"'`<>|]+)[\"'`]?[ \t]*(?:$|[\"'`])",
        ("AUTH ",),
        proof="weak",
        says="`AUTH anna …` of Redis, `AUTH PLAIN …` of SMTP",
    ),
    Rule(
        "argument-password",
        r"\b(?:\w*log_?in|auth|authenticate|\w*basic_?auth|\w*credentials?|sign_?in|changeUserPassword|create_?User|set_password|check_password)"
        rf"\s*(?:[=:]\s*)?\(\s*{_ARGUMENT}\s*,\s*[\"']([^\"'\n\s]{{4,80}})[\"']\s*[,)]",
        (
            "login(", "log_in(", "auth(", "auth=(", "auth = (", "auth: (", "authenticate(", "credentials(", "credential(", "signin(", "sign_in(",
            "userpassword(", "createuser(", "create_user(", "_password(",
        ),
        any_case=True,
        proof="weak",
        says="user and password as arguments: `imap.login('anna', '…')`",
    ),
    Rule(
        "argument-password",
        r"(?:\b|_)(?:getConnection|pdo|connect|connection)\s*\(\s*"
        rf"{_ARGUMENT}\s*,\s*{_ARGUMENT}\s*,\s*[\"']([^\"'\n\s]{{4,80}})[\"']\s*[,)]",
        ("getconnection(", "pdo(", "connect(", "connection("),
        any_case=True,
        proof="argument",
        says="address, user and password as arguments: `getConnection(url, \"anna\", \"…\")`",
    ),
    Rule(
        "sql-password",
        r"\b(?:create|alter|grant)\b[^\n]{1,80}?\bidentified\s+(?:with\s+[\w\"'`]+\s+)?(?:by|as)\s+(?:password\s+)?\"?([^\s\"';]+)[;\s\"]?",
        ("identified",),
        any_case=True,
        proof="weak",
    ),
    Rule(
        "command-password",
        r"(?m)(?:\b(?:sqlplus|impdp|expdp|rman|sqlldr)\b(?:\s+[\w=-]+){0,3}?|\b(?:imp|exp)|^[\s$>`SQL]*(?:connect|conn))\s+[\"']?[\w$#.-]+/[\"']?([^\s\"'@/]+)",
        ("sqlplus", "impdp", "expdp", "imp ", "exp ", "rman", "sqlldr", "connect ", "conn "),
        any_case=True,
        proof="weak",
        says="user and password of Oracle's programs: `sqlplus anna/…@db`",
    ),
    Rule(
        "command-password",
        r"\b(?:bw\s+login|mega-login|rclone\s+(?:obscure|config\s+create\s[^\n]*?\bpass)|security\s+add-(?:generic|internet)-password\b[^\n]*?\s-w|vncpasswd\s+-f|onedrive\s+login)"
        rf"(?:\s+[\w.+-]+@[\w.-]+)?\s+{_VALUE}",
        ("bw login", "mega-login", "rclone", "add-generic-password", "add-internet-password"),
        proof="weak",
    ),
    Rule(
        "argument-password",
        rf"\b(?:PlainAuth|WiFi\.begin|jwt\.sign|jwt\.encode|createHmac|hmac\.new|createCipher|basicAuth|setBasicAuth|SetBasicAuth|UsernamePassword\w*|PasswordAuthentication)\s*\((?:\s*{_ARGUMENT}\s*,){{1,2}}?\s*b?[\"']([^\"'\n\s]{{6,80}})[\"']\s*[,)]",
        ("PlainAuth(", "jwt.sign(", "jwt.encode(", "WiFi.begin(", "createHmac(", "hmac.new(", "createCipher(", "asicAuth(", "UsernamePassword", "PasswordAuthentication("),
        proof="argument",
    ),
    Rule(
        "list-password",
        r"(?m)^[ \t>+\d]*[\w.@-]+[ ]+(?:\*|:[ ]*(?:EAP|PSK|XAUTH|RSA))[ ]+[\"']?([^\s\"'*]{4,})[\"']?(?:[ ]+\*)?[ ]*$",
        (" * ", "EAP", "XAUTH", ": PSK"),
        proof="argument",
        says="`anna : EAP \"…\"` of ipsec.secrets, `anna * … *` of pap-secrets",
    ),
    Rule(
        "list-password",
        r"chpasswd:\s*\{?[^\n]{0,40}?list:[^\n]{0,6}?[\"']?[\w.-]+:([^\s\"']+)",
        ("chpasswd:",),
        proof="weak",
    ),
)  # fmt: skip

_ASKED = re.compile(rb"(?i)assword|assphrase|passcode|\bpin\b|kennwort|sudo|login:|mot de passe")
_USER = re.compile(rb"(?m)^[^\n]{0,24}?\b(?:USER|NICK)[ \t]")


def typed_spans(match: Any, rule: Rule) -> Iterator[tuple[int, int, str]]:
    value = match.group(1).decode("utf-8", "surrogateescape").partition("\\n")[0]
    data: bytes = match.string
    near = data[max(0, match.start() - CONTEXT_BYTES) : match.end() + 60]
    match rule.kind:
        case "prompt-answer":
            is_asked = _ASKED.search(near) is not None
        case "protocol-password":
            is_asked = _USER.search(near) is not None
        case _:
            is_asked = True
    is_write = rule.kind == "prompt-answer" and not match.group(0).startswith(b"send")
    is_chosen = password_strength(value) >= MEDIUM or look_of(value) is not None
    if not is_asked and (is_write or not is_chosen):
        return
    if is_weak_password(value):
        start, size = match.start(1), len(value.encode("utf-8", "surrogateescape"))
        # `printf "…\\n…\\n" | passwd`: the same again.
        is_repeated = data[start : start + size] == data[start + size + 2 : start + 2 * size + 2]
        yield start, start + (2 * size + 2 if is_repeated else size), rule.kind
