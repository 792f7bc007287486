"""A folder of entries in `tmp_path`, real LanceDB in it, and vectors out of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from notewell.entries import EntryStore
from notewell.ports import Embedder
from notewell.redaction import Redactor
from notewell.testing import HashEmbedder

Open = Callable[..., EntryStore]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "lancedb"


@pytest.fixture
def clock() -> Iterator[int]:
    """A millisecond later each time, from the beginning of 2026."""
    return count(1_767_225_600_000)


@pytest.fixture
def opened(folder: Path, clock: Iterator[int]) -> Open:
    """The entries of an agent, as often and with whichever embedder it is wanted."""

    def open_store(
        owner: str = "main", embedder: Embedder | None = None, *, wait_s: float = 10.0
    ) -> EntryStore:
        return EntryStore(
            folder,
            owner,
            embedder or HashEmbedder(256, model="hash-256"),
            redact=Redactor(),
            now_ms=lambda: next(clock),
            wait_s=wait_s,
        )

    return open_store


@pytest.fixture
def store(opened: Open) -> EntryStore:
    return opened()
