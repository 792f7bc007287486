"""Masks are stable and say nothing, lines keep their numbers, hostile texts take no longer."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.redaction.made_up import ALNUM, SHAPED, every_secret, private_key, some

from notewell.redaction import Redactor, find_secrets
from notewell.redaction.plausible import entropy
from notewell.redaction.rulebook import RULES

KEY = bytes(range(32))
REDACT = Redactor(KEY)

PLAIN_LINES = st.one_of(
    st.text(st.characters(exclude_characters="\n"), max_size=60),
    st.sampled_from(
        ["", "# Title", "```", "password:", "token = ", "-----BEGIN PRIVATE KEY-----"]
    ),
)
SECRET_LINES = st.sampled_from([text for _, _, text in every_secret(4)])
TEXTS = st.lists(st.one_of(PLAIN_LINES, SECRET_LINES), max_size=12).map("\n".join)


def token(seed: int) -> str:
    return SHAPED["github classic"](Random(seed))


@given(TEXTS)
def test_as_many_lines_as_before(text: str) -> None:
    assert REDACT(text).count("\n") == text.count("\n")


@given(TEXTS)
def test_what_is_masked_once_is_not_masked_again(text: str) -> None:
    once = REDACT.redact(text).text
    assert REDACT(once) == once


@given(TEXTS)
def test_secrets_are_in_order_and_none_touches_another(text: str) -> None:
    found = find_secrets(text.encode("utf-8", "surrogatepass"))
    ends = [0, *(one.end for one in found)]
    assert all(one.start < one.end for one in found)
    assert all(before <= one.start for before, one in zip(ends, found, strict=False))


@given(st.text(max_size=300))
def test_any_text_at_all_can_be_redacted(text: str) -> None:
    REDACT(text)


@pytest.mark.parametrize(
    "text",
    [
        "PIN: नहीं, ९७८४ नहीं, 5527 है।",
        "PIN: ไม่ใช่ ๒๓๒๐ แต่เป็น 5360",
        "CREATE LOGIN bob WITH PASSWORD = 0𝟎x" + "𝟎𝟐e𝟗a𝟒" * 40 + " HASHED;",
    ],
)
def test_no_mask_begins_or_ends_inside_a_character(text: str) -> None:
    assert "[redacted:" in REDACT(text)


def test_lines_around_a_private_key_keep_their_numbers() -> None:
    key = private_key("RSA PRIVATE KEY", 12)(Random(1))
    lines = REDACT(f"before\n{key}\nafter").split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("before", "after", key.count("\n") + 3)
    assert re.fullmatch(r"\[redacted:private-key:[0-9a-f]{4}\]", lines[1])
    assert set(lines[2:-1]) == {""}


@pytest.mark.parametrize("break_", ["\n", " ", "\\n", "\n> "])
@pytest.mark.parametrize("end", [True, False])
def test_a_private_key_is_masked_however_it_was_pasted(break_: str, end: bool) -> None:
    lines = private_key("PRIVATE KEY", 8)(Random(2)).split("\n")
    text = break_.join(lines if end else lines[:-1]) + "\n\nThat was my key."
    masked = REDACT(text)
    assert not any(line in masked for line in lines[1:-1])
    assert masked.endswith("\n\nThat was my key.")


def test_headers_of_an_encrypted_key_go_with_it() -> None:
    key = private_key("RSA PRIVATE KEY", 6)(Random(3))
    head, body = key.split("\n", 1)
    encrypted = f"{head}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123AB\n\n{body}"
    assert REDACT(encrypted).strip().startswith("[redacted:private-key:")
    assert "DEK" not in REDACT(encrypted)


def test_the_same_secret_has_the_same_mask_and_another_has_another() -> None:
    one, other = token(1), token(2)
    masked = REDACT(f"{one} {other} {one}").split()
    assert masked[0] == masked[2] != masked[1]
    assert REDACT(f"TOKEN={one}") == f"TOKEN={masked[0]}"


def test_masks_of_another_key_tell_nothing_about_these() -> None:
    assert Redactor(KEY)(token(1)) != Redactor(b"x" * 32)(token(1))


def test_a_secret_that_could_be_guessed_gets_no_digits() -> None:
    masked = {REDACT(f"password: {one}") for one in ("Rosebud-1941", "hunter2!", "S3cret!!")}
    assert masked == {"password: [redacted:password]"}
    assert Redactor()(token(1)) == "[redacted:github-token]"


def test_the_surest_rule_names_the_secret() -> None:
    assert REDACT(f"api_key = {token(1)}").startswith("api_key = [redacted:github-token:")


def test_the_report_counts_kinds_and_holds_no_secret() -> None:
    report = REDACT.redact(f"{token(1)} and {token(2)}, password: Rosebud-1941")
    assert report.kinds == {"github-token": 2, "password": 1}
    assert token(1) not in repr(report)


def test_a_text_without_secrets_is_handed_back_as_it_is() -> None:
    text = "nothing to see here"
    assert REDACT(text) is text


def test_there_are_rules_for_more_than_a_hundred_kinds() -> None:
    assert len({rule.kind for rule in RULES}) > 100


def test_no_rule_is_left_out_because_its_literal_was_not_seen() -> None:
    """The pass that chooses rules must find each literal, alone and among all the others."""
    crowd = " ".join(literal for rule in RULES for literal in rule.literals)
    # Each kind a few times: with all literals in it, a text meets every rule.
    for _, secret, text in every_secret(5)[::9]:
        alone = find_secrets(text.encode())
        among = find_secrets(f"{crowd}\n\n{text}".encode())
        kinds = {one.kind for one in alone}
        assert kinds <= {one.kind for one in among}, secret[:12]


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "password=",
        'token="',
        "key='key=",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY----- " + "A" * 40 + " ",
        "eyJhbGciOi.",
        "https://a:",
        "cookie: a=b; ",
        "&a_",
        "sk-",
        "A_",
        "Aa",
        "[redacted:",
        "kind: Secret\n",
        "curl ",
        "密码是",
        "the password is a1 ",
        "| password |\n|---|\n",
        "user,password\n",
        "word " * 11,
        "login a / ",
        "mysql -p",
        "echo a | ",
        "1,",
        "recovery codes\nab12-cd34\n",
        "seed\none\n",
        "create user password '",
        "hook/",
    ],
)
def test_a_hostile_megabyte_is_read_like_any_other(piece: str) -> None:
    """Nothing here grows with the square of the text: a run that did would never end."""
    text = piece * (1_000_000 // len(piece.encode()))
    assert REDACT(text).count("\n") == text.count("\n")


def test_entropy_is_that_of_the_letters() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
    assert entropy(some(Random(1), ALNUM, 10_000)) > 5.9


@pytest.mark.parametrize("first", ["the wifi password is", "Passwort:", "密码是"])
def test_a_sentence_with_a_secret_does_not_hide_that_of_the_next_line(first: str) -> None:
    text = REDACT(
        f"{first} Kestrel2024!\nthe vpn password is Q7#kd9Lp\nmein Passwort ist Wq8!tz3x"
    )
    assert not re.search(r"Kestrel2024|Q7#kd9Lp|Wq8!tz3x", text)
