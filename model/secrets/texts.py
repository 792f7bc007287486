"""All made-up texts of a seed: `generated`."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from model.secrets import people_texts
from model.secrets.technical_texts import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from model.secrets.marks import Text


def generated(seed: int) -> Iterator[Text]:
    """About 44 000 texts with secrets, then as many without, each text once.

    The same seed gives the same texts.
    """
    known: set[str] = set()
    people_with, people_without, technical = (
        Random(f"{part} {seed}") for part in ("people with", "people without", "technical")
    )
    writer = Writer(technical)
    yield from _new(people_texts.texts(people_with, secret=True), known, people_texts.TEXTS)
    yield from _new(writer.texts_with_secrets(), known)
    yield from _new(people_texts.texts(people_without, secret=False), known, people_texts.TEXTS)
    yield from _new(writer.texts_without(), known)


def _new(texts: Iterable[Text], known: set[str], most: int | None = None) -> Iterator[Text]:
    """Those not written before; at most so many."""
    count = 0
    for text in texts:
        if count == most:
            return
        if text.text not in known:
            known.add(text.text)
            count += 1
            yield text
