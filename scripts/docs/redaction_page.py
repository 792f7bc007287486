"""`docs/reference/redaction.md`: what is masked, from the rules themselves.

python -m scripts.docs.redaction_page > docs/reference/redaction.md
"""
# ruff: noqa: E501 - a page has one sentence a line, however long it is

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from notewell.redaction.codes import ANSWER_RULE, CARD_RULE, CODE_RULE, PET_RULE
from notewell.redaction.commands import COMMAND_RULES
from notewell.redaction.declared import DECLARED_RULES
from notewell.redaction.dialogs import PAIR_RULES
from notewell.redaction.labelled import LABEL_RULE
from notewell.redaction.labels import OTHER, SHORT, STEMS
from notewell.redaction.logins import LOGIN_RULES
from notewell.redaction.name_words import name_patterns
from notewell.redaction.names import NAME_RULES
from notewell.redaction.phrases import ACCOUNT_RULES, PHRASE_RULE
from notewell.redaction.places import (
    FILE_RULES,
    HEADER_RULES,
    LINK_RULES,
    QUERY_RULES,
    URL_RULES,
)
from notewell.redaction.positions import POSITION_RULES
from notewell.redaction.prefixed import PREFIXED_RULE
from notewell.redaction.seed_phrases import SEED_RULE
from notewell.redaction.sentences import SENTENCE_RULE
from notewell.redaction.standard_rules import STANDARD_RULES
from notewell.redaction.tables import HTML_TABLE_RULE, TABLE_RULES
from notewell.redaction.telling_words import LATIN_SECRETS, OTHER_SECRETS
from notewell.redaction.typed import TYPED_RULES
from notewell.redaction.vendor_rules import SOURCES, VENDOR_GROUPS
from notewell.redaction.wires import WIRE_RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.redaction.rules import Rule

_HEAD = """# What is masked

This page is generated from the rules; `tests/docs/test_redaction_page.py` checks that it is current.
Try a text of yours: `notewell redact FILE` ([how](../how-to/redact.md)).

A mask names the kind: `[redacted:github-token:3f2a]`. A kind may have several rules.
A value is masked if its shape, its place or its name says that it is a secret, and it is no placeholder (`<your-key>`, `xxxx`, `changeme`, `$TOKEN`), no reference to one (`os.environ[…]`, `${…}`, `vault:…`).

"""

_LEARNED = """## What no rule names

The kind is `secret`: a value with a digit, near a word about passwords, keys, codes or logins, that stands among other words as secrets do.
A linear model decides, with a weight for each of 65 536 features of the value, the words beside it and the lines around.
Its weights were learned from made-up texts in 50 languages and from the pages and programs of other projects; `model/secrets` in the source repeats that.

"""


def redaction_page() -> str:
    return "".join(
        (_HEAD, *_vendors(), *_standard(), *_places(), *_names(), _LEARNED, *_sources())
    )


def _vendors() -> Iterable[str]:
    yield "## Formats of vendors\n\n"
    for group, rules in VENDOR_GROUPS.items():
        yield f"### {group.capitalize()}\n\n| kind | begins with, or contains |\n|---|---|\n"
        yield from _rows(rules)
        yield "\n"
    yield f"### Any other service\n\nThe kind is `{PREFIXED_RULE.kind}`: {PREFIXED_RULE.says}.\n\n"


def _standard() -> Iterable[str]:
    yield "## Key material\n\n| kind | what |\n|---|---|\n"
    yield "| `private-key` | a private key of PEM, OpenSSH or PGP, in any wrapping: one line, quoted, escaped, cut off |\n"
    yield from _rows((*STANDARD_RULES, SEED_RULE))
    yield "\n"


def _places() -> Iterable[str]:
    yield "## Places\n\nWhere nothing but a secret can be.\n\n| kind | what |\n|---|---|\n"
    yield from _rows(
        (
            *URL_RULES,
            *LINK_RULES,
            *HEADER_RULES,
            *QUERY_RULES,
            *FILE_RULES,
            *COMMAND_RULES,
            *TYPED_RULES,
            *LOGIN_RULES,
            *WIRE_RULES,
        )
    )
    yield "\n"


def _names() -> Iterable[str]:
    yield "## Names and sentences\n\nThe kind is `password`, `secret`, `token`, `api-key`, `pin`, `security-answer` or `payment-card`, as the name says.\n"
    yield "A password beside its name may be a plain word or a number: `DB_PASS=dragon`, `my PIN is 4821`. Types, states and names in code stay: `password: required`, `password = form_value`.\n"
    yield "So may a secret, a token or a key whose name is certain (`client_secret`, `API_TOKEN`, `klucz_api`), in quotes, in the environment or in a line of its own.\n\n"
    yield from (
        f"* {rule.says}\n"
        for rule in (
            *NAME_RULES,
            *DECLARED_RULES,
            *POSITION_RULES,
            LABEL_RULE,
            CODE_RULE,
            ANSWER_RULE,
            PET_RULE,
            CARD_RULE,
            *TABLE_RULES,
            HTML_TABLE_RULE,
            *ACCOUNT_RULES,
            *PAIR_RULES,
            PHRASE_RULE,
            SENTENCE_RULE,
        )
    )
    for title, words in (
        ("a password", f"{STEMS}|{SHORT}|{OTHER}"),
        ("a secret", f"{LATIN_SECRETS}|{OTHER_SECRETS}"),
        ("a secret as the name of a setting", "|".join(name_patterns())),
    ):
        shown = ", ".join(f"`{word}`" for word in words.split("|"))
        yield f"\nWords that announce {title} (patterns): {shown}.\n"
    yield "\n"


def _sources() -> Iterable[str]:
    yield "## Sources\n\nPrefixes, alphabets and lengths are facts from these places; the patterns are our own.\n\n"
    yield from (f"* {source}\n" for source in SOURCES)


def _rows(rules: Iterable[Rule]) -> Iterable[str]:
    """One row for a kind, with the literals of all its rules."""
    shown: dict[str, list[str]] = {}
    for rule in rules:
        words = shown.setdefault(rule.kind, [])
        literals = (rule.says,) if rule.says else (f"`{one}`" for one in rule.literals)
        words += (word for word in literals if word not in words)
    for kind, words in shown.items():
        what = ", ".join(words).replace("|", "\\|").replace("\t", "⇥") or "its shape"
        yield f"| `{kind}` | {what} |\n"


if __name__ == "__main__":
    sys.stdout.write(redaction_page())
