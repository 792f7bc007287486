"""START HERE: a text in, the same lines without secrets out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from notewell.redaction.find import find_secrets
from notewell.redaction.mask import mask

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

RULES_VERSION = 1
"""Raised with every change of a rule: what was indexed under other rules is read again."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that may be shown, and what was taken out of it."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of each kind, for the report; never the secrets."""


class Redactor:
    """Holds nothing of the texts it has seen; one may serve every thread."""

    def __init__(self, key: bytes | None = None, *, allowed: Collection[str] = ()) -> None:
        """Without a `key` masks have no digits. `allowed` are values known to be no secrets."""
        self._key = key
        self._allowed = frozenset(value.encode("utf-8", "surrogatepass") for value in allowed)

    def __call__(self, text: str) -> str:
        return self.redact(text).text

    def redact(self, text: str) -> Redacted:
        data = text.encode("utf-8", "surrogatepass")
        parts: list[bytes] = []
        kinds: Counter[str] = Counter()
        done = 0
        for secret in find_secrets(data):
            value = data[secret.start : secret.end]
            if value in self._allowed:
                continue
            kinds[secret.kind] += 1
            parts += (data[done : secret.start], self._masked(secret.kind, value))
            done = secret.end
        if not kinds:
            return Redacted(text)
        whole = b"".join([*parts, data[done:]])
        return Redacted(whole.decode("utf-8", "surrogatepass"), dict(kinds))

    def _masked(self, kind: str, value: bytes) -> bytes:
        """The mask, and the line breaks of what it stands for: line numbers stay true."""
        shown = mask(kind, value.decode("utf-8", "surrogatepass"), self._key)
        return shown.encode() + b"\n" * value.count(b"\n")
