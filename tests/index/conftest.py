"""An index to write into, and other processes beside us."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from notewell.core import VERSION, ChunkLimits, chunk, embedding_text, text_query
from notewell.index import Identity, UpToDate
from notewell.index.sqlite import SqliteStore
from notewell.testing import HashEmbedder
from notewell.types import NoteStat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notewell.index.sqlite import SqliteReader, SqliteView
    from notewell.index.sqlite.writer import SqliteWriter
    from notewell.types import Source

WAIT_S = 60.0
SMALL = ChunkLimits(tokens=24, overlap=0)
STAT = NoteStat(size=1, mtime_ns=2, ctime_ns=3, inode=4)


@dataclass
class Room:
    """The index of one agent, filled by hand: note by note, without a workspace."""

    path: Path
    driver: str = "segments"
    limits: ChunkLimits = SMALL
    embedder: HashEmbedder = field(default_factory=HashEmbedder)

    def __post_init__(self) -> None:
        self.index = SqliteStore(self.path, self.driver)

    @property
    def identity(self) -> Identity:
        facts = self.embedder.facts
        return Identity(
            provider=facts.provider,
            model=facts.model,
            dims=facts.dims,
            chunk_tokens=self.limits.tokens,
            chunk_overlap=self.limits.overlap,
            sources=("memory",),
            words_version=VERSION,
            vector_driver=self.driver,
        )

    def publish(self, notes: Mapping[str, str]) -> Path:
        """A new generation with these notes and their vectors."""
        with self.index.writing(wait_s=0) as writer:
            writer.start_generation(self.identity)
            self.put(writer, notes)
            self.embed(writer)
            writer.publish()
        return self.current

    def update(self, notes: Mapping[str, str], forget: tuple[str, ...] = ()) -> None:
        """These notes in the place of their older selves, in the generation that answers."""
        with self.writing() as writer:
            self.put(writer, notes)
            with writer.transaction():
                writer.forget(forget)
            self.embed(writer)
            writer.finish()

    @contextmanager
    def writing(self) -> Iterator[SqliteWriter]:
        with self.index.writing(wait_s=0) as writer:
            assert writer.open_current() == UpToDate()
            yield writer

    def put(
        self, writer: SqliteWriter, notes: Mapping[str, str], source: Source = "memory"
    ) -> None:
        with writer.transaction():
            for path, text in notes.items():
                writer.replace(path, source, f"digest of {text}", STAT, chunk(text, self.limits))

    def embed(self, writer: SqliteWriter) -> int:
        waiting = writer.view.waiting_for_vectors(10_000)
        texts = [embedding_text(one.heading, one.text) for one in waiting]
        with writer.transaction():
            return writer.add_vectors(waiting, self.embedder.embed(texts, "document"))

    @property
    def current(self) -> Path:
        generation = self.index.folder.current()
        assert generation is not None
        return generation

    def names(self) -> list[str]:
        return sorted(entry.name for entry in self.path.iterdir())


def found(reader: SqliteReader, question: str) -> list[str]:
    """The paths of the notes that have a word of the question, in the reader's view of now."""
    with reader.view() as view:
        assert view is not None
        return matching_paths(view, question)


def matching_paths(view: SqliteView, question: str) -> list[str]:
    matches, _ = view.matching(text_query(question), ["memory"], 200)
    chunks = view.chunks(match.chunk_id for match in matches)
    return sorted({one.path for one in chunks.values()})


class Child:
    """A Python process that says lines and is told lines; every wait has an end."""

    def __init__(
        self,
        script: str,
        *args: object,
        wrapper: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = (),
    ) -> None:
        self.process = subprocess.Popen(
            [*wrapper, sys.executable, "-c", script, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pass_fds=pass_fds,
        )
        self._heard = b""

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self) -> str:
        """The next line it says."""
        assert self.process.stdout is not None
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self.process.stdout], [], [], WAIT_S)
            assert ready, "the child said nothing for too long"
            got = os.read(self.process.stdout.fileno(), 65_536)
            assert got, f"the child ended with {self.process.wait(WAIT_S)}"
            self._heard += got
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def tell(self, line: str = "go on") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    def kill(self) -> None:
        """As the kernel does when memory runs out: nothing in it gets to clean up."""
        self.process.kill()
        self.process.wait(WAIT_S)

    def ended(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(WAIT_S)

    def close(self) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path / "index")


@pytest.fixture
def ask() -> Callable[[SqliteReader, str], list[str]]:
    return found


@pytest.fixture
def paths_of() -> Callable[[SqliteView, str], list[str]]:
    return matching_paths


@pytest.fixture
def start() -> Iterator[Callable[..., Child]]:
    """Starts Python processes, and sees to it that none outlives the test."""
    children: list[Child] = []

    def started(
        script: str,
        *args: object,
        wrapper: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = (),
    ) -> Child:
        children.append(Child(script, *args, wrapper=wrapper, pass_fds=pass_fds))
        return children[-1]

    yield started
    for child in children:
        child.close()
