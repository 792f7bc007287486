"""Names of settings, put together as programs and people do: `DB_KENNWORT`, `smtp-mot-de-passe`, `adminPw2`."""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

from random import Random

STEMS = (
    "password", "password", "passwd", "pwd", "pass", "pw", "passphrase", "passcode", "user_pass", "login_pwd",
    "passwort", "kennwort", "mot_de_passe", "mdp", "contrasena", "clave", "senha", "palavra_passe",
    "parola", "wachtwoord", "ww", "haslo", "heslo", "jelszo", "sifre", "losenord", "passord",
    "adgangskode", "kodeord", "salasana", "sandi", "lozinka", "geslo", "parool", "slaptazodis", "mima",
    "pasword", "passwrd", "passowrd", "passsword", "passwort", "psswd", "pswd", "bindpw", "rootpw", "userpw", "dbpass",
    "credential", "psk", "sshpass",
)  # fmt: skip
CAMEL_STEMS = (
    "password",
    "passwd",
    "pwd",
    "pass",
    "pw",
    "passphrase",
    "kennwort",
    "passwort",
    "senha",
    "wachtwoord",
)
PREFIXES = (
    "",
    "",
    "db",
    "smtp",
    "admin",
    "wifi",
    "root",
    "my_app",
    "mail",
    "ldap",
    "prod",
    "jira",
    "nas",
    "x1",
    "backup_job",
)
SUFFIXES = ("", "", "", "", "2", "_prod", "_new", "_old", "_default")


def name(random: Random) -> str:
    """In snake, upper, camel, Pascal, kebab or dotted case."""
    style = random.choice(["snake", "upper", "upper", "camel", "pascal", "kebab", "dots"])
    stem = random.choice(CAMEL_STEMS if style in {"camel", "pascal"} else STEMS)
    words = [*filter(None, (random.choice(PREFIXES) + "_" + stem).split("_"))]
    words += filter(None, random.choice(SUFFIXES).split("_"))
    match style:
        case "upper":
            return "_".join(words).upper()
        case "camel":
            return words[0] + "".join(one.capitalize() for one in words[1:])
        case "pascal":
            return "".join(one.capitalize() for one in words)
        case "kebab":
            return "-".join(words)
        case "dots":
            return ".".join(words)
    return "_".join(words)


def upper_name(random: Random) -> str:
    words = [*filter(None, (random.choice(PREFIXES) + "_" + random.choice(STEMS)).split("_"))]
    return "_".join(words).upper()


FORMS = (
    "{n}={v}", "{n} = {v}", "{n}: {v}", '{n} = "{v}"', "{n}='{v}'", '{n}: "{v}"', "{n}:{v}", "- {n}: {v}",
    '"{n}": "{v}"', "'{n}': '{v}',", '{{"user": "eva", "{n}": "{v}", "port": 25}}', '{{"{n}":"{v}"}}',
    '[{{"key": "{n}", "value": "{v}"}}]', '[\n  {{\n    "key": "{n}",\n    "value": "{v}"\n  }}\n]',
    '{{"name":"{n}","value":"{v}"}}', '{{ name = "{n}", value = "{v}" }}', '{{"Key": "{n}", "Value": "{v}"}}',
    '{{"ParameterKey": "{n}", "ParameterValue": "{v}"}}',
    "env:\n  - name: {n}\n    value: {v}", 'env:\n  - name: {n}\n    value: "{v}"', "- {{name: {n}, value: {v}}}",
    "environment:\n  {n}: {v}\n  TZ: UTC", "environment:\n  - {n}={v}", "vars:\n  {n}: {v}", "  vars: {{ {n}: '{v}' }}",
    "[database]\nhost=db\n{n}={v}\n", "[mail]\n{n} = {v} ; do not commit", "{n}={v}  # rotate", "server.{n}={v}",
    "<{n}>{v}</{n}>", '<property name="{n}">{v}</property>', '<property name="{n}" value="{v}"/>',
    '<entry key="{n}">{v}</entry>', "<name>{n}</name>\n<value>{v}</value>", "<key>{n}</key>\n\t<string>{v}</string>",
    '<Parameter name="{n}" value="{v}" override="false"/>', '<setting name="{n}"><value>{v}</value></setting>',
    'variable "{n}" {{\n  type    = string\n  default = "{v}"\n}}', 'variable "{n}" {{ default = "{v}" }}',
    'resource "x" "y" {{\n  {n} = "{v}"\n}}', 'set {{\n  name  = "{n}"\n  value = "{v}"\n}}',
    '#define {n} "{v}"', "#define {n} {v}", 'const char *{n} = "{v}";', 'static const std::string {n}{{"{v}"}};',
    'String {n} = "{v}";', 'private final String {n} = "{v}";', "let {n} = '{v}'", "var {n} = \"{v}\";", 'val {n}: String = "{v}"',
    "{n} := `{v}`", '{n}: str = "{v}"', '{n}: Optional[str] = "{v}"', "my ${n} = '{v}';", "define('{n}', '{v}');",
    'define("{n}", "{v}");', "(def {n} \"{v}\")", "(setq {n} \"{v}\")", "@{n} = '{v}'", "{n} <- \"{v}\"", "%let {n} = {v};",
    "export {n}={v}", "set {n}={v}", "setx {n} \"{v}\"", "setenv {n} {v}", "ENV {n}={v}", "ENV {n} {v}", "ARG {n}={v}",
    "$Env:{n} = \"{v}\"", "${n} = \"{v}\"", "declare -x {n}=\"{v}\"", "{n}=${{{n}:-{v}}}", "{n}: ${{{n}:-{v}}}", "{n} = os.getenv('{n}', '{v}')",
    'os.environ.get("{n}", "{v}")', "process.env.{n} || '{v}'", "{n}: process.env.{n} || \"{v}\",", "{n} ||= '{v}'", "{n} ?? \"{v}\"",
    "--{n}={v}", "--{n} {v}", "-D{n}={v}", "--set {n}={v}", "-e {n}={v}", "--env {n}='{v}'", "--from-literal={n}={v}", "-var '{n}={v}'",
    "| {n} | {v} |", "| `{n}` | `{v}` | prod |", "|{n}|{v}|", "| user | {n} |\n|---|---|\n| eva | {v} |", "user,{n}\neva,{v}\n", "user;{n}\neva;{v}\n",
    "host\tuser\t{n}\ndb1\teva\t{v}\n", "{n},{v}", "{n};{v}", "{n}\t{v}", "* {n} — {v}", "* **{n}:** {v}", "**{n}**: `{v}`", "`{n}` = `{v}`",
    "{n} -> {v}", "{n} => '{v}'", ":{n} => \"{v}\"", "{n}: |\n  {v}", "{n}: >\n  {v}", "{n}:\n  {v}", "{n}:\n  value: {v}", "{n}\n{v}\n",
    "@Value(\"${{{n}:{v}}}\")", "client.connect({n}=\"{v}\")", "connect(host, {n}: '{v}')", "cfg.set('{n}', '{v}')", "put(\"{n}\", \"{v}\")", "c['{n}'] = '{v}'",
    "config.{n} = '{v}'", "this.{n} = '{v}';", "self.{n} = \"{v}\"", "obj->{n} = \"{v}\";", ".with{n}(\"{v}\")", ".{n}(\"{v}\")", "set{n}('{v}')",
    "?user=eva&{n}={v}", "user=eva&{n}={v}&x=1", "user=eva;{n}={v};", "user=eva {n}={v} host=db", "{n} {v}",
    "INSERT INTO settings VALUES ('{n}', '{v}');", "UPDATE users SET {n}='{v}' WHERE id=4;", "set global {n} = '{v}';", "{n} = N'{v}'",
    "<input name=\"{n}\" value=\"{v}\">", "<input type=\"password\" value=\"{v}\" name=\"{n}\">", "<meta name=\"{n}\" content=\"{v}\">",
    "DEBUG {n}={v}", "2026-03-04 12:00:01 INFO loaded {n}='{v}'", "{n} was set to {v}", "{n} is {v}", "{n} changed to {v}", "I put {n}={v} in the file",
)  # fmt: skip
