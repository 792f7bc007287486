"""Recall on messages whose wordings no rule has and on places of programs; what is no secret."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.redaction.fakes.messages import MESSAGE_ROWS, every_message
from tests.redaction.test_recall import REDACT

LEAST_RECALL = 0.97
SEEDS = (31, 32)


@pytest.fixture(scope="module")
def missed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for seed in SEEDS:
        for sample in every_message(seed):
            found[sample.row].append(
                "" if sample.secret not in REDACT(sample.text) else sample.text
            )
    return found


@pytest.mark.parametrize("row", MESSAGE_ROWS)
def test_at_least_97_of_100_chosen_passwords_are_masked(
    missed: dict[str, list[str]], row: str
) -> None:
    left = [text for text in missed[row] if text]
    assert len(missed[row]) >= 100
    assert 1 - len(left) / len(missed[row]) >= LEAST_RECALL, left[:40]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("XkQrTvbW was the old password, now it is tZ66rIt", "XkQrTvbW"),
        ("the password is no longer TurnipSpoonLadder26 but Qu@rtzr1ver", "TurnipSpoonLadder26"),
        ("old password lagoon, new password Heron.55", "lagoon"),
        ("10.0.0.9 mona:Pl4ster77", "Pl4ster77"),
        ("creds nas.home.arpa -> mona Cobble.17", "Cobble.17"),
        ("passphrase: lagoon shovel nutmeg pigeon, don't tell", "lagoon shovel nutmeg pigeon"),
        ("password lagoon thx", "lagoon"),
        ("lagoon that's the pw", "lagoon"),
        ("garage keypad 7634", "7634"),
        ("what was your first pet? Hoover (security question)", "Hoover"),
        ("|Gerät|Passwort|\n|-|-|\n|NAS|Cobble-17x|", "Cobble-17x"),
        ("HOST    USER    PASSWORD\nnas     mona    Cobble-17x", "Cobble-17x"),
        (
            "<table><tr><th>user</th><th>password</th></tr>"
            "<tr><td>mona</td><td>Cobble17x</td></tr></table>",
            "Cobble17x",
        ),
        ("Service\n  user  mona\n  pass  Cobble1986 please change", "Cobble1986"),
        ("password: ||Cobble-17x||", "Cobble-17x"),
        (
            'Authorization: Digest username="mona", response="9878d28c91b7447d10c1de1c1c36975b"',
            "9878d28c91b7447d10c1de1c1c36975b",
        ),
    ],
)
def test_what_people_write_is_masked(text: str, secret: str) -> None:
    assert secret not in REDACT(text)


@pytest.mark.parametrize(
    "text",
    [
        "please change your password before Monday - mona",
        "password policy: twelve characters, two-factor-auth and a 90-day rotation",
        "the password for nas01 is in Bitwarden",
        "the password of the NAS is kept in 1Password",
        "ask Mona for the password of the UDM-Pro",
        "commit 4f2c9d0 fixes the password prompt in v2.13.4-rc1",
        "see https://h.example/Wiki/Password-Reset2024 for the password reset",
        "`passwordHash2` replaces `legacyPassword1`",
        "call login(user, Password123Field) with the password",
        "passwords are hashed with Argon2id or PBKDF2-SHA256",
        "password manager",
        "password reset, thanks",
        "the password is wrong, please try again",
        "quel est le mot de passe du wifi ?",
        "кто знает пароль от вайфая?",
        "heslo je špatně",
        "PASSWORD=\nREGION=1",
        "Key fingerprint = bf818724f5cef91ba81f37404b5528339b853592",
        "ALTER USER mona PASSWORD EXPIRE;",
        "name,email,last_password_change\nmona,mona@h.example,2026-05-02",
        'echo "$TOKEN" | docker login --password-stdin h.example',
        'let password = std::env::var("DB_PASSWORD")?;',
        "Passwords for the lab are in the safe:\nask Ivo",
        "I will send you the password tomorrow\n\nBest\nMona",
    ],
)
def test_what_people_write_about_passwords_stays(text: str) -> None:
    assert REDACT(text) == text
