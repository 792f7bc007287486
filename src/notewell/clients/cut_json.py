"""One value cut out of a JSON text: with or without the comma, the line break and the containers
that it leaves empty. The caller decides which of the texts is the right one (see remove.py).
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from notewell.clients.formats import parsed
from notewell.clients.merge import CannotMerge, blanked_json, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

Path: TypeAlias = "tuple[str | int, ...]"
_VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}{\[:"]+')
_SPACE = re.compile(r"\s*")


def without_value(text: str, path: Path) -> Iterator[str]:
    """The text without the value at the path: first without the containers left empty, then with
    them."""
    for one in _cuts(text, path):
        document, above = parsed(parse_json, one), path[:-1]
        # A bracket that came into a line with a comment makes the text invalid.
        if document is None:
            continue
        if above and _at(document, above) in ({}, []):
            yield from without_value(one, above)
        yield one


def _at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def _cuts(text: str, path: Path) -> Iterator[str]:
    bare = blanked_json(text)
    spans = _spans(bare)
    start, end = spans[path]
    if comma := re.match(r"\s*,\s*", bare[end:]):
        yield text[:start] + text[end + comma.end() :]
        return
    # The last one of its container. A comment before it belongs to the member before it.
    before = text[: len(text[:start].rstrip())]
    heads = [before]
    at = len(bare[:start].rstrip()) - 1
    if bare[at] == ",":
        heads.insert(0, before[:at] + before[at + 1 :])
    tails = [text[end:].lstrip(), text[end:]]
    siblings = [one for one in spans if len(one) == len(path) and one[:-1] == path[:-1]]
    if len(siblings) > 1 and not bare[: spans[siblings[-2]][0]].rstrip(" \t").endswith(("{", "[")):
        tails.reverse()  # One member a line: the bracket has a line of its own.
    yield from ("".join(both) for both in product(heads, tails))


def _spans(bare: str) -> dict[Path, tuple[int, int]]:
    """Where each value begins, with its key, and ends."""
    spans: dict[Path, tuple[int, int]] = {}

    def skip(at: int) -> int:
        match = _SPACE.match(bare, at)
        return match.end() if match else at

    def value(at: int, path: Path) -> int:
        if bare[at] not in "{[":
            match = _VALUE.match(bare, at)
            return match.end() if match else at + 1
        closing, at, index = {"{": "}", "[": "]"}[bare[at]], skip(at + 1), 0
        while bare[at] != closing:
            start, key = at, index
            name: str | int = key
            if closing == "}":
                match = _VALUE.match(bare, at)
                name = _string(match[0]) if match else ""
                at = skip(skip(match.end() if match else at) + 1)
            at = value(at, (*path, name))
            spans[*path, name] = start, at
            at, index = skip(at), index + 1
            at = skip(at + 1) if bare[at] == "," else at
        return at + 1

    try:
        value(skip(0), ())
    except (IndexError, RecursionError):
        raise CannotMerge("the position of it could not be found") from None
    return spans


def _string(token: str) -> str:
    import json

    text: str = json.loads(token)
    return text
