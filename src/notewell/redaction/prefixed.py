"""Tokens of services that no rule names: a short prefix, `_` or `-`, and a long random rest.

    acme_live_8sKq…      the prefix is no word of an id, the rest looks generated

Identifiers look alike (`msg_01SxRK…`, `sha512-…`), so prefixes of ids and of hashes stay, and so
does what stands behind `id`. A rest of hexadecimal digits alone may be a hash: then the prefix, or
the line before it, must say what it is.
"""
# ruff: noqa: E501 - a pattern is read as a whole

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from notewell.redaction.plausible import is_identifier, is_placeholder, is_random, word_set
from notewell.redaction.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

MIN_REST_CHARS = 20
MIN_HEX_CHARS = 32
MAX_PREFIX_BYTES = 40
MAX_LINE_BYTES = 100
MAX_SHORT_PREFIX = 6
"""`zz_`: nothing but tokens and ids have so short a prefix before hexadecimal digits."""

# The rest alone, so that the automaton stays small; the prefix is read backwards from it.
PREFIXED_RULE = Rule(
    "service-token",
    rf"[a-zA-Z0-9][_-]([A-Za-z0-9]{{{MIN_REST_CHARS},}}(?:[_-][A-Za-z0-9]+)*(?:\.[A-Za-z0-9_-]{{16,}})*)",
    (),
    proof="prefixed",
    says="a short prefix and a long random rest, of any service: `acme_live_…`; ids (`msg_…`) and hashes (`sha512-…`) stay",
)

_PREFIX = re.compile(
    rb"(?<![A-Za-z0-9_./+@%=$&#?:-])[A-Za-z][A-Za-z0-9]{0,11}(?:[_-][A-Za-z0-9]{1,12}){0,3}[_-]$"
)
_TELLING = word_set(
    "key apikey sk rk pk ak as at rt st pat token tok tkn secret sec api auth access refresh live prod test sandbox"
    " ck cs nk ste n8n dtn crsr fc pplx wsk dsk"
    " private priv prv svc sa srv webhook whsec oat uat bot cli admin deploy agent hook signing root"
)
_OF_IDS = word_set(
    "msg message req request resp response res run call toolu tool chatcmpl cmpl thread file asst assistant step batch job evt event user usr org"
    " proj project acct account cus customer sub price in inv pi ch pm txn card si seti cs wrkspc ws uprof rlg app id uid uuid guid obj doc page img image chunk gen"
    " trace span diff snp rev build dpl prj team node item order task note block conv session sess room channel group member device vs vsfile reqid rid cid pid tid"
    " sha md5 sha1 sha256 sha384 sha512 blake3 h1 v1 v2 commit hash etag rv ninja index main vendor chunks nightly release train data part shard font icon logo photo video audio css js"
    " urn swh ou oc on rc fix feat bug sid pub public publishable"
)
_ID_BEFORE = re.compile(
    rb"(?i)(?:\b|_|-)(?:id|uid|uuid|ref|hash|sha|integrity|checksum|digest|etag|fingerprint)s?\\{0,2}[\"'`]?[ \t]{0,4}(?:[:=]|is\b)?[ \t]{0,4}\\{0,2}[\"'`]?$"
)
_TELLING_LINE = re.compile(
    rb"(?i)token|secret|credential|api.?key|\bkey\b|passwor|\bauth|login|rotat"
)
_SIGN = re.compile("[._-]")
_GOES_ON = re.compile(rb"[/+=(]|\.[a-z]{1,8}\b")
"""A path, base64, a call, the name of a file."""
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


def prefixed_spans(match: Any, rule: Rule) -> Iterator[tuple[int, int, str]]:
    data: bytes = match.string
    start, end = match.span(1)
    found = _PREFIX.search(data[max(0, start - MAX_PREFIX_BYTES) : start])
    if not found or _GOES_ON.match(data, end):
        return
    first = start - len(found[0])
    rest = match.group(1).decode()
    words = [word.lower() for word in _SIGN.split(found[0].decode()[:-1])]
    if not _OF_IDS.isdisjoint([*words, words[0].rstrip("0123456789")]) or is_placeholder(rest):
        return
    before = data[max(0, first - MAX_LINE_BYTES) : first].rpartition(b"\n")[2]
    if _ID_BEFORE.search(before[-24:]):
        return
    behind = data[end : end + MAX_LINE_BYTES].partition(b"\n")[0]
    tells = (
        not _TELLING.isdisjoint(words)
        or (found[0].endswith(b"_") and len(found[0]) <= MAX_SHORT_PREFIX)
        or _TELLING_LINE.search(before + b" " + behind) is not None
    )
    if _is_generated(rest, tells=tells):
        yield first, end, rule.kind


def _is_generated(rest: str, *, tells: bool) -> bool:
    longest = max(_SIGN.split(rest), key=len)
    if (
        len(longest) < MIN_REST_CHARS
        or is_identifier(longest.lstrip("0123456789"))
        or not is_random(longest)
    ):
        return False
    if _HEX.fullmatch(longest):
        return tells and len(longest) >= MIN_HEX_CHARS
    return True
