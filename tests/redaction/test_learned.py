"""Secrets that no rule names, and how often the model that finds them is wrong."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest
from model.secrets.texts import generated

from notewell.redaction import Redactor
from notewell.redaction.context import TABLE_BITS, elements
from notewell.redaction.learned import WEIGHTS, hidden
from notewell.redaction.redactor import _masks, find_by_rules, find_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model.secrets.marks import Text

REDACT = Redactor()
MEASURED_SEED = 3
"""The weights were learned from another one."""
EACH = 40
"""Of so many texts one is measured: some of all kinds and languages."""


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    return list(islice(generated(MEASURED_SEED), 0, None, EACH))


def share_found(texts: Iterable[Text], *, with_model: bool) -> float:
    find = find_secrets if with_model else find_by_rules
    found = []
    for text in texts:
        data = text.text.encode()
        left = hidden(data, [(one.start, one.end) for one in find(data)])
        found += [secret not in left for secret in text.secrets]
    return sum(found) / len(found)


def test_the_model_finds_a_third_of_what_rules_miss(texts: list[Text]) -> None:
    by_rules = share_found(texts, with_model=False)
    assert 1 - share_found(texts, with_model=True) <= (1 - by_rules) * 2 / 3


def test_the_model_masks_one_in_a_hundred_texts_without_secrets(texts: list[Text]) -> None:
    clean = [text.text.encode() for text in texts if not text.secrets]
    wrong = sum(len(find_secrets(text)) > len(find_by_rules(text)) for text in clean)
    assert wrong / len(clean) <= 0.01


@pytest.mark.parametrize(
    "text",
    [
        "for the storage room press 4417, the code changes monthly",
    ],
)
def test_a_secret_that_no_rule_names_is_masked_by_the_words_around(text: str) -> None:
    assert not find_by_rules(text.encode())
    assert "[redacted:secret]" in REDACT(text)


@pytest.mark.parametrize(
    "text",
    [
        "The key decision of sprint 114 was to keep route53.",
        "Token count: 128000 for gpt-4o-mini-2024",
        "pass 3 of 5 took 4096 steps, code coverage 91x",
        "PIN 13 of header J42 is the key line",
        "see ticket OPS-4471 about the password policy",
    ],
)
def test_numbers_and_names_near_such_words_stay(text: str) -> None:
    assert REDACT(text) == text


def test_what_is_masked_by_the_model_is_not_masked_again(texts: list[Text]) -> None:
    for text in texts:
        once = REDACT(text.text).encode()
        assert find_secrets(once) == find_by_rules(once, _masks(once))


def test_the_weights_are_those_of_the_features() -> None:
    weights = WEIGHTS.read_bytes()
    assert len(weights) == 1 << TABLE_BITS
    assert len(set(weights)) > 100


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('DB_PASSWORD="foo!Bar2" # x', ["DB_PASSWORD", "foo!Bar2", "#", "x"]),
        ("user=anna:Kx92 now", ["user", "anna", "Kx92", "now"]),
        ("密码是abc123，好的", ["密码是", "abc123", "好的"]),
        ("**PIN**: `4821`.", ["PIN", "4821"]),
        ("mysql -pGeheim1 --user=root", ["mysql", "-pGeheim1", "--user", "root"]),
        ("...", []),
    ],
)
def test_a_line_is_words_and_values(line: str, words: list[str]) -> None:
    found = elements(line)
    assert [one.text for one in found] == words
    assert all(line[one.start : one.end] == one.text for one in found)


@pytest.mark.parametrize("piece", ["key=a1:", "pin\n1a2b\n", "key a1b2-", "密码a1", "code 11.22-"])
def test_a_hostile_megabyte_is_read_to_its_end(piece: str) -> None:
    REDACT(piece * (1_000_000 // len(piece)))
