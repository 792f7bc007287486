"""Secrets that never opened anything: made up anew from a seed, in the shapes vendors document.

Each is told by its kind and written without a look at our rules. Nothing here is a key, and no
whole key stands in this file: prefixes and lengths do.
"""

from __future__ import annotations

import base64
import json
import string
import textwrap
from collections.abc import Callable
from random import Random

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = DIGITS + "abcdef"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"

Maker = Callable[[Random], str]


def some(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choices(alphabet, k=count))


def prefixed(prefix: str, alphabet: str, count: int, end: str = "") -> Maker:
    return lambda random: prefix + some(random, alphabet, count) + end


def uuid(random: Random) -> str:
    return "-".join(some(random, HEX, count) for count in (8, 4, 4, 4, 12))


def jwt(random: Random) -> str:
    head, body = (
        {"alg": "HS256", "typ": "JWT"},
        {"sub": some(random, DIGITS, 10), "iat": 1760000000},
    )
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()) for one in (head, body)]
    return ".".join([*(one.decode().rstrip("=") for one in parts), some(random, URL_SAFE, 43)])


def private_key(name: str, lines: int) -> Maker:
    def make(random: Random) -> str:
        body = "\n".join(textwrap.wrap(some(random, BASE64, 64 * lines - 9) + "=", 64))
        return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----"

    return make


def password(random: Random) -> str:
    """As people and generators choose them."""
    word = some(random, LOWER, 6).capitalize() + some(random, "!@#%*?", 1)
    return random.choice([word + some(random, DIGITS, 3), some(random, ALNUM, 8) + "7a" + "!x"])


# Those that anybody can tell by their shape, wherever they stand.
SHAPED: dict[str, Maker] = {
    "aws access key": prefixed("AKIA", UPPER + "234567", 16),
    "aws temporary key": prefixed("ASIA", UPPER + "234567", 16),
    "github classic": prefixed("ghp_", ALNUM, 36),
    "github oauth": prefixed("gho_", ALNUM, 36),
    "github app": prefixed("ghs_", ALNUM, 36),
    "github fine-grained": lambda r: f"github_pat_{some(r, ALNUM, 22)}_{some(r, ALNUM, 59)}",
    "gitlab personal": prefixed("glpat-", URL_SAFE, 20),
    "slack bot": lambda r: f"xoxb-{some(r, DIGITS, 12)}-{some(r, HEX, 12)}-{some(r, ALNUM, 24)}",
    "slack app": lambda r: f"xapp-1-A{some(r, UPPER, 9)}-{some(r, DIGITS, 13)}-{some(r, HEX, 64)}",
    "stripe live": prefixed("sk_live_", ALNUM, 24),
    "stripe restricted": prefixed("rk_live_", ALNUM, 24),
    "webhook secret": prefixed("whsec_", ALNUM, 32),
    "openai project": lambda r: f"sk-proj-{some(r, URL_SAFE, 74)}T3Blbk{some(r, URL_SAFE, 74)}",
    "openai classic": prefixed("sk-", ALNUM, 48),
    "anthropic": lambda r: f"sk-ant-api03-{some(r, URL_SAFE, 93)}AA",
    "openrouter": prefixed("sk-or-v1-", HEX, 64),
    "google api": prefixed("AIza", URL_SAFE, 35),
    "google oauth secret": prefixed("GOCSPX-", URL_SAFE, 28),
    "google oauth token": prefixed("ya29.", URL_SAFE, 120),
    "hugging face": prefixed("hf_", ALNUM, 34),
    "groq": prefixed("gsk_", ALNUM, 52),
    "xai": prefixed("xai-", ALNUM, 80),
    "perplexity": prefixed("pplx-", ALNUM, 48),
    "replicate": prefixed("r8_", ALNUM, 37),
    "npm": prefixed("npm_", ALNUM, 36),
    "pypi": prefixed("pypi-AgEIcHlwaS5vcmc", URL_SAFE, 120),
    "rubygems": prefixed("rubygems_", HEX, 48),
    "docker hub": prefixed("dckr_pat_", URL_SAFE, 27),
    "digitalocean": prefixed("dop_v1_", HEX, 64),
    "sendgrid": lambda r: f"SG.{some(r, URL_SAFE, 22)}.{some(r, URL_SAFE, 43)}",
    "mailgun": prefixed("key-", HEX, 32),
    "mailchimp": prefixed("", HEX, 32, "-us14"),
    "twilio": prefixed("SK", HEX, 32),
    "telegram bot": lambda r: f"{some(r, '123456789', 10)}:AA{some(r, URL_SAFE, 33)}",
    "discord bot": lambda r: f"MT{some(r, ALNUM, 24)}.G{some(r, HEX, 5)}.{some(r, URL_SAFE, 38)}",
    "shopify": prefixed("shpat_", HEX, 32),
    "square": prefixed("sq0atp-", URL_SAFE, 22),
    "linear": prefixed("lin_api_", ALNUM, 40),
    "notion": prefixed("ntn_", ALNUM, 46),
    "airtable": lambda r: f"pat{some(r, ALNUM, 14)}.{some(r, HEX, 64)}",
    "atlassian": prefixed("ATATT3xFfGF0", URL_SAFE, 172, "=A1B2C3D4"),
    "figma": prefixed("figd_", URL_SAFE, 40),
    "postman": lambda r: f"PMAK-{some(r, HEX, 24)}-{some(r, HEX, 34)}",
    "doppler": prefixed("dp.pt.", ALNUM, 43),
    "vault": prefixed("hvs.", URL_SAFE, 90),
    "terraform cloud": lambda r: f"{some(r, ALNUM, 14)}.atlasv1.{some(r, URL_SAFE, 67)}",
    "grafana": lambda r: f"glsa_{some(r, ALNUM, 32)}_{some(r, HEX, 8)}",
    "new relic": prefixed("NRAK-", UPPER + DIGITS, 27),
    "databricks": prefixed("dapi", HEX, 32),
    "planetscale": prefixed("pscale_tkn_", URL_SAFE, 43),
    "supabase": prefixed("sbp_", HEX, 40),
    "sentry": prefixed("sntryu_", HEX, 64),
    "tailscale": lambda r: f"tskey-auth-k{some(r, ALNUM, 11)}CNTRL-{some(r, ALNUM, 32)}",
    "age": prefixed("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "json web token": jwt,
    "rsa private key": private_key("RSA PRIVATE KEY", 25),
    "openssh private key": private_key("OPENSSH PRIVATE KEY", 7),
    "pkcs8 private key": private_key("PRIVATE KEY", 4),
    "pgp private key": private_key("PGP PRIVATE KEY BLOCK", 30),
}  # fmt: skip

SURROUNDINGS = (
    "{}",
    "The key is {} and it expires in May.",
    "use `{}`, please",
    "({})",
    "**{}**",
    "> {}",
    "- old one: {}.",
    '{{"value": "{}"}}',
    "export X={}",
    "https://example.org/hook?x={}&y=1",
    "令牌{}已过期。",
    "| name | {} |",
    "```\n{}\n```",
    "one\\n{}\\ntwo",
)

# Those that only their surroundings give away; `{}` is the secret.
NAMED: dict[str, tuple[Maker, tuple[str, ...]]] = {
    "password": (password, (
        "password: {}", "PASSWORD={}", 'db_password = "{}"', "the password is {}", "密码：{}",
        '"password": "{}",', "<password>{}</password>", "--password {}", "passwd: '{}'",
        "MYSQL_ROOT_PASSWORD: {}", "Server=db;User Id=sa;Password={};", "**Password:** {}",
    )),
    "connection string": (password, (
        "postgres://app:{}@db.internal:5432/main", "redis://:{}@cache:6379/0",
        "mongodb+srv://root:{}@cluster0.mongodb.net", "https://bot:{}@git.internal/x.git",
    )),
    "aws secret key": (prefixed("", BASE64, 40), (
        "aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", '"SecretAccessKey": "{}"',
    )),
    "api key": (prefixed("", HEX, 32), (
        "api_key: {}", "DATADOG_API_KEY={}", "'apiKey': '{}'", "x-api-key: {}",
        "?api_key={}&page=2", '\\"apiKey\\": \\"{}\\"',
    )),
    "uuid key": (uuid, ("HEROKU_API_KEY={}", 'client_secret: "{}"')),
    "token": (prefixed("", URL_SAFE, 40), (
        "access_token={}", "CLOUDFLARE_API_TOKEN: {}", '"refreshToken":"{}"', "--token {}",
        "//registry.example.org/:_authToken={}",
    )),
    "bearer": (prefixed("", URL_SAFE, 43), (
        "Authorization: Bearer {}", '-H "authorization: bearer {}"',
        "'Authorization': 'Bearer {}'",
    )),
    "basic auth": (prefixed("", ALNUM, 28, "=="), ("Authorization: Basic {}",)),
    "signing secret": (prefixed("", HEX, 64), (
        "SECRET_KEY_BASE={}", "jwt_secret: {}", "SLACK_SIGNING_SECRET={}", "SESSION_SECRET='{}'",
    )),
    "azure storage": (prefixed("", BASE64, 86, "=="), (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core",
    )),
    "slack webhook": (
        lambda r: f"T{some(r, UPPER, 8)}/B{some(r, UPPER, 8)}/{some(r, ALNUM, 24)}",
        ("https://hooks.slack.com/services/{}",),
    ),
    "discord webhook": (
        lambda r: f"{some(r, '123456789', 18)}/{some(r, URL_SAFE, 68)}",
        ("https://discord.com/api/webhooks/{}",),
    ),
    "netrc": (password, ("machine api.internal login bot password {}",)),
    "curl": (password, ("curl -s -u admin:{} https://api.internal/v1",)),
    "kubernetes": (prefixed("", ALNUM, 24, "=="), (
        "kind: Secret\nmetadata:\n  name: app\ndata:\n  web: {}\ntype: Opaque",
    )),
}  # fmt: skip


def every_secret(seed: int) -> list[tuple[str, str, str]]:
    """Kind, secret, and a text that holds it: each kind in each of its surroundings."""
    random = Random(seed)
    made = [
        (kind, secret, surroundings.format(secret))
        for kind, maker in SHAPED.items()
        for surroundings in SURROUNDINGS
        for secret in [maker(random)]
    ]
    return made + [
        (kind, secret, surroundings.format(secret))
        for kind, (maker, several) in NAMED.items()
        for surroundings in several
        for _ in range(4)
        for secret in [maker(random)]
    ]
