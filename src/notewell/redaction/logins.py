"""Secrets given to programs: prompts for keys, chat and mail protocols, calls that log in, tools of clouds and registries."""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

from notewell.redaction.rules import Rule

_VALUE = r"""["'`]?([^\s"'`<>|;]+)"""
_QUOTED = r"""b?["']([^"'\n\s]{4,120})["']"""
_ARGUMENT = r"(?:[\w.$\[\]:-]+|b?[\"'][^\"'\n]{0,120}[\"'])"
_BEGINS = r"(?m)^[ \t>+$#*-]*(?:\d+[ ]+)?"

PROMPT_RULES = (
    Rule(
        "prompt-answer",
        r"(?m)\b(?:(?:aws )?secret access key|aws session token|(?:api|secret|access|auth\w*|personal access|account|service|client|license|bot|refresh)[ -](?:key|token|secret))"
        r"(?: id)?[ ]?(?:\[[^\]\n]*\]|\([^)\n]*\))?[ ]?[:›❯>?][ ]+[\"'`]?([^\s\"'`<>|;,]+)[ \t]*\r?$",
        tuple(f"{word}{sign}" for word in ("key", "token", "secret") for sign in (":", " [", " (", " ›", " ❯", "?", " id", " :")),
        any_case=True,
        proof="argument",
        says="the answer to a prompt for a key: `AWS Secret Access Key [None]: …`",
    ),
    Rule(
        "prompt-answer",
        r"(?m)\b(?:password|passphrase|passcode|kennwort|passwort|pass phrase)[ ]for[ ][^\n:]*(?:://[^\n:]*)?:[ ]+([^\s\"'`<>]+)[ \t]*\r?$",
        ("password for", "passphrase for", "passcode for", "pass phrase for"),
        any_case=True,
        proof="weak",
        says="`Enter password for user \"anna\": …`",
    ),
    Rule(
        "prompt-answer",
        r"(?m)\b(?:unix|new|old|current|ssh|vault|export|host|master|become|keystore|login)[ ]pass(?:word|phrase)(?:\[[^\]\n]*\])?:[ ]+([^\s\"'`<>]+)[ \t]*\r?$",
        ("unix password", "new pass", "old pass", "current pass", "ssh pass", "vault pass", "export pass", "host pass", "master pass", "become pass", "keystore pass", "login pass"),
        any_case=True,
        proof="weak",
    ),
    Rule(
        "protocol-password",
        r"(?:nickserv|/ns)[ ]+:?(?:identify|register|ghost|recover|release|id)[ ]+(?:[\w.-]+[ ]+)??(\S+?)(?:[ ]+\S+@\S+)?[ \t]*(?:[\r\n\"'`]|$)",
        ("nickserv", "/ns "),
        any_case=True,
        proof="weak",
        says="`/msg NickServ identify …` of IRC",
    ),
    Rule("protocol-password", rf"{_BEGINS}/oper[ ]+[\w.-]+[ ]+(\S+)", ("/oper ",), proof="weak"),
    Rule(
        "protocol-password",
        rf"\bHELLO[ ]+[23][ ]+AUTH[ ]+[\w.-]+[ ]+{_VALUE}",
        ("HELLO ",),
        proof="weak",
    ),
    Rule(
        "protocol-password",
        r"\b(?:setuser|user)[ ]+[\w.-]+[ ](?:[^\n]*?[ ])??>([^\s>\"']+)",
        ("setuser ", "user default", " on >"),
        any_case=True,
        proof="weak",
        says="`ACL SETUSER anna on >…` of Redis",
    ),
    Rule(
        "protocol-password",
        r"(?m)\bAUTH(?:ENTICATE)?[ ](?:PLAIN|LOGIN|XOAUTH2|CRAM-MD5)(?:[ ]|[ \t]*\r?\n(?:[^\n]{0,12}(?:\+|334)[^\n]{0,40}\n)?[^\n\w]{0,12})([A-Za-z0-9+/_-]{8,}={0,2})[ \t]*\r?$",
        ("AUTH PLAIN", "AUTH LOGIN", "AUTH XOAUTH2", "AUTHENTICATE "),
        proof="argument",
        spans_lines=True,
        says="`AUTHENTICATE PLAIN` and the line behind it",
    ),
    Rule(
        "command-password",
        r"(?:pass(?:word)?[-_]?(?:cmd|command|eval)|askpass)[\"']?[ =:]+[\"']?(?:echo|printf)[ ]+(?:-n[ ]+)?[\"'\\]*([^\s\"'\\|;]+)",
        ("passcmd", "pass_cmd", "pass-cmd", "passwordeval", "password_c", "password-c", "passwordc", "askpass"),
        any_case=True,
        proof="weak",
        says="a command that prints a password: `PassCmd \"echo …\"`",
    ),
    Rule(
        "command-password",
        r"\(echo[ ]+[\"']?([^\s\"';]+)[\"']?;[ ]*echo[ ]+[^\n|]*\)[ ]*\|[^\n]*passw",
        ("(echo",),
        proof="weak",
    ),
    Rule(
        "command-password",
        r"\(echo[ ]+[^\s;]+;[ ]*echo[ ]+[\"']?([^\s\"';)]+)[^\n|]*\)[ ]*\|[^\n]*passw",
        ("(echo",),
        proof="weak",
    ),
)  # fmt: skip

CALL_RULES = (
    Rule(
        "argument-password",
        rf"(?:\bbcrypt\.\w+|\bhashpw|\bpassword_hash|generate_password_hash|\bcrypt\.crypt|\bcrypt|make_password|[pP]asswordEncoder\.encode|[hH]ashPassword|hash_password|\.setpassword|\bset_password|argon2\.hash|\bFernet)\(\s*{_QUOTED}",
        ("crypt", "hashpw", "password_hash(", "make_password(", "encode(", "ashPassword(", "hash_password(", "setpassword(", "set_password(", "argon2.hash(", "Fernet("),
        proof="weak",
        says="a password that is hashed: `bcrypt.hashpw(b\"…\", …)`",
    ),
    Rule(
        "argument-password",
        rf"(?:\b(?:bot|client|redis|r|discord)\.(?:login|auth|run))\(\s*{_QUOTED}\s*\)",
        (".login(", ".auth(", ".run("),
        proof="argument",
    ),
    Rule(
        "argument-password",
        rf"\b(?:PlainAuth|ssh\.connect|\w*[sS][sS][hH]\w*\.connect|SMTP\.start|create_?user|createUser|signIn\w*|createUserWith\w*|set_password|new[ ]mysqli|MySQLdb\.connect|key_set_with_value|SMTPAuth\w*)"
        rf"\((?:\s*{_ARGUMENT}\s*,){{2,4}}?\s*{_QUOTED}(?:\s*,\s*(?:[\w:.]+|[\"'][^\"'\n]*[\"']))?\s*\)",
        ("PlainAuth(", ".connect(", "SMTP.start(", "create_user(", "createUser(", "signIn", "createUserWith", "set_password(", "mysqli(", "key_set_with_value("),
        proof="argument",
        says="the password as one of several arguments: `smtp.PlainAuth(\"\", \"anna\", \"…\", host)`",
    ),
    Rule(
        "argument-password",
        rf"(?:\boci_connect|cx_Oracle\.connect|oracledb\.connect|simple_bind(?:_s)?|\.bind|PasswordAuthentication|sp_addlogin|pgp_sym_(?:en|de)crypt|\.load|Credentials?)[ (]+\s*{_ARGUMENT}\s*,\s*{_QUOTED}(?:\.toCharArray\(\)|\s*[,);])",
        ("oci_connect(", "Oracle.connect(", "oracledb.connect(", "bind", "PasswordAuthentication(", "sp_addlogin", "pgp_sym_", ".load(", "Credential"),
        proof="argument",
    ),
    Rule(
        "argument-password",
        rf"#?pass(?:word|wd)?[\w\])\"']*[^\n\"']{{0,20}}[\"']?\)?\s*(?:,\s*|\)?\.(?:type|fill|send_?keys|setValue|val|input)\(\s*){_QUOTED}\s*\)",
        (".type(", ".fill(", "keys(", ".setvalue(", ".val(", ".input("),
        any_case=True,
        proof="weak",
        says="what a test of a page types: `page.fill('#password', '…')`",
    ),
    Rule(
        "argument-password",
        rf"\b(?:strcpy|strncpy|strcmp|strcat|StringEquals|equals)\(\s*\w*(?:pass|pwd|pw|secret|token|kennwort|key)\w*\s*,\s*{_QUOTED}",
        ("strcpy(", "strncpy(", "strcmp(", "strcat("),
        any_case=True,
        proof="argument",
    ),
    Rule("argument-password", rf"\bgetpass\w*[ ]?=[ ]?lambda[^:\n]*:[ ]?{_QUOTED}", ("lambda",), proof="weak"),
    Rule("sql-password", r"(?i)\b(?:pragma[ ]+(?:re)?key[ ]*=|attach[ ][^\n]*[ ]key|secret[ ]*=)[ ]*'([^'\n]{4,80})'", ("PRAGMA", "pragma", "ATTACH", "SECRET"), proof="weak"),
)  # fmt: skip

TOOL_RULES = (
    Rule(
        "command-password",
        r"\b(?:(?:vsce|ovsx|poetry|hatch|flit|nuget|dotnet nuget|elasticsearch-users|evil-winrm|crackmapexec|netexec|nxc|dsconfigldap|certutil|ovhai|ibmcloud|twine|\w+[ ]login|\w+[ ]passwd)\b[^\n|;&]*?|\bsigntool\b[^\n]*?)"
        rf"[ ](?:-p|-a|-k|/p|-pass|-pw)[ ]{_VALUE}",
        ("vsce", "ovsx", "poetry", "hatch", "flit", "nuget", "elasticsearch-users", "winrm", "crackmapexec", "netexec", "nxc ", "dsconfigldap", "certutil", "login ", "passwd ", "signtool"),
        proof="argument",
        says="`… login -p …`, and the option of twenty programs",
    ),
    Rule(
        "command-token",
        rf"\b(?:cf[ ]auth[ ]+\S+|mc[ ](?:alias[ ]set|config[ ]host[ ]add)[ ]+\S+[ ]+\S+[ ]+\S+|b2[ ](?:authorize-account|account[ ]authorize)[ ]+\S+|composer[ ]config[ ](?:--?\w+[ ])*(?:http-basic\.\S+[ ]+\S+|[\w-]*(?:oauth|token|bearer)\.\S+)"
        rf"|vault[ ]operator[ ](?:unseal|rekey)|vault[ ]login(?:[ ]-\S+)*|nuget[ ]setapikey|cargo[ ]login|wandb[ ]login|(?:turso|flyctl|fly)[ ]auth[ ]token|snyk[ ]auth|poetry[ ]config[ ]pypi-token\.\S+|chamber[ ]write[ ]\S+[ ]\S+|virsh[ ]secret-set-value[ ]\S+(?:[ ]--base64)?"
        rf"|grafana[- ]cli[ ][^\n]*reset-admin-password|mysqladmin[ ][^\n]*password|dscl[ ][^\n]*-passwd[ ]\S+|doctl[ ]auth[ ]init[ ]-t|npx?m?[ ](?:config[ ])?set[ ]\S*_authToken)[ =]+(?:token=)?{_VALUE}",
        ("cf auth", "mc alias", "mc config", "b2 ", "composer config", "vault ", "setapikey", "cargo login", "wandb login", "auth token", "snyk auth", "pypi-token", "chamber write", "secret-set-value", "admin-password", "mysqladmin", "-passwd ", "doctl auth", "_authToken"),
        proof="argument",
        says="the last word of a command that logs in: `vault operator unseal …`, `cf auth anna …`",
    ),
    Rule(
        "command-token",
        rf"\b(?:config(?:ure)?|settings?)[ ](?:--?\w+[ ])*(?:set|add)[ ](?:--?\w+[ ])*[\w.:/-]*(?:token|secret|password|passwd|api_?-?key|access_?key|_pass|\.pass|authtoken)[ =]+{_VALUE}",
        ("config set", "configure set", "config add", "settings set", "config --"),
        any_case=True,
        proof="argument",
        says="`… config set token …` of any program",
    ),
    Rule("command-password", rf"\bwinrs\b[^\n]*[ ]-p(?:assword)?:{_VALUE}", ("winrs",), proof="weak"),
    Rule("command-password", r"(?:-U[ ]?|user[ ]?=[ ]?)[\"']?[\w.\\/-]+%([^\s\"']+)", (" -U", "user=", "user = "), proof="argument"),
    Rule("command-password", r"[ ]-(?:A|U|P)[ ][\"']?[\w.-]+:([^\s\"'/]{4,})", (" -A ", " -U ", " -P "), proof="argument"),
    Rule("command-password", r"\b(?:stats auth|login=)[ ]?[\w.*-]+:([^\s\"']+)", ("stats auth", "login="), proof="weak", says="`stats auth anna:…` of HAProxy, `login=anna:…` of Squid"),
    Rule("command-password", r"\b(?:userid|CONN\w*)=[\"']?[\w$#]+/([^\s\"'@]+)@", ("userid=", "CONN"), proof="weak"),
    Rule("command-password", rf"\b[A-Z][A-Z0-9_]*_AUTH={_VALUE}", ("_AUTH=",), proof="weak", says="`REDISCLI_AUTH=…`"),
    Rule(
        "list-password",
        r"auth-user-pass[^\n]*\n[ \t>+]*[\w.@-]+[ \t]*\r?\n[ \t>+]*([^\s\"'`]+)[ \t]*(?:\r?\n|$)",
        ("auth-user-pass",),
        proof="weak",
        spans_lines=True,
        says="user and password in the two lines of OpenVPN's file",
    ),
    Rule("command-password", r"PassPhraseDialog[ ]+\"?\|?\S*echo[ ]+(\S+)", ("PassPhraseDialog",), proof="weak"),
    Rule(
        "cookie",
        r"(?:cookies?[\"']?\s?[:=]|-b[ ]|--cookie[ =])[ \t]*[\"'{(]*(?:[^\s;=]+=[^\s;]*;[ \t]*)*?[\"']?[^\s;=\"':]*(?:sess|token|auth|sid|jwt|remember|login)[^\s;=\"':]*[\"']?(?:=|:[ ]?)[\"']?([^\s;\"']{6,})",
        ("cookie", " -b "),
        any_case=True,
        proof="argument",
        says="the session in a cookie",
    ),
    Rule(
        "url-token",
        r"(?:^|[?&\s\"'])(?:client_assertion|assertion|code_verifier|refresh_token|client_secret|secret_id|device_code|subject_token|id_token|access_token)=([^\s&\"'`<>]{6,})",
        ("assertion=", "code_verifier=", "_token=", "client_secret=", "secret_id=", "device_code="),
        proof="argument",
        says="the parameters of OAuth: `client_assertion=…`",
    ),
    Rule("url-token", r"grant_type=authorization_code\S*?&code=([^\s&\"']{6,})", ("grant_type=authorization_code",), proof="argument"),
    Rule(
        "header-token",
        r"\b(?:x-[\w-]*(?:token|key|secret|auth|password)|private-token|job-token|api-key|proxy-authorization|authorization)[\"']?[ ]?:[ ]?[\"']?(?:(?:bearer|basic|token|apikey|key)[ ]+)?([^\s\"'`<>,;]{6,})",
        ("x-", "-token", "api-key", "authorization"),
        any_case=True,
        proof="argument",
        also=tuple(f"{name}{sign}" for name in ("token", "key", "secret", "auth", "password", "authorization") for sign in (":", "\":", "':", " :", "\" :", "' :")),
        says="`X-Api-Key: …`, `Authorization: Bearer …`",
    ),
)  # fmt: skip
LOGIN_RULES = (*PROMPT_RULES, *CALL_RULES, *TOOL_RULES)
