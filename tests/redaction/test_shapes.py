"""Tokens of services that no rule names, and key material outside its usual wrapping."""
# ruff: noqa: E501 - a wording stands on one line

from __future__ import annotations

from random import Random

import pytest
from tests.redaction.fakes.making import filled, secret_in
from tests.redaction.test_recall import REDACT, is_gone

from notewell.redaction.redactor import find_by_rules

SHAPES = (
    "zz_{hex40}", "kx-{an22}.{an40}", "vz_{lo32}", "acme_{an28}", "zq_live_{an32}", "plum-pat-{an24}", "kite_api_{lo36}", "rk_orb_{hex40}", "ENV_TOKEN={hex32}",
    "SWMTKN-1-{lo50}-{lo25}", "K10{hex64}::node:{hex32}", "token-{lo5}:{lo54}", "{hex24}:{hex64}", "perm:{us8}.{d2}-{d2}.{an30}",
    "https://«{hex32}»:«{hex32}»@sentry.test/4", "X-Goog-Date=1&X-Goog-Signature=«{hex512}»", "wg genkey\n«{b6442}A=»\n",
    "gmail app password «qzxv kthw bdrm xvpz»", "app password for the blog: «{an4} 7x{an2} {an4} K9{an2} {an4} {an4}»",
    "FDE key {up4}-7K{up2}-{up4}-{up4}-Q2{up2}-{up4}", "AppSKey: «4F 31 1B A9 F7 54 29 FB 64 BC CA 5B D5 7B F0 92»",
    "network_key: [«11, 2, 43, 4, 5, 66, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16»]", "otp secret {b3226}", "base64:{b6443}=",
    "frase semilla: «lince otoño barro nieve queso rueda tigre viento pluma mar cobre hielo»",
    "助记词: «山 水 木 金 土 火 日 月 星 云 雨 雪»", "secret_admin_{an24}", "RGAPI-{uuid}", "Unseal Key 1: «{b6443}=»",
    "MC4CAQAwBQYDK2VwBCIEI{b6442}=", "nuget oy2{lo43}", "mlsn.{hex64}", "u+{us16}a7",
)  # fmt: skip


@pytest.mark.parametrize("seed", [5, 6, 7])
def test_a_shape_is_masked_wherever_it_stands(seed: int) -> None:
    random = Random(seed)
    made = [secret_in(filled(shape, random)) for shape in SHAPES for _ in range(4)]
    frames = ("{}", "here it is: {}", "`{}`", "| prod | {} | x |", "use {} until Friday")
    missed = []
    for secret, text in made:
        framed = (
            random.choice(frames).format(text) if not set("\n ") & set(secret + text[-1]) else text
        )
        secrets = secret.split("»:«") if "»:«" in secret else [secret]
        if not all(is_gone(one.removeprefix("ENV_TOKEN="), REDACT(framed)) for one in secrets):
            missed.append(framed)
    assert len(missed) <= len(made) * 0.03, missed


@pytest.mark.parametrize(
    "text",
    [
        '"id": "msg_01SxRKvzSAbPKgXu4781JHjw"',
        "request-id: req_0189EJVDRQDoLyxjoNqG8Dw7",
        '"integrity": "sha512-4nJ3yixlEthEJ9Rk4vPcdBRkZvQZlYyu8j4Lk2Qw9zXbT7=="',
        "chatcmpl-8lLGDDIjeBjBNEzYeoq4ibZX8jz9F finished",
        "https://github.test/a/pull/1/files#diff-ce84a1b2c9eb4ab3ea22f610cad7111cb9a2f66365c3b24679901376a2a73ab2",
        "import { Llama3_2LightweightChatWrapper } from x",
        "train-00000-of-00001-3fc76ae33f4e5a79.parquet",
        "Release GPG key: 9554F04D7259F04124DE6B476D5A82AC7E37093B",
        "ED25519 key fingerprint is SHA256:HBZlb29PMm1ZITcX8dHk5NPny+nIPnXCy3SGCeO17Ik.",
        '"key": "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1Olb3zMAFFxXKHiIkQO5cJ3Yhl5i6UPp"',
        "choosing the right seed: mix an important part of attracting many birds to your own garden feeder now",
        "password: @app.password@",
        "CLIENT_SECRET=\nLOG=1",
    ],
)
def test_ids_hashes_and_public_keys_stay(text: str) -> None:
    assert REDACT(text) == text


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (
            "Backup codes of the NAS\n 1. 7k2m9xpq   2. hd83kqpw\n 3. qqpw81mz   4. 92kdm1wx\n",
            "7k2m9xpq hd83kqpw qqpw81mz 92kdm1wx",
        ),
        (
            "Notfallcodes:\n- H7QP-22KD-M1WX\n- QQPW-81MZ-7K2M\n- 9XPQ-HD83-KQPW\n\nEnde",
            "H7QP-22KD-M1WX QQPW-81MZ-7K2M 9XPQ-HD83-KQPW",
        ),
        (
            "paper key: otter plinth gravel tram hollow pebble vermouth cobble lagoon turnip"
            " shovel nutmeg",
            "gravel turnip",
        ),
        (
            "my seed phrase otter plinth gravel tram hollow pebble lantern cobble lagoon turnip"
            " shovel nutmeg thistle oyster walrus saddle kettle marble canyon velvet hammer"
            " ribbon cactus pepper (ledger)",
            "gravel pepper",
        ),
        ("PUK1: 40718263 PIN1: 7120", "40718263 7120"),
        ("$ cat ansible/.vault_pass\nKr7wTq2LmZx93\n$", "Kr7wTq2LmZx93"),
        ("AUTH gravel-otter-plinth\n+OK", "gravel-otter-plinth"),
        ("curl -fsSu mona:Thistle-2291 https://h.example/", "Thistle-2291"),
        ('command: ["run", "--db-password", "gravel-otter-plinth"]', "gravel-otter-plinth"),
        ("Server=db1;Uid=mona;Pwd=Thistle2291;", "Thistle2291"),
        ("FileVault key is 'H7QP-22KD-M1WX-QQPW-81MZ-7K2M'", "H7QP-22KD-M1WX-QQPW-81MZ-7K2M"),
    ],
)
def test_what_programs_and_services_print_is_masked(text: str, secrets: str) -> None:
    masked = REDACT(text)
    assert [one for one in secrets.split() if one in masked] == []
    assert masked.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "## Emergency codes\n\nfunction\nrequired\nreturns1\n",
        "backup keys:\n  first1\n  second22\n  third333\n",
        "$ cat README.md\nNotewell\n",
    ],
)
def test_a_list_of_words_is_no_list_of_codes(text: str) -> None:
    assert not find_by_rules(text.encode())
