"""What a rule is, and what proves that its match is a secret.

Patterns run on RE2, which has no look-around and never backtracks: its time is linear in the
text, so no input can make it slow. Group 1 of a pattern is the secret.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

RULES_VERSION = 7
"""Increase it with every change of a rule: sources indexed with other rules are read again."""

BEGINS = r"(?:\b|\\[nrt])"
"""Where a token may begin. In pasted JSON a line break is two characters, `\\n`."""

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

Proof: TypeAlias = Literal[
    "shape",
    "random",
    "token",
    "password",
    "place",
    "weak",
    "argument",
    "account",
    "card",
    "name",
    "phrase",
    "table",
    "html",
    "seed",
    "label",
    "code",
    "code-line",
    "answer",
    "pair",
    "typed",
    "declared",
    "directive",
    "position",
    "sentence",
    "prefixed",
    "grouped",
    "words",
    "listed",
]
"""What proves that a match is a secret:

shape      the pattern alone
random     the pattern, and the value looks generated
token      the same, for shorter values
password   the pattern, and the value looks like a password
place      its place: nothing but a password can be there
name       the name before it in a setting: `password = …`
phrase     a telling word in a sentence
table      the name of its column
html       the same, in HTML
seed       words of a wallet, without grammar
label      a name that says password, and what the place of the value says
weak       the pattern, and the value could be a weak password: no type, no state, no reference
code-line  digits in a line about a code and a door
code       digits beside a name that says PIN
answer     a word behind a name that says security answer
card       a valid check digit
pair       a user or a file before it
account    a user before it, and a word that says login
typed      a prompt, a protocol or a command that asks for one
declared   the name before or behind it, with a type, a call or a directive between
directive  a line of a name and a value
position   the name at the same position: a column, a variable
argument   the last of a user and a password
sentence   a topic in its line or above it, and a value that is no word of a sentence
prefixed   the rest of a token looks generated, and its prefix is none of an id
grouped    characters in groups that make no words
words      as many words as a wallet has
listed     lines of codes of one length
"""


class Rule(NamedTuple):
    """One kind of secret, by its shape."""

    kind: str
    """As it appears in the mask: `github-token`."""
    pattern: str
    literals: tuple[str, ...]
    """A text without any of these has no such secret, so the pattern does not run. They are
    case-sensitive unless `any_case`. A rule without literals runs if its pattern matches in one
    pass with those of all others that have none."""
    any_case: bool = False
    """Whether literals and pattern ignore case."""
    proof: Proof = "shape"
    spans_lines: bool = False
    """Whether a match can reach over several lines."""
    says: str = ""
    """For the reference page: what is masked, if the kind does not tell."""
    also: tuple[str, ...] = ()
    """For a rule whose literals most texts have: a text must have one of these, too."""

    @property
    def choosing(self) -> tuple[str, ...]:
        """The literals, unless words of any text have them (`path`): then the pattern chooses."""
        return () if _PARTS_OF_WORDS.issuperset(self.literals) else self.literals


_PARTS_OF_WORDS = frozenset((
    "pat", "st.", "ser.", "cio", "ck-", "key-", "pubkey-", "key_", "sk_", "app-", "dataset-",
    "re_", "live_", "test_", "access_", "code=", "-us", "+",
))  # fmt: skip


def token(kind: str, prefixes: str, body: str) -> Rule:
    """A rule for a token that starts with one of `prefixes` (separated by spaces)."""
    literals = tuple(prefixes.split())
    # A prefix of one or two characters is everywhere, so it chooses nothing.
    chosen = literals if all(len(prefix) > 2 for prefix in literals) else ()
    any_prefix = "|".join(re.escape(prefix) for prefix in literals)
    return Rule(kind, rf"{BEGINS}((?:{any_prefix}){body})", chosen)
