"""Secrets in command lines, by command and option.

In most of these places nothing but a password can be, so any value that is no placeholder is
masked.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from notewell.redaction.rules import Rule

VALUE = r"""["'`]?([^\s"'`<>|]+)"""
"""A value up to the next space or quote."""

_FLAG = r"(?:^|[\s\"'`(])--?(?:[a-z0-9.]+[-_])*"
_HIDDEN = r"(?:password|passwd|passphrase|passwort|pass|pwd|pw|storepass|keypass)"
_GENERATED = (
    r"(?:token|secret|api[-_]?key|access[-_]?key|auth[-_]?key|authtoken|secret[-_]?key|private[-_]?key"
    r"|credential|signing-key|account-key|encryption-key|client[-_]?secret|pat)"
)

_GENERATED_ENDS = (
    "token secret clientsecret key apikey accesskey authkey authtoken secretkey privatekey credential pat".split()  # noqa: SIM905
)


def _flags(*names: str) -> tuple[str, ...]:
    return tuple(f"{sign}{name}" for name in names for sign in "-_")


def command(names: str, flags: str, *, attached: bool = False) -> Rule:
    """The value of one of `flags` (a pattern) of one of the commands (separated by spaces)."""
    commands = "|".join(names.split())
    gap = "" if attached else r"(?:[ =]*)"
    return Rule(
        "command-password",
        rf"\b(?:{commands})\b(?:[^\n|;&\\]*?\s)??[\"']?(?:{flags}){gap}{VALUE}",
        tuple(names.replace("\\", "").split()),
        proof="place",
    )


COMMAND_RULES = (
    command(
        "mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mycli",
        "-p",
        attached=True,
    ),
    command("7z 7za 7zz rar unrar", "-p|-hp", attached=True),
    command("redis-cli valkey-cli", "-a|--pass"),
    Rule(
        "command-password",
        r"\b(?:(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|oc|az|cf)\b[^\n|;&]*?\blogin\b"
        r"|twine|cqlsh|mongo(?:sh|dump|restore|export|import)?|psexec|rdesktop|ncftp(?:put|get)?|influx|cypher-shell|crane|regctl|youtube-dl|yt-dlp|mount\.cifs)\b"
        rf"[^\n|;&\\]*?\s-p[ =]?{VALUE}",
        (
            "login",
            "twine",
            "cqlsh",
            "mongo",
            "psexec",
            "rdesktop",
            "ncftp",
            "influx",
            "cypher-shell",
            "crane",
            "youtube-dl",
            "yt-dlp",
        ),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\s-u[ =]?[\w.@\\-]+(?:\s[^\n|;&\\]*?)?\s-p[ =]?{VALUE}",
        (" -u",),
        proof="password",
    ),
    Rule(
        "command-password",
        rf"\s-U[ =]?[\w.@\\-]+(?:\s[^\n|;&\\]*?)?\s-[Pp][ =]?{VALUE}",
        (" -U",),
        proof="place",
    ),
    command(
        "sqlcmd bcp isql tsql osql mosquitto_pub mosquitto_sub ipmitool zip zipcloak unzip",
        "-P",
        attached=False,
    ),
    command("ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami", "-w"),
    command("sshpass", "-p", attached=False),
    Rule("command-password", rf"\bsshpass\s+-p\s*{VALUE}", ("sshpass",), proof="place"),
    command("useradd usermod", "-p|--password"),
    command("snmpwalk snmpget snmpset snmpbulkwalk", "-[AXc]"),
    Rule(
        "command-password",
        rf"\bopenssl\b[^\n|;&\\]*?\s(?:-k\s+|-pass(?:in|out)?\s+pass:){VALUE}",
        ("openssl",),
        proof="place",
    ),
    command("ssh-keygen", "-N"),
    command("ssh-keygen", "-P"),
    command("mycli pgcli litecli", "-p"),
    Rule(
        "command-password",
        r"\b\w+(?:\.py)?[ ]+(?:[\w.-]+/)?[\w.$-]+:([^\s\"'@/]{4,})@[\d.]{7,}",
        (".py ", "impacket"),
        proof="weak",
        says="user and password before an address: `secretsdump.py corp/anna:…@10.0.0.4`",
    ),
    Rule(
        "command-password",
        r"\b(?:xh|xhs|http|https|curlie|bundle config \S+)[ ](?:[^\n|;&]*?\s)??(?:-a|--auth|-u)?[ =]*[\"']?[\w.@-]+:([^\s\"'@/]+)(?:[\s\"']|$)",
        ("xh ", "xhs ", "http -", "https -", "bundle config "),
        proof="weak",
    ),
    Rule(
        "command-token",
        r"(?:--oauth2-bearer|:_authToken|gem push[^\n]*--key|-H[ ][\"']X-[\w-]*(?:Token|Key):)[ =]+[\"']?([A-Za-z0-9._~+/=-]{8,})",
        ("oauth2-bearer", "_authToken", "gem push", "-H '", '-H "'),
        proof="token",
    ),
    Rule(
        "command-password",
        rf"\bhtpasswd\s+-\w*b\w*\s+\S+\s+\S+\s+{VALUE}",
        ("htpasswd",),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\brabbitmqctl\s+(?:add_user|change_password|authenticate_user)\s+\S+\s+{VALUE}",
        ("rabbitmqctl",),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\bnet\s+use\s+(?:\S+\s+)??(?:\\\\\S+\s+){VALUE}\s+/user:",
        ("net use",),
        any_case=True,
        proof="password",
    ),
    Rule(
        "command-password",
        rf"\bnet\s+use\s[^\n]*?/user:\S+\s+{VALUE}",
        ("net use",),
        any_case=True,
        proof="password",
    ),
    Rule(
        "command-password",
        rf"\bnet\s+user\s+\S+\s+{VALUE}",
        ("net user",),
        any_case=True,
        proof="password",
    ),
    Rule(
        "command-password",
        rf"\s/(?:p|pass|password|rp|pwd):{VALUE}",
        ("/p:", "/pass", "/rp:", "/pwd:"),
        any_case=True,
        proof="weak",
    ),
    Rule("command-password", rf"\s/rp\s+{VALUE}", ("/rp ",), proof="password"),
    Rule(
        "command-password",
        rf"\b(?:smbclient|rpcclient|smbget|net|wmic)\b[^\n]*?-U\s*[\"']?[\w.\\/-]+%{VALUE}",
        ("smbclient", "rpcclient"),
        proof="place",
    ),
    Rule("command-password", rf"\blftp\b[^\n]*?-u\s*[\w.@-]+,{VALUE}", ("lftp",), proof="place"),
    Rule(
        "command-password",
        rf"\bftp\b[^\n]*\buser\s+[\w.@-]+\s+{VALUE}",
        ("ftp",),
        proof="password",
    ),
    Rule(
        "command-password",
        r"\becho\s+[\"']?[\w.-]+:([^\s\"'|]+)[\"']?\s*\|\s*(?:sudo\s+)?chpasswd",
        ("chpasswd",),
        proof="place",
    ),
    # `curl -u`, `http -a`, `etcdctl --user`, `--proxy-user`: user and password in one argument.
    Rule(
        "command-password",
        r"\s(?:-[a-zA-Z]*u|-a|--user|--auth|--proxy-user|--userpwd|--basic)[ =]*"
        # Not `docker run --user 1000:1000`: a user and a group.
        + r"""["']?[\w.@%\\-]*[A-Za-z_@%\\.-][\w.@%\\-]*:([^\s"'@/]+(?:@[^\s"'/]+)?)""",
        (" -u", " -su", " -ku", " -iu", " -a ", "--user", "--auth", "--proxy-user"),
        proof="argument",
    ),
    Rule(
        "command-password",
        r"\bcurl\b[^\n|;&]*\s(?:-u|--user)[ =]?" + r"""["']?[^\s:"']+:([^\s"']+)""",
        ("curl",),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"{_FLAG}{_HIDDEN}(?:[ \t]+|=)" + VALUE,
        _flags("pass", "pwd", "pw", "storepass", "keypass"),
        any_case=True,
        proof="password",
        says="`--password …`",
    ),
    Rule(
        "command-token",
        rf"{_FLAG}{_GENERATED}[ \t]+" + VALUE,
        _flags(*(f"{name}{end}" for name in _GENERATED_ENDS for end in " \t")),
        any_case=True,
        proof="argument",
        says="`--token …`, `--api-key …`",
    ),
    Rule(
        "command-token",
        rf"{_FLAG}{_GENERATED}=" + VALUE,
        ("token=", "secret=", "key=", "credential=", "-pat="),
        any_case=True,
        proof="weak",
    ),
    # `ngrok authtoken …`, `vault login …`, `cargo login …`: the last word of the command.
    Rule(
        "command-token",
        r"\b(?:vault|cargo|wandb|heroku|ngrok|cloudflared|gh|glab|npm|fly|flyctl|doctl|doppler|pulumi|sentry-cli|railway|netlify|vercel|tailscale|snyk|semgrep|replicate)\b"
        r"[^\n|;&]{0,60}?\b(?:login|auth\w*|authtoken|add-authtoken|install|--key|-t|token)[:\s=]+([A-Za-z0-9._~+/=-]{16,})",
        ("login ", "authtoken", "auth ", "auth:", "service install"),
        proof="random",
    ),
    Rule(
        "command-token",
        r"\bgem\s+push[^\n]*--key\s+([A-Za-z0-9_-]{16,})",
        ("gem push",),
        proof="random",
    ),
    Rule("command-token", r"<<<\s*[\"']?([A-Za-z0-9._~+/=-]{16,})", ("<<<",), proof="random"),
    Rule(
        "command-token",
        r"\b(?:doctl|glab|gh)\b[^\n|;&]*\s-t\s+([A-Za-z0-9._-]{16,})",
        ("doctl", "glab", "gh auth"),
        proof="random",
    ),
    Rule(
        "command-password",
        rf"\bkubeadm\s+join\b[^\n]*--token\s+{VALUE}",
        ("kubeadm",),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\bwpa_passphrase\s+\S+\s+{VALUE}",
        ("wpa_passphrase",),
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\bpoetry\s+config\s+http-basic\.\S+\s+\S+\s+{VALUE}",
        ("http-basic.",),
        proof="place",
    ),
    Rule(
        "command-token",
        r"\bpoetry\s+config\s+pypi-token\.\S+\s+([A-Za-z0-9_-]{16,})",
        ("pypi-token.",),
        proof="random",
    ),
    Rule(
        "command-password",
        r"ConvertTo-SecureString\b(?:\s+-String)?\s+[\"']([^\"'\n]+)[\"']",
        ("ConvertTo-SecureString",),
        any_case=True,
        proof="place",
    ),
    Rule(
        "command-password",
        rf"\biscsiadm\b[^\n]*auth\.password\w*\s+-v\s+{VALUE}",
        ("iscsiadm",),
        proof="place",
    ),
)
