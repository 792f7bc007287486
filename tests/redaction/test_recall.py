"""What is masked and what is left: measured on made-up secrets and on ordinary pages."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.redaction.made_up import NAMED, SHAPED, every_secret

from notewell.redaction import Redactor

REDACT = Redactor(b"k" * 32)
LEAST_RECALL = 0.97
LEFT_CHARS = 8
"""So much of a secret left standing counts as a miss, wherever it was cut."""


def is_gone(secret: str, text: str) -> bool:
    pieces = secret.split() if "-----" in secret else [secret]
    long_enough = (one for one in pieces if len(one) > LEFT_CHARS and "-----" not in one)
    return secret not in text and not any(
        one[start : start + LEFT_CHARS] in text
        for one in long_enough
        for start in range(len(one) // 2, len(one) - LEFT_CHARS + 1)
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_least_97_of_100_secrets_of_at_least_35_kinds_are_masked(seed: int) -> None:
    missed: dict[str, list[str]] = defaultdict(list)
    secrets = every_secret(seed)
    for kind, secret, text in secrets:
        if not is_gone(secret, REDACT(text)):
            missed[kind].append(text)
    count = sum(map(len, missed.values()))
    assert len({kind for kind, _, _ in secrets}) == len(SHAPED) + len(NAMED) >= 35
    assert 1 - count / len(secrets) >= LEAST_RECALL, dict(missed)


@pytest.mark.parametrize(
    "text",
    [
        "export OPENAI_API_KEY=sk-...",
        "export OPENAI_API_KEY=<your key>",
        'apiKey: "${OPENAI_API_KEY}"',
        "password: $DB_PASSWORD",
        "password: your-password-here",
        "password: changeme123",
        'password: "string"',
        "The password is required.",
        "Passwords must have 8 characters.",
        "token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "max_tokens: 4096",
        "tokens: 128000",
        'tokenizer = "sentencepiece-v2-large"',
        "keyboard: us-intl-2024",
        "apiKeyEnv: OPENAI_API_KEY_2",
        "secretRef: vault/app/prod-2",
        "token_count=12345678901234",
        "api_key = os.environ['KEY_1234567']",
        "token = get_token(user_id_1234)",
        "model_key: text-embedding-3-small",
        "key: value-123-abc",
        "password: [redacted:password]",
        "postgres://user:password@localhost/db",
        "postgres://user:${PGPASSWORD}@localhost/db",
        "https://example.org/a:b@c",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "commit 4f2c9d0b7a6e5f4d3c2b1a0987654321fedcba98",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "密码不能为空，长度至少8位。",
        "We talked about passwords, tokens and keys: all of them are kept in the vault.",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert REDACT(text) == text


def test_a_value_that_the_user_allows_stays() -> None:
    text = "password: Rosebud-1941"
    assert Redactor()(text) == "password: [redacted:password]"
    assert Redactor(allowed=["Rosebud-1941"])(text) == text
