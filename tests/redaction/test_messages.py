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
            "[2031-02-03 10:00] Mona: what's the password?\n[2031-02-03 10:01] Pia: user mona"
            "\n[2031-02-03 10:02] Pia: Cobble-17x\n",
            "Cobble-17x",
        ),
        ("A: mi mandi la password?\nB: eccola: lagoon\n", "lagoon"),
        ("—¿Me das la contraseña?\n—Claro, lagoon\n", "lagoon"),
        ("- T'as le mot de passe du NAS ?\n- Oui : lagoon17\n- merci\n", "lagoon17"),
        ("- passa a senha do NAS\n- é lagoon.nutmeg.turnip\n", "lagoon.nutmeg.turnip"),
        ("sorry, the password is Heron.55, not lagoon.", "lagoon"),
        ("das Passwort ist nicht lagoon17 sondern Heron.55", "lagoon17"),
        ("neither lagoon nor Heron.55 works as password", "lagoon"),
        ("Sandi sudah diganti jadi lagoon.", "lagoon"),
        ("lagoon est le nouveau mot de passe du NAS.", "lagoon"),
        ("804417 to nowe hasło do NAS", "804417"),
        ("try lagoon, it's the same password as for the NAS", "lagoon"),
        ("# Onboarding\n1. NAS: mona / 8044172\n", "8044172"),
        ("Übergabe\n- Router: admin / lagoon\n", "lagoon"),
        ("3. Garage: code 8044", "8044"),
        ("panel: user code 8044, installer code 731902", "731902"),
        ("Tresor: 12-40-55 (links herum)", "12-40-55"),
        ("Use 731902 to sign in.", "731902"),
        ("[19:11] Mona: I'm locked out of the NAS\n[19:12] Pia: try cobble156\n", "cobble156"),
        ("login/pass: mona lagoon", "lagoon"),
        ("||User||Password||\n|mona|lagoon|", "lagoon"),
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
        "This is the new password",
        "UPDATE users SET password = crypt($2, gen_salt('bf')) WHERE id = 8;",
        "What is the current password?",
        "# public key: age1qz7tmw0v3x5k8n2p4s6u9y1r3e5w7q9t2l4j6h8g0f2d4c6a8m0n2v4x",
        "mi contraseña no funciona en nas03.kontor.de",
        "hasher = new PasswordHasher()",
        "Bitwarden is the new password manager",
        "The password is optional, not required.",
        "Router: admin / guest",
        "change the password to something longer",
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
