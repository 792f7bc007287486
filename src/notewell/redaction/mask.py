"""What stands in a secret's place: `[redacted:github-token:3f2a]`.

The same secret has the same mask, so a reader sees that two places mean the same key. The four
digits come from a keyed hash, whose key lives in the state folder and nowhere in the index. Should
key and masks both be stolen, sixteen bits let an attacker strike out most of a list of guesses:
useless against a token of a hundred bits, welcome against a password somebody thought up. So what
could be on such a list gets no digits at all; its mask is the same for all of its kind.
"""

from __future__ import annotations

import hashlib
import hmac

from notewell.redaction.plausible import entropy

GUESSABLE_BITS = 72
"""Below this a list of guesses is worth making. Measured on the value itself, which overstates:
hence more than the 56 bits that a determined attacker could try in a year."""

GUESSABLE_CHARS = 20
"""People's passwords are shorter; a long one is kept by a program that also chose it."""

_DIGITS = 4
MASK_BEGINS = b"[redacted:"
MASK = r"\[redacted:[a-z0-9-]+(?::[0-9a-f]{4})?\]"


def mask(kind: str, secret: str, key: bytes | None) -> str:
    if key is None or is_guessable(secret):
        return f"[redacted:{kind}]"
    code = hmac.new(key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"[redacted:{kind}:{code.hexdigest()[:_DIGITS]}]"


def is_guessable(secret: str) -> bool:
    return len(secret) < GUESSABLE_CHARS or entropy(secret) * len(secret) < GUESSABLE_BITS
