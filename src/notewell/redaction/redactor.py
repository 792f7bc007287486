"""START HERE: a text in, the same lines without secrets out.

    text ──▶ which literals occur? ──▶ the rules that need them ──▶ spans ──▶ merged ──▶ masks

One pass over the text says which rules can match at all; for most texts that is none. What they
leave is looked at once more, by `learned.py`.

Invariant: the result has the same number of lines as the text, with the same numbers. Nothing
here changes the file that a text came from.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.native_calls import native_calls
from notewell.records import dataclass, field
from notewell.redaction.codes import answer_spans, code_line_spans, code_spans, is_card_number
from notewell.redaction.declared import declared_spans, directive_spans
from notewell.redaction.dialogs import pair_spans
from notewell.redaction.labelled import labelled_spans
from notewell.redaction.learned import KIND, learned_spans
from notewell.redaction.mask import MASK_BEGINS, mask
from notewell.redaction.names import named_spans
from notewell.redaction.phrases import PHRASE_RULE, phrase_end, phrase_spans
from notewell.redaction.plausible import (
    is_grouped,
    is_passphrase,
    is_password,
    is_placed,
    is_placeholder,
    is_random,
    is_token,
)
from notewell.redaction.positions import position_spans
from notewell.redaction.prefixed import prefixed_spans
from notewell.redaction.private_keys import find_private_keys
from notewell.redaction.recovery import listed_spans
from notewell.redaction.rulebook import rulebook
from notewell.redaction.seed_phrases import SEED_HEADING, is_named_phrase, is_seed_phrase
from notewell.redaction.sentences import sentence_spans
from notewell.redaction.tables import html_table_spans, table_spans
from notewell.redaction.typed import typed_spans
from notewell.redaction.weak_values import is_code, is_joined, is_phrase, is_weak_password

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from notewell.redaction.rules import Proof, Rule


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text that may be shown, and what was removed from it."""

    text: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many secrets of each kind, for the report; never the secrets."""


class Redactor:
    """Keeps nothing of the texts that it has seen. Thread-safe."""

    def __init__(self, key: bytes | None = None, *, allowed: Collection[str] = ()) -> None:
        """Without a `key` masks have no digits. `allowed` are values that are no secrets."""
        self._key = key
        self._allowed = frozenset(value.encode("utf-8", "surrogatepass") for value in allowed)

    def __call__(self, text: str) -> str:
        return self.redact(text).text

    def redact(self, text: str) -> Redacted:
        # RE2 works on UTF-8, so all spans are in bytes. `surrogatepass` keeps lone surrogates,
        # which a transcript may contain.
        data = text.encode("utf-8", "surrogatepass")
        parts: list[bytes] = []
        kinds: Counter[str] = Counter()
        done = 0
        for secret in find_secrets(data):
            value = data[secret.start : secret.end]
            # Compared as a whole: an allowed value inside a longer secret allows nothing.
            if value in self._allowed:
                continue
            kinds[secret.kind] += 1
            parts += (data[done : secret.start], self._masked(secret.kind, value))
            done = secret.end
        # The text itself, without a copy: most texts contain no secret.
        if not kinds:
            return Redacted(text)
        redacted = b"".join([*parts, data[done:]])
        return Redacted(redacted.decode("utf-8", "surrogatepass"), dict(kinds))

    def _masked(self, kind: str, value: bytes) -> bytes:
        """The mask and the line breaks of the value: line numbers after it stay the same."""
        replacement = mask(kind, value.decode("utf-8", "surrogatepass"), self._key)
        return replacement.encode() + b"\n" * value.count(b"\n")


# -- finding -------------------------------------------------------------------------------------


Span = tuple[int, int]


class SecretSpan(NamedTuple):
    """Where a secret is, in bytes of UTF-8, and its kind."""

    start: int
    end: int
    kind: str


class LocatedSecret(NamedTuple):
    """Where a secret is, for people; never the secret."""

    line: int
    kind: str


def locate_secrets(text: str) -> list[LocatedSecret]:
    """The line, from 1, and the kind of each secret, in order."""
    data = text.encode("utf-8", "surrogatepass")
    located, line, counted_to = [], 1, 0
    for secret in find_secrets(data):
        line += data.count(b"\n", counted_to, secret.start)
        counted_to = secret.start
        located.append(LocatedSecret(line, secret.kind))
    return located


def find_secrets(data: bytes) -> list[SecretSpan]:
    """In order, without overlaps, and none inside an existing mask."""
    with native_calls():
        masks = _masks(data)
        found = find_by_rules(data, masks)
        known = sorted([*masks, *((one.start, one.end) for one in found)])
        learned = [SecretSpan(*span, KIND) for span in learned_spans(data, known)]
    return sorted([*found, *learned]) if learned else found


def find_by_rules(data: bytes, masks: Sequence[Span] = ()) -> list[SecretSpan]:
    """The same, without those that no rule names."""
    spans = list(_matches(data))
    if masks:
        spans = _outside(masks, spans)
    return _merged((rank, _whole(data, span)) for rank, span in spans)


def _masks(data: bytes) -> list[Span]:
    # A cheap test first: almost no text has a mask.
    if MASK_BEGINS not in data:
        return []
    return [match.span() for match in rulebook().masks.finditer(data)]


def _whole(data: bytes, span: SecretSpan) -> SecretSpan:
    """Some rules read a limited number of bytes, which may end inside a character."""
    start, end = span.start, span.end
    while start and _continues(data, start):
        start -= 1
    while _continues(data, end):
        end += 1
    return SecretSpan(start, end, span.kind)


def _continues(data: bytes, at: int) -> bool:
    return b"\x80" <= data[at : at + 1] < b"\xc0"


def _outside(
    masks: Sequence[tuple[int, int]], spans: Iterable[tuple[int, SecretSpan]]
) -> list[tuple[int, SecretSpan]]:
    """Without this, redacting twice would mask the digits of a mask."""
    starts = [start for start, _ in masks]
    nearest = ((ranked, bisect_right(starts, ranked[1].end - 1) - 1) for ranked in spans)
    return [
        ranked for ranked, number in nearest if number < 0 or ranked[1].start >= masks[number][1]
    ]


def _matches(data: bytes) -> Iterator[tuple[int, SecretSpan]]:
    """With the rank of each: the number of its rule. Overlaps included."""
    # First, so that a private key keeps its kind where other rules match inside it.
    for start, end in find_private_keys(data):
        yield -1, SecretSpan(start, end, "private-key")
    read_until = 0
    for rank, rule, match, offset in rulebook().matches(data):
        if rule is PHRASE_RULE:
            # A phrase reads on behind its word; the next word of the line was read with it.
            if offset + match.start() < read_until:
                continue
            read_until = offset + phrase_end(match)
        for start, end, kind in _secrets_of(rule, match):
            yield rank, SecretSpan(offset + start, offset + end, kind)


def _secrets_of(rule: Rule, match: Any) -> Iterator[tuple[int, int, str]]:
    reader = _READERS.get(rule.proof)
    if reader:
        yield from reader(match, rule)
    elif _is_secret(rule, _text(match.group(1))):
        yield (*match.span(1), rule.kind)


def _seeds(match: Any, rule: Rule) -> Iterator[tuple[int, int, str]]:
    before, after = _line_around(match)
    start, end = match.span(1)
    # `seed phrase armed auto …`: its name is no word of it.
    named = SEED_HEADING.match(_text(match.group(1)))
    for at in {start, start + (named.end() if named else 0)}:
        phrase, heading = _text(match.string[at:end]), _text(match.string[start:at])
        if is_seed_phrase(phrase, before + heading, after):
            yield at, end, rule.kind


def _is_secret(rule: Rule, value: str) -> bool:
    proof = _PROOFS.get(rule.proof)
    return proof(value) if proof else not is_placeholder(value)


_PROOFS: dict[Proof, Callable[[str], bool]] = {
    "random": is_random,
    "token": is_token,
    "password": lambda value: is_password(value) or is_passphrase(value),
    "weak": is_weak_password,
    "argument": lambda value: any(
        might_be(value) for might_be in (is_password, is_joined, is_code, is_phrase)
    ),
    "account": lambda value: is_password(value) or is_joined(value) or is_code(value),
    "card": is_card_number,
    "grouped": is_grouped,
    "words": is_named_phrase,
    "place": lambda value: is_placed(value.strip("\\")),
}
"""What must be true of group 1; without one, that it is no placeholder."""

_READERS: dict[Proof, Callable[[Any, Rule], Iterator[tuple[int, int, str]]]] = {
    "phrase": phrase_spans,
    "label": labelled_spans,
    "pair": pair_spans,
    "typed": typed_spans,
    "declared": declared_spans,
    "directive": directive_spans,
    "position": position_spans,
    "code": code_spans,
    "code-line": code_line_spans,
    "answer": answer_spans,
    "table": table_spans,
    "html": html_table_spans,
    "sentence": sentence_spans,
    "name": named_spans,
    "seed": _seeds,
    "prefixed": prefixed_spans,
    "listed": listed_spans,
}
"""What finds the secrets of a match, for proofs that look at more than its group 1."""


def _line_around(match: Any) -> tuple[str, str]:
    data: bytes = match.string
    start, end = match.span(1)
    line_start = max(data.rfind(b"\n", max(0, start - 200), start) + 1, start - 200)
    line_end = data.find(b"\n", end, end + 200)
    line_end = min(len(data), end + 200) if line_end < 0 else line_end
    return _text(data[line_start:start]), _text(data[end:line_end])


def _merged(spans: Iterable[tuple[int, SecretSpan]]) -> list[SecretSpan]:
    """Overlapping spans become one that covers both, so that no end of a secret remains. Its kind
    is that of the more certain rule, which came first."""
    merged: list[tuple[int, SecretSpan]] = []
    for rank, span in sorted(spans, key=lambda ranked: (ranked[1].start, ranked[0])):
        if merged and span.start < merged[-1][1].end:
            before_rank, before = merged[-1]
            kind = before.kind if before_rank <= rank else span.kind
            union = SecretSpan(before.start, max(before.end, span.end), kind)
            merged[-1] = (min(rank, before_rank), union)
        else:
            merged.append((rank, span))
    return [span for _, span in merged]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
