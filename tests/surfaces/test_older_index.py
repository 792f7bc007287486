"""The index of an older version answers until the new one is built, once, with the vectors that it
has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from notewell import Memory, open_memory
from notewell.cli import main
from notewell.index.sqlite import SCHEMA, SqliteStore
from notewell.index.sqlite.connect import open_writer
from notewell.index.sqlite.folder import IndexFolder
from notewell.stores import index_dir
from notewell.sync import Progress, SyncInterrupted
from notewell.testing import HashEmbedder
from notewell.tools import call

LONG = " ".join(f"Sentence {n} says that gate {n} is closed." for n in range(90))
OLDER = "the index that answers was built by an older version"


class CountingEmbedder(HashEmbedder):
    """Counts the texts that it embeds."""

    embedded = 0

    def embed(self, texts, kind):  # type: ignore[no-untyped-def]
        self.embedded += len(texts) * (kind == "document")
        return super().embed(texts, kind)


def as_schema_3(folder: Path) -> Path:
    """What the version before wrote: no places in long lines, and no windows."""
    generation = IndexFolder(folder).current()
    assert generation is not None
    db = open_writer(generation)
    db.execute(
        "ALTER TABLE chunks DROP COLUMN line_offset; DROP TABLE chunk_windows; "
        "PRAGMA user_version = 3"
    )
    db.close()
    return generation


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for number in range(40):
        text = f"# Day {number}\n\nThe harbour walrus {number} was fed.\n"
        (workspace / "memory" / f"n{number}.md").write_text(text, encoding="utf-8")
    (workspace / "memory" / "long.md").write_text(LONG, encoding="utf-8")
    monkeypatch.setenv("NOTEWELL_STATE_DIR", str(tmp_path / "state"))
    return workspace


@pytest.fixture
def memory(workspace: Path, tmp_path: Path) -> Iterator[Memory]:
    with opened(workspace, tmp_path) as memory:
        memory.sync()
    as_schema_3(index_dir(tmp_path / "state", "main", workspace))
    with opened(workspace, tmp_path) as memory:
        yield memory


def opened(workspace: Path, tmp_path: Path, embedder: HashEmbedder | None = None) -> Memory:
    embedder = embedder or HashEmbedder()
    return open_memory(workspace, state_dir=tmp_path / "state", embedder=embedder)


def test_it_answers_with_vectors_and_says_what_to_do(memory: Memory) -> None:
    answer = memory.search("harbour walrus 7")
    assert answer.hits[0].path == "memory/n7.md"
    assert (answer.mode, answer.notice) == ("hybrid", f"{OLDER}: run `notewell index`")
    assert "7" in memory.search("harbour walrus 7", mode="keyword").hits[0].path
    # A part of a long line is shown by itself: where it stands is not known.
    (hit, *_) = memory.search("is gate 44 closed?").hits
    assert "gate 44 is closed" in hit.shown_text
    assert all(shown.text.strip("…") in LONG for shown in hit.shown)
    status = memory.status()
    assert (status.state, status.rebuild_needed) == ("ready", f"its schema is 3, now {SCHEMA}")
    assert OLDER in call(memory, "memory_search", {"query": "walrus"}).to_text()


def test_a_search_does_not_wait_for_the_rebuild(memory: Memory, workspace: Path) -> None:
    (workspace / "memory" / "new.md").write_text("A new seal.", encoding="utf-8")
    generation = memory.indexer.store.describe().generation
    assert memory.search("harbour walrus 7").hits
    assert memory.indexer.store.describe().generation == generation


def test_the_rebuild_uses_the_vectors_that_are_there(
    memory: Memory, workspace: Path, tmp_path: Path
) -> None:
    memory.close()
    embedder = CountingEmbedder()
    with opened(workspace, tmp_path, embedder) as memory:
        report = memory.sync()
        assert report.rebuilt is not None
        assert report.rebuilt.kind == "schema"
        assert (report.written, report.vectors_waiting, embedder.embedded) == (41, 0, 0)
        answer = memory.search("harbour walrus 7")
        assert answer.notice is None
        assert memory.sync().rebuilt is None


def test_a_crash_in_the_middle_leaves_the_old_one(memory: Memory) -> None:
    def stop(_: Progress) -> None:
        raise SyncInterrupted

    before = memory.indexer.store.describe().generation
    with pytest.raises(SyncInterrupted):
        memory.sync(progress=stop)
    assert memory.indexer.store.describe().generation == before
    assert memory.search("harbour walrus 7").hits[0].path == "memory/n7.md"
    assert memory.sync().written == 41


def test_others_see_how_far_the_rebuild_is(
    memory: Memory, workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = list[tuple[str | None, str | None]]()
    other = opened(workspace, tmp_path)

    def look(_: Progress) -> None:
        seen.append((other.search("walrus").notice, other.status().rebuild_needed))

    with other:
        memory.sync(progress=look)
    assert seen
    notice, needed = seen[0]
    assert notice == f"{OLDER}: a new one is being built and has 41 notes"
    assert needed == f"its schema is 3, now {SCHEMA}; a new one is being built and has 41 notes"


RUN_INDEX = "import sys; from notewell.cli import main; sys.exit(main(['index', '--json']))"


def test_of_two_processes_one_rebuilds(memory: Memory, workspace: Path) -> None:
    memory.close()
    environment = {**os.environ, "NOTEWELL_CONFIG": str(workspace / "own.json")}
    settings = {"agents": {"defaults": {"memorySearch": {"provider": "none"}}}}
    (workspace / "own.json").write_text(json.dumps(settings), encoding="utf-8")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RUN_INDEX],
            cwd=workspace,
            env=environment,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    reports = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert sorted(report["written"] for report in reports) == [0, 41]
    assert sum(bool(report["rebuilt"]) for report in reports) == 1


def test_the_commands_say_it(
    memory: Memory, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.close()
    arguments = ["--workspace", str(workspace)]
    assert main(["search", *arguments, "walrus", "--mode", "keyword"]) == 0
    assert f"{OLDER}: run `notewell index`" in "".join(capsys.readouterr())
    main(["status", *arguments])  # Degraded: the command line does not know the test's embedder.
    assert f"builds a new index: its schema is 3, now {SCHEMA}" in capsys.readouterr().out


def test_a_store_that_is_not_rebuilt_has_no_progress(memory: Memory, tmp_path: Path) -> None:
    folder = index_dir(tmp_path / "state", "main", memory.workspace)
    # A crash left a generation; nobody writes.
    (folder / "index-9.sqlite").write_bytes(b"")
    store = SqliteStore(folder, "segments")
    assert store.describe().notes_built is None
    with store.writing(wait_s=0):
        assert store.describe().notes_built == 0
