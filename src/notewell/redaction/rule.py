"""What a rule is.

Patterns run on RE2, which has no look-around and never backtracks: its time grows with the text
and with nothing else. Group 1 of a pattern is the secret, the rest is what it stands in.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

BEGINS = r"(?:\b|\\[nrt])"
"""Where a token may begin. In JSON that was pasted, a line break is two characters, `\\n`."""


Proof: TypeAlias = Literal["shape", "random", "password", "address", "name", "prose"]
"""What makes a match a secret: its shape alone; that it looks random, or thought up, besides;
where it stands; or the name before it, in a setting or in a sentence."""


class Rule(NamedTuple):
    """One kind of secret, by its shape."""

    kind: str
    """As the mask names it: `github-token`."""
    pattern: str
    literals: tuple[str, ...]
    """A text without any of these has no such secret, so the pattern need not run.
    Upper and lower case differ, unless the rule says otherwise."""
    any_case: bool = False
    """Whether case is ignored, in the literals and in the pattern."""
    proof: Proof = "shape"


def token(kind: str, prefixes: str, body: str) -> Rule:
    """A rule for what begins with one of `prefixes`, parted by spaces, and goes on with `body`."""
    named = tuple(prefixes.split())
    either = "|".join(re.escape(prefix) for prefix in named)
    return Rule(kind, rf"{BEGINS}((?:{either}){body})", named)
