"""Recall by row: the ways in which people write secrets, and what they write that is none."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.redaction.fakes.rows import ROWS, every_row
from tests.redaction.fakes.shapes import NAMED_SHAPES, SHAPES
from tests.redaction.test_recall import LEAST_RECALL, REDACT, is_gone

SEEDS = (11, 12)


@pytest.fixture(scope="module")
def missed() -> dict[tuple[str, bool], list[str]]:
    """By row and by whether a sample was aside: the texts that kept their secret, or ''."""
    found: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for seed in SEEDS:
        for sample in every_row(seed):
            gone = is_gone(sample.secret, REDACT(sample.text))
            found[sample.row, sample.is_aside].append("" if gone else sample.text)
    return found


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("is_aside", [False, True])
def test_at_least_97_of_100_of_each_row_are_masked(
    missed: dict[tuple[str, bool], list[str]], row: str, is_aside: bool
) -> None:
    texts = missed[row, is_aside]
    left = [text for text in texts if text]
    assert len(texts) >= 200
    assert 1 - len(left) / len(texts) >= LEAST_RECALL, left[:40]


def test_the_fakes_have_more_kinds_than_a_known_rule_set_lacks() -> None:
    assert len(SHAPES) + len(NAMED_SHAPES) >= 153


@pytest.mark.parametrize(
    "text",
    [
        "the password is stored in the vault",
        "the password is wrong, try again",
        "password: required",
        "token: string",
        "password: str",
        "def login(user: str, password: str = None) -> Token:",
        'password=os.environ["DB_PASSWORD"]',
        "password = getpass.getpass()",
        "password: ${DB_PASSWORD}",
        "password: {{ db_password }}",
        "password=<your-password>",
        "passwords are hashed with PBKDF2 and SHA-256",
        "password authentication with OAuth2 or NTLMv2",
        "the API key for gpt-4o-mini is in the vault",
        "the token limit is 128k",
        "use the token from step 3",
        "The key is sha256 of the file.",
        "private_key: ed25519.Ed25519PrivateKey",
        "integrity sha512-9Zt0q6U1m4K7v3xW2yB8nD5cF6gH0jL1pQ4rS7tU2vW3xY4zA5bC6dE7fG8hI9jK0l==",
        "index 4f2c9d0b..7a6e5f4d 100644",
        "released v1.24.3-rc.2 on 2026-03-04T12:30:00Z",
        '<img src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAA">',
        "ssh -L 18789:localhost:18789 root@host",
        "mysql -u root -p shop",
        "docker run -p 8080:80 -u 1000 app",
        "docker run -p 8080:80 -u 1000:1000 app",
        "first pass: 72ms, second pass: 1.5s",
        "password: !vault_ref kv/shop/db",
        "Olvidé mi contraseña de Nextcloud.",
        "Забыл пароль от Nextcloud, помоги.",
        "redis-cli -p 6379 ping",
        "mkdir -p build/release",
        "login with Google and GitHub",
        "| user | password |\n|---|---|\n| anna | required |",
        "user,password,role\nanna,,admin",
        "toolu_01A09q90qw90lq917835lq9 finished",
        "密码必须至少包含8个字符",
        "パスワードを忘れた場合はこちら",
        "Пароль должен содержать не менее 8 символов",
        "Das Passwort muss mindestens 8 Zeichen haben",
        "the quick brown fox jumps over lazy dogs while cats watch from warm windows",
    ],
)
def test_what_people_write_about_secrets_stays(text: str) -> None:
    assert REDACT(text) == text
