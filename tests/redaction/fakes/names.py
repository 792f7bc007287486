"""Shapeless values beside a telling name: how settings, code and shells write a name and a value.

`{name}` is the name, in the style of its language, and `§` the value.
"""

from __future__ import annotations

import re
from random import Random

from tests.redaction.fakes.making import Maker, filled, password

SNAKE_FORMS = (
    "{name}: §",
    "{name}=§",
    "{name} = §",
    '{name} = "§"',
    "{name}: '§'",
    "  {name}: §  # rotate in May",
    '"{name}": "§",',
    "'{name}': '§',",
    '{name}="§",',
    "config['{name}'] = '§'",
    'settings["{name}"] = "§"',
    ":{name} => '§',",
    "{name} => §",
    "set {name} §",
    "set {name} = '§';",
    "?user=anna&{name}=§&page=2",
    '{{"user": "anna", "{name}": "§"}}',
    '\\"{name}\\": \\"§\\"',
    "{name}:§",
    "- {name}: §",
    "* **{name}**: §",
    "* `{name}`: `§`",
    "<{name}>§</{name}>",
    '<add key="{name}" value="§" />',
    'DEFAULTS = dict(user="anna", {name}="§")',
    "client = Client({name}='§')",
    'conn.set_option("{name}", "§")',
    '{name} := "§"',
    "| {name} | § |",
    "{name} §",
    "-e {name}=§",
    "--set app.{name}=§",
    "-D{name}=§",
    "{name}[0]: §",
    "{name}: |\n  §",
    "{name}: >-\n    §",
    "{name} is set to § on the server",
    "{name} (prod): §",
    "{name} -> §",
    "{name} → §",
    "{name}\t§",
)

UPPER_FORMS = (
    "{name}=§",
    "export {name}=§",
    'export {name}="§"',
    "{name}='§'",
    "ENV {name} §",
    "ENV {name}=§",
    "ARG {name}=§",
    "      - {name}=§",
    "      {name}: §",
    "setx {name} §",
    "set {name}=§",
    "$env:{name} = '§'",
    '$env:{name}="§"',
    "set -x {name} §",
    "docker run -e {name}=§ app",
    'docker run --env {name}="§" app',
    "heroku config:set {name}=§",
    "fly secrets set {name}=§",
    "gh secret set {name} --body §",
    "{name}=§ python app.py",
    "env {name}=§ make deploy",
    'os.environ["{name}"] = "§"',
    "process.env.{name} = '§';",
    'ENV["{name}"] = "§"',
    'System.setProperty("{name}", "§");',
    'os.Setenv("{name}", "§")',
    '{{"name": "{name}", "value": "§"}}',
    "- name: {name}\n  value: §",
    '- name: {name}\n  value: "§"',
    "Environment={name}=§",
    'Environment="{name}=§"',
    "kubectl create secret generic app --from-literal={name}=§",
    "aws ssm put-parameter --name /app/{name} --value §",
    "vercel env: {name} = §",
    "I set {name} to § yesterday.",
    "{name} is §",
    "(`{name}`: `§`)",
    '#define {name} "§"',
    "const {name} = '§';",
    'const val {name} = "§"',
    'public static final String {name} = "§";',
    "+{name}=§",
    "-{name}=§",
    "> {name}=§",
    "{name}=§; other=1",
)

NAMES: dict[str, tuple[str, ...]] = {
    "password": (
        "password", "passwd", "pwd", "pass", "db_password", "admin_password", "smtp_pass",
        "ftp_password", "root_pw", "user_passwd", "login_password", "keystore_password",
        "passphrase", "wifi_password", "vpn_pass", "ldap_bind_password", "bind_pw",
        "mysql_pwd", "redis_password", "sudo_password", "email_password", "pin_code",
    ),
    "token": (
        "token", "auth_token", "access_token", "refresh_token", "bearer_token", "bot_token",
        "api_token", "personal_access_token", "session_token", "csrf_token", "id_token",
        "deploy_token", "gh_token", "registration_token", "device_token", "pat",
    ),
    "key": (
        "api_key", "apikey", "secret_key", "access_key", "private_key", "encryption_key",
        "signing_key", "master_key", "license_key", "service_key", "app_key", "auth_key",
        "shared_key", "account_key", "mistral_key", "openai_key", "anthropic_key",
    ),
    "secret": (
        "secret", "client_secret", "app_secret", "webhook_secret", "jwt_secret",
        "session_secret", "cookie_secret", "signing_secret", "hmac_secret", "consumer_secret",
        "oauth_secret", "shared_secret", "credentials", "api_secret",
    ),
}  # fmt: skip

VALUES: dict[str, tuple[str, ...]] = {
    "token": ("{us40}", "{hex40}", "{an32}", "{uuid}", "{an24}", "{us64}", "{b6443}="),
    "key": ("{hex32}", "{an32}", "{an40}", "{hex64}", "{uuid}", "{b6443}=", "{an20}"),
    "secret": ("{hex64}", "{an32}", "{us43}", "{b6443}=", "{hex40}", "{uuid}", "{sym24}"),
}


def value_maker(family: str) -> Maker:
    if family == "password":
        return password
    return lambda random: filled(random.choice(VALUES[family]), random)


def styled(name: str, random: Random) -> str:
    """`db_password`, `dbPassword`, `db-password`, `DbPassword`, `db.password`."""
    words = name.split("_")
    return random.choice([
        name,
        name,
        words[0] + "".join(word.capitalize() for word in words[1:]),
        "-".join(words),
        "".join(word.capitalize() for word in words),
        ".".join(words),
    ])  # fmt: skip


def upper(name: str, random: Random) -> str:
    prefix = random.choice(["", "", "APP_", "PROD_", "MY_", "NEXT_", "STAGING_", "X_"])
    return prefix + re.sub(r"\W", "_", name).upper()
