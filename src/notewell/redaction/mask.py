"""What replaces a secret, `[redacted:github-token:3f2a]`, and the key of its four digits.

The same secret has the same mask, so a reader sees that two places mean the same key. The four
digits come from a keyed hash (HMAC); its key is in the state folder and never in the index.
If both key and masks are stolen, sixteen bits let an attacker exclude most entries of a list of
guesses: useless against a token of a hundred bits, useful against a password that a person
invented. So a secret that could be on such a list gets no digits; all of its kind look alike.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from notewell.errors import StateNotWritable
from notewell.files import create_file, make_private
from notewell.redaction.plausible import entropy

if TYPE_CHECKING:
    from pathlib import Path

GUESSABLE_BITS = 72
"""Below this a list of guesses is practical. The entropy of a value's own characters overstates
its strength, hence more than the 56 bits that a determined attacker can try in a year."""

GUESSABLE_CHARS = 20
"""Passwords of people are shorter; a program stores the long ones and also generated them."""

_DIGITS = 4
MASK_BEGINS = b"[redacted:"
MASK = r"\[redacted:[a-z0-9-]+(?::[0-9a-f]{4})?\]"

KEY_BYTES = 32
KEY_FILE = "redaction.key"


def mask(kind: str, secret: str, key: bytes | None) -> str:
    if key is None or is_guessable(secret):
        return f"[redacted:{kind}]"
    code = hmac.new(key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return f"[redacted:{kind}:{code.hexdigest()[:_DIGITS]}]"


def is_guessable(secret: str) -> bool:
    return len(secret) < GUESSABLE_CHARS or entropy(secret) * len(secret) < GUESSABLE_BITS


def load_mask_key(state_dir: Path) -> bytes:
    """The key of a state folder; made at the first call. Concurrent processes get the same one."""
    path = state_dir / KEY_FILE
    try:
        if not path.exists():
            make_private(state_dir)
            # Not `replace_file`: it would replace the key of a process that was faster, which
            # may already have written masks with it.
            create_file(path, os.urandom(KEY_BYTES), durable=True)
        key = path.read_bytes()
    except OSError as error:
        raise StateNotWritable(str(path), (error.strerror or "unknown error").lower()) from error
    if len(key) != KEY_BYTES:
        raise StateNotWritable(str(path), f"it is no key of {KEY_BYTES} bytes; remove it")
    return key
