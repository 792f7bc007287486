"""What has a shape but no vendor: standard tokens, addresses, headers, commands."""

from __future__ import annotations

from notewell.redaction.rule import BEGINS, Rule

_VALUE = r"""["'`]?([^\s"'`<>|;]+)"""

ASSURED = (
    Rule(
        "jwt",
        BEGINS + r"(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        ("eyJ",),
    ),
    Rule(
        "jwt", BEGINS + r"(ZXlK[A-Za-z0-9+/_-]{60,}={0,2})", ("ZXlK",)
    ),  # One that was encoded again.
    Rule(
        "putty-key",
        r"Private-Lines: \d+\s+((?:[A-Za-z0-9+/=]{64}\s+)*[A-Za-z0-9+/=]{1,64})",
        ("Private-Lines:",),
    ),
    # A manifest's values have names of their own choosing, so all of them go.
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

PASSWORDS = (
    # The user may be empty (`redis://:secret@host`); the password goes up to the last `@` before
    # the path, because people do not escape the ones inside it.
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
    Rule("command-password", r"\bsshpass\s+-p\s*" + _VALUE, ("sshpass",), proof="password"),
    Rule(
        "command-password",
        r"(?:^|[\s\"'`])--?(?:password|passwd|pass|passphrase|token|secret|api-key|access-key"
        r"|auth-token)[ =]+" + _VALUE,
        ("--",),
        proof="password",
    ),
)

HEADERS = (
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
