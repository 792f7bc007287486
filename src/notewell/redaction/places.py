"""Places where nothing but a secret can be: URLs, headers, queries, configuration files.

A rule with `proof="place"` masks any value that is no placeholder; with `password` the value must
look like a password, too, because the place alone says less.
"""

from __future__ import annotations

from notewell.redaction.rules import Rule

URL_RULES = (
    # The user may be empty (`redis://:secret@host`). The password ends at the last `@` before the
    # path, because people do not escape an `@` inside it.
    Rule(
        "url-password",
        r"[a-z][a-z0-9+.-]*://[^\s/:@\"'`<>]*:([^\s/\"'`<>]+)@",
        ("://",),
        any_case=True,
        proof="place",
        also=("@",),
    ),
    Rule(
        "url-password",
        r"://[^\s/:@\"'`<>]*:([^\s\"'`<>@]*[!#$%^&*?=+][^\s\"'`<>@]*)@[\w.-]+",
        ("://",),
        proof="password",
        also=("@",),
    ),
    Rule("url-token", r"https?://([A-Za-z0-9_-]{16,})@[\w.-]+", (), proof="random"),
    Rule(
        "url-token",
        r"[?&#;](?:code|auth|key|sig|signature|sid|session|hash|access|ticket|otp|jwt|apikey|passcode)"
        r"=([A-Za-z0-9._~%+/-]{16,}=*)",
        (
            "code=",
            "auth=",
            "key=",
            "sig=",
            "signature=",
            "sid=",
            "session=",
            "ticket=",
            "jwt=",
            "access=",
        ),
        any_case=True,
        proof="random",
    ),
    # `user:password@tcp(host:3306)/db`, as Go drivers write it.
    Rule(
        "url-password",
        r"\b[\w.-]+:([^\s\"'`:@/]+)@(?:tcp|unix)\(",
        ("@tcp(", "@unix("),
        proof="place",
    ),
    Rule(
        "url-password",
        r"(?:jdbc:oracle:thin:|\bsqlplus\s+(?:-\w+\s+)*|\bimpdp\s+|\bexpdp\s+)[\w$#]+/([^\s\"'`@]+)@",
        ("jdbc:oracle", "sqlplus", "impdp", "expdp"),
        proof="place",
    ),
)

LINK_RULES = (
    Rule(
        "url-token",
        r"[?&](?:magic|magic_token|token|t|invite|reset|confirm|verify|ticket|client_assertion|assertion|nonce_token)=([A-Za-z0-9._~%+/-]{12,}=*)",
        ("magic=", "token=", "invite=", "reset=", "confirm=", "verify=", "ticket=", "assertion="),
        any_case=True,
        proof="token",
    ),
    Rule(
        "url-token",
        r"/(?:reset-?password|password-?reset|password/reset|reset|verify|verify-email|confirm|activate|magic|magic-link|invite|unsubscribe)/([A-Za-z0-9_-]{16,}=*)",
        ("reset", "verify", "confirm", "activate", "magic", "invite"),
        any_case=True,
        proof="token",
        also=(
            "/reset",
            "/password",
            "/verify",
            "/confirm",
            "/activate/",
            "/magic",
            "/invite/",
            "/unsubscribe/",
        ),
        says="the secret part of a link that resets a password or logs in",
    ),
)

QUERY_RULES = (
    Rule(
        "sql-password",
        r"\b(?:create|alter|set|grant|with|encrypted|login)\b[^\n'\"]{0,80}?(?:'[^'\n]{0,40}'[^\n'\"]{0,20}){0,3}?"
        r"\bpassword\s*[=(]?\s*N?'([^'\s]+)'",
        ("password",),
        any_case=True,
        proof="place",
        also=("create", "alter", "grant", "encrypted", "with", "login", "set"),
    ),
    Rule(
        "sql-password",
        r"\bidentified\s+(?:with\s+[\w\"'`]+\s+)?by\s+(?:password\s+)?'([^'\s]+)'",
        ("identified",),
        any_case=True,
        proof="place",
    ),
)

FILE_RULES = (
    Rule(
        "settings-password",
        r"""key=["'][A-Za-z]*[Pp]assword["']\s+value=["']([^"'\s]+)""",
        ('assword"', "assword'"),
        also=("value=",),
        proof="password",
    ),
    Rule(
        "netrc-password",
        r"\blogin\s+\S+\s+password\s+(\S+)",
        ("login",),
        proof="weak",
        spans_lines=True,
    ),
    Rule(
        "pgpass-password",
        r"(?m)^(?:[-+>*] ?| {0,4}\d{1,3} {1,2})?[\w.*-]+:(?:\d{4,5}|\*):[\w.*-]+:[\w.*-]+:(\S+)$",
        (),
        proof="weak",
    ),
    Rule(
        "directive-password",
        r"(?m)^[ \t>+*-]*(?:config set )?(?:requirepass|masterauth|bindpw|rootbindpw"
        r"|rootpw(?: --plaintext)?|pre-shared-key|"
        r"enable (?:secret|password)(?: \d)?|username \S+ (?:privilege \d+ )?"
        r"(?:secret|password)(?: \d)?|snmp-server community|r[ow]community6?|com2sec \S+ \S+|"
        r"(?:ppp |set )[\w -]*password(?:-value)?(?: \d)?"
        r"|set system login user \S+ authentication [\w-]+"
        r"|d-i \S+ password|tacacs-server key|radius-server key|neighbor \S+ password"
        r"|wpa-psk(?: ascii \d)?)"
        r"\s+[\"']?([^\s\"']+)",
        (
            "requirepass",
            "masterauth",
            "bindpw",
            "rootpw",
            "pre-shared-key",
            "enable ",
            "username ",
            "community",
            "com2sec",
            "password",
            "server key",
            "authentication",
            "wpa-psk",
        ),
        proof="place",
    ),
    Rule(
        "psk",
        r"(?:\b(?:psk|wpa_passphrase|wpapsk)[ \t]*[=:]+|<keymaterial>|\bkeymaterial>)"
        r"[ \t]*[\"']?([^\s\"'<]+)",
        ("psk", "wpa_passphrase", "keymaterial"),
        any_case=True,
        proof="place",
    ),
    Rule(
        "list-password",
        r"(?m)^chpasswd:[^\n]*\n(?:[^\n]*\n)??[ \t-]*[\w.-]+:(\S+)",
        ("chpasswd:",),
        proof="password",
        spans_lines=True,
    ),
    Rule(
        "docker-auth",
        r"[\"']auth[\"']\s*:\s*[\"']([A-Za-z0-9+/=_-]{16,})[\"']",
        ('"auth"', "'auth'"),
        proof="token",
    ),
    Rule(
        "npm-auth",
        r"(?m)\b_(?:auth|password|authToken)\s*=\s*[\"']?([A-Za-z0-9+/=_-]{8,})",
        ("_auth", "_password"),
        proof="token",
    ),
)

HEADER_RULES = (
    Rule(
        "authorization",
        r"\bauthorization[\"'\\\])]*[ \t]*[:=][ \t]*[\"'`\\(]*(?:[a-z]+\s+(?:token=)?)?[\"']?"
        r"([A-Za-z0-9._~+/=:%-]{8,})",
        ("authorization",),
        any_case=True,
        proof="token",
    ),
    Rule(
        "authorization",
        r"\bauthorization[^\n]{0,300}?\bSignature=[\"']?([A-Za-z0-9+/=_-]{16,})",
        ("authorization",),
        any_case=True,
        proof="random",
    ),
    Rule(
        "bearer-token",
        r"\bbearer[, ]\s*(?:token\s+)?([A-Za-z0-9._~+/=-]{16,})",
        ("bearer",),
        any_case=True,
        proof="random",
    ),
    Rule(
        "cookie",
        r"\b(?:set-)?cookie[\"']?:[ \t]*[\"']?(?:[^\s;=]+=[^\s;]*;[ \t]*)*?"
        r"[^\s;=]*(?:sess|token|auth|sid|jwt|csrf|remember|login)[^\s;=]*=([^\s;\"']{16,})",
        ("cookie",),
        any_case=True,
        proof="random",
    ),
    Rule(
        "header-token",
        r"(?m)\bx-honeycomb-team[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9_-]{20,})",
        ("x-honeycomb-team",),
        any_case=True,
    ),
)
