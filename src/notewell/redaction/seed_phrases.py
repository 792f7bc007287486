"""Recovery phrases of wallets: 12, 15, 18, 21 or 24 short words without grammar.

The words of BIP-39 have three to eight letters, and the commonest words of English are not among
them. A dozen words in a row without one of those is no sentence; only a list of words looks alike,
so a list is masked where nothing else is on its line, in its quotes or behind its name.
"""

from __future__ import annotations

import re
from itertools import pairwise

from notewell.redaction.plausible import word_set
from notewell.redaction.rules import Rule

SEED_HEADING = re.compile(
    r"(?:(?:my|our|new|old|current|seed|mnemonic|recovery|backup|wallet|secret|phrase|words|paper"
    r"|key)[ ])+"
)
COUNTS = frozenset({12, 15, 18, 21, 24})
NAMED_COUNTS = COUNTS | {13, 25}
"""Electrum and Monero have one word more."""

SEED_RULE = Rule(
    "seed-phrase",
    r"(?:^|[\s\"'`:：=(])((?:[a-z]{3,8},?[ ]){11,27}[a-z]{3,8})(?:[.\"'`)\s;]|$)",
    (),
    proof="seed",
    says="a recovery phrase of a wallet, 12 to 24 words",
)
_NAMES = re.compile(
    r"(?i)seed|mnemonic|recovery|wallet|phrase|bip-?39|paper.?key|keybase|助记词|恢复短语|シード|니모닉|\bwords\b"
)
_GRAMMAR = word_set("the and for was are were from but has had his her its our their would which")
_CODE_WORDS = word_set(
    "not been she him who whom while could should does did doing done than them these those into"
    " onto upon using used uses users values value string function returns def self none null true"
    " false import names types dict array numbers default without between because during through"
    " being let var const int char per via neither nor"
)


def is_seed_phrase(phrase: str, before: str, after: str) -> bool:
    """`before` is the line up to the phrase, `after` the rest of the line."""
    words = phrase.replace(",", " ").split()
    if len(words) not in COUNTS or not _GRAMMAR.isdisjoint(words):
        return False
    # A list of key words repeats and sorts them; a generator does neither.
    ordered = sum(one < other for one, other in pairwise(words))
    if ordered == len(words) - 1:
        return False
    if _NAMES.search(before):
        return True
    if len(set(words)) < len(words) * 3 // 4 or not 2 <= ordered <= len(words) - 3:
        return False
    alone = not before.strip(" \t>*-+|\"'`") and not after.strip(" \t.|\"'`")
    return alone and _CODE_WORDS.isdisjoint(words)


def is_named_phrase(phrase: str) -> bool:
    """Behind its name a phrase may be of any language: as many words as a wallet has."""
    words = re.split(r"[,、\s]+", phrase.strip())
    return (
        len(words) in NAMED_COUNTS
        and len(set(words)) > len(words) * 2 // 3
        and _GRAMMAR.isdisjoint(words)
    )
