"""What does not agree is found, and named to the line."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sqlite_store import sqlite_store

from notewell import Progress, SessionSettings, Settings
from notewell.capture import capture_dir
from notewell.doctor import verify
from notewell.errors import EmbedderMissing
from notewell.index import Disagreement
from notewell.index.sqlite import open_writer
from notewell.index.sqlite.audit import why_unsound
from notewell.index.sqlite.segments import SegmentDriver
from notewell.testing import BrokenEmbedder, HashEmbedder, WindowedHashEmbedder

if TYPE_CHECKING:
    from tests.doctor.conftest import Ward


def places(found: list[Disagreement]) -> list[tuple[str, str]]:
    return [(one.kind, one.where) for one in found]


def change(file: Path, sql: str, *values: object) -> None:
    """As a bug of ours would: the page gets a checksum that is right."""
    with closing(open_writer(file)) as db:
        db.execute(sql, values)


def test_an_index_that_was_just_made_agrees(ward: Ward) -> None:
    ward.sync()
    seen: list[Progress] = []
    verdict = verify(ward.open(), seen.append)
    assert verdict.agrees
    assert (verdict.notes, verdict.chunks, verdict.embedded, verdict.cached) == (2, 3, 3, 3)
    assert (verdict.waiting, verdict.unread) == (0, 0)
    assert verdict.pages == ward.current.stat().st_size // 8192
    assert {one.label for one in seen} == {"pages", "notes", "words", "vectors", "cache"}


def test_without_an_index_nothing_is_proved(ward: Ward) -> None:
    (only,) = ward.verify().disagreements
    assert "there is no index" in only.message


def test_chunks_that_wait_for_a_vector_are_counted_and_no_disagreement(ward: Ward) -> None:
    ward.embedder = BrokenEmbedder(EmbedderMissing("voyage", "no key", "set VOYAGE_API_KEY"))
    ward.sync()
    verdict = ward.verify()
    assert verdict.agrees
    assert (verdict.embedded, verdict.waiting) == (0, 3)


def test_notes_that_changed_came_or_went_are_named(ward: Ward) -> None:
    ward.sync()
    memory = ward.workspace / "MEMORY.md"
    text = memory.read_text(encoding="utf-8")
    memory.write_text(text.replace("Friday", "Monday morning"), encoding="utf-8")
    (ward.workspace / "memory" / "new.md").write_text("more\n", encoding="utf-8")
    (ward.workspace / "memory" / "2026-10-02.md").unlink()
    verdict = ward.verify()
    assert sorted(places(verdict.disagreements)) == [
        ("note", "MEMORY.md:5"),
        ("note", "memory/2026-10-02.md"),
        ("note", "memory/new.md:1"),
    ]


def test_a_note_that_changed_behind_the_same_stat_is_named(ward: Ward) -> None:
    """As on a file system with coarse times; here the index is told the new stat."""
    ward.sync()
    note = ward.workspace / "memory" / "2026-10-02.md"
    note.write_text("- snow  tonight\n", encoding="utf-8")
    status = note.stat()
    change(
        ward.current,
        "UPDATE files SET mtime = ?, ctime = ?, inode = ?, size = ? WHERE path LIKE '%10-02.md'",
        *(status.st_mtime_ns, status.st_ctime_ns, str(status.st_ino), status.st_size),
    )
    (only,) = ward.verify().disagreements
    assert only.where == "memory/2026-10-02.md:1"
    assert "--force" in only.message


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE chunks SET text = 'x' WHERE start_line = 5", [("chunk", "MEMORY.md:5")] * 3),
        (
            "UPDATE chunks SET end_line = 9 WHERE start_line = 5",
            [("chunk", "MEMORY.md:5")] * 2,
        ),
        (
            "UPDATE chunks SET path = 'memory/ghost.md' WHERE start_line = 5",
            [("chunk", "MEMORY.md:5"), *[("chunk", "memory/ghost.md:5")] * 2],
        ),
        ("DELETE FROM chunks_fts WHERE rowid = 1", [("chunk", "MEMORY.md:1")]),
        ("DELETE FROM chunks_vec WHERE id = 2", [("vector", "MEMORY.md:5")]),
        ("UPDATE chunks SET embedded = 0 WHERE id = 2", [("vector", "MEMORY.md:5")]),
        ("UPDATE chunks_vec SET vector = x'00' WHERE id = 2", [("vector", "MEMORY.md:5")]),
        (
            "UPDATE chunks_vec SET vector = zeroblob(256) WHERE id = 2",
            [("vector", "MEMORY.md:5")],
        ),
        ("DELETE FROM vec_tail WHERE id = 2", [("vector", "MEMORY.md:5")]),
        ("UPDATE chunks_vec SET id = 77 WHERE id = 2", [("vector", "chunk 77")] * 2),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_row_that_is_wrong_is_named(
    ward: Ward, sql: str, expected: list[tuple[str, str]]
) -> None:
    ward.sync()
    ward.close()
    change(ward.current, sql)
    found = places(ward.verify().disagreements)
    if "id = 77" in sql:
        expected = [*expected, ("vector", "MEMORY.md:5")]
    assert found == expected


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM chunk_windows WHERE id = 4", "its windows are missing"),
        ("UPDATE chunk_windows SET codes = x'0102' WHERE id = 4", "do not fit its text"),
        ("UPDATE chunk_windows SET id = 77 WHERE id = 4", "windows of no chunk"),
    ],
    ids=["missing", "wrong", "of no chunk"],
)
def test_windows_that_are_wrong_are_named(ward: Ward, sql: str, message: str) -> None:
    for name in ("a", "b"):
        lines = "".join(f"- entry {one} of {name}, {'and words ' * 9}\n" for one in range(5))
        (ward.workspace / "memory" / f"long-{name}.md").write_text(lines, encoding="utf-8")
    ward.embedder = WindowedHashEmbedder()
    ward.sync()
    assert ward.verify().agrees
    ward.close()
    change(ward.current, sql)
    messages = [one.message for one in ward.verify().disagreements]
    assert message in messages[0]
    assert len(messages) == (2 if "77" in sql else 1)


def test_the_words_of_another_text_are_named(ward: Ward) -> None:
    ward.sync()
    note = ward.workspace / "MEMORY.md"
    note.write_text(f"{note.read_text('utf-8')}\nDie Häuser am GW-North_7: 索引。\n", "utf-8")
    ward.sync()
    assert ward.verify().agrees  # Also with rows that were removed.
    file = ward.current
    ward.close()
    first = "(SELECT min(id) FROM chunks)"
    change(file, f"DELETE FROM chunks_fts WHERE rowid = {first}")
    row = "INSERT INTO chunks_fts (rowid, source, body, heading, name) "
    change(file, f"{row} VALUES ({first}, ?, ?, '', '')", "_memory", "other words")
    (found,) = ward.verify().disagreements
    assert "its words are those of another text" in found.message


def test_broken_words_are_found_by_fts5_itself(ward: Ward) -> None:
    ward.sync()
    ward.close()
    change(ward.current, "DELETE FROM chunks_fts_data WHERE id > 10")
    (first, *_) = ward.verify().disagreements
    assert first.kind == "index"
    assert "fts5" in first.message


def test_every_bit_that_flips_is_found(ward: Ward, flip: Callable[[Path, int], None]) -> None:
    ward.sync()
    ward.close()
    for page in range(1, ward.current.stat().st_size // 8192 + 1):
        flip(ward.current, page)
        assert not ward.verify().agrees, page
        flip(ward.current, page)
    assert ward.verify().agrees


def test_a_cut_index_is_found(ward: Ward) -> None:
    ward.sync()
    ward.close()
    os.truncate(ward.current, ward.current.stat().st_size - 100)
    assert not ward.verify().agrees


def test_cached_vectors_that_are_unsound_are_named(ward: Ward) -> None:
    ward.sync()
    ward.close()
    nan = np.full(64, np.nan, "<f4").tobytes()
    change(ward.index / "cache.sqlite", "UPDATE embedding_cache SET embedding = ?", nan)
    verdict = ward.verify()
    assert places(verdict.disagreements) == [("cache", "cache.sqlite")] * 3
    assert "is not finite" in verdict.disagreements[0].message


def test_state_files_that_do_not_parse_are_named_with_their_lines(ward: Ward) -> None:
    ward.sync()
    folder = capture_dir(ward.state, "main", ward.workspace.resolve())
    folder.mkdir(parents=True)
    good = json.dumps({"id": "a"})
    (folder / "history.jsonl").write_text(f"{good}\n{good[:5]}\n{good}\n", encoding="utf-8")
    (folder / "heartbeat.json").write_text("[]", encoding="utf-8")
    (folder / "pending.json").write_text("{}", encoding="utf-8")
    (ward.state / "redaction.key").write_bytes(b"short")
    verdict = ward.verify()
    assert verdict.state_files == 4
    assert places(verdict.disagreements) == [
        ("state", f"{folder / 'heartbeat.json'}:1"),
        ("state", f"{folder / 'history.jsonl'}:2"),
        ("state", "redaction.key"),
    ]


def test_a_pointer_to_nothing_is_told(ward: Ward) -> None:
    ward.sync()
    (ward.index / "CURRENT").write_text("index-77.sqlite\n", encoding="ascii")
    (only,) = ward.verify().disagreements
    assert "CURRENT names a file that is not there" in only.message


def test_another_model_is_a_disagreement_with_the_whole_index(ward: Ward) -> None:
    ward.sync()
    ward.embedder = HashEmbedder(model="another")
    (only,) = ward.verify().disagreements
    assert "a new one is needed: model changed" in only.message


def test_the_other_vector_driver_is_proved_too(ward: Ward) -> None:
    pytest.importorskip("sqlite_vec")
    ward.own_settings(store={"vector": {"driver": "sqlite-vec"}})
    ward.sync()
    verdict = ward.verify()
    assert verdict.agrees, verdict.disagreements
    assert verdict.embedded == 3


def test_vectors_that_are_sealed_into_segments_are_proved_too(ward: Ward) -> None:
    for number in range(30):
        note = ward.workspace / "memory" / f"n{number}.md"
        note.write_text(f"# {number}\n\nabout {number}\n", encoding="utf-8")
    patient = ward.patient
    assert patient.memory is not None
    sqlite_store(patient.memory).driver = SegmentDriver(exact_rows=4, tail_rows=4, segment_rows=8)
    patient.memory.sync()
    ward.close()
    assert ward.verify().agrees
    change(ward.current, "INSERT INTO vec_tail SELECT id, source FROM chunks_vec WHERE id = 1")
    (only,) = ward.verify().disagreements
    assert (only.where, only.kind) == ("MEMORY.md:1", "vector")
    assert "filed 2 times" in only.message


def test_transcripts_are_proved_too(ward: Ward) -> None:
    ward.settings = Settings(sessions=SessionSettings(enabled=True))
    transcript = ward.state / "agents" / "main" / "sessions" / "talk.jsonl"
    transcript.parent.mkdir(parents=True)
    line = {"type": "message", "message": {"role": "user", "content": "the router is late"}}
    transcript.write_text(json.dumps(line) + "\n", encoding="utf-8")
    ward.sync()
    verdict = ward.verify()
    assert verdict.agrees, verdict.disagreements
    assert (verdict.notes, verdict.state_files) == (3, 1)
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    (only,) = ward.verify().disagreements
    assert only.where == "sessions/talk.jsonl:1"


def test_notes_that_cannot_be_read_are_named(
    ward: Ward,
    shared_path: Path,
    unprivileged: Callable[[], AbstractContextManager[None]],
) -> None:
    shutil.copytree(ward.workspace, shared_path / "workspace")
    ward.workspace, ward.state = shared_path / "workspace", shared_path / "state"
    for folder in (shared_path, ward.workspace, ward.workspace / "memory"):
        folder.chmod(0o777)
    with unprivileged():
        ward.sync()
    (ward.workspace / "MEMORY.md").chmod(0o000)
    (ward.workspace / "memory").chmod(0o000)
    with unprivileged():
        found = ward.verify().disagreements
        ward.close()
    assert sorted(places(found)) == [("note", "MEMORY.md"), ("note", "memory")]


def test_a_writer_beside_the_proof_is_neither_stopped_nor_taken_for_damage(ward: Ward) -> None:
    for number in range(40):
        note = ward.workspace / "memory" / f"n{number}.md"
        note.write_text(f"# {number}\n\nabout {number}\n", encoding="utf-8")
    ward.sync()
    done = threading.Event()

    def write() -> None:
        memory = ward.open()
        for turn in range(15):
            note = ward.workspace / "memory" / f"n{turn}.md"
            note.write_text(f"# {turn}\n\nchanged in turn {turn}\n", encoding="utf-8")
            memory.sync(force=turn % 5 == 0)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    verdicts = [ward.verify()]
    while not done.is_set():
        verdicts.append(ward.verify())
    writer.join()
    kinds = {one.kind for verdict in verdicts for one in verdict.disagreements}
    assert kinds <= {"note"}
    assert ward.verify().agrees


def test_an_index_that_is_replaced_during_the_proof_is_read_to_its_end(ward: Ward) -> None:
    ward.sync()
    writer, replaced = ward.open(), list[Path]()

    def replace(progress: Progress) -> None:
        if progress.label == "pages" and not replaced:
            replaced.append(ward.current)
            writer.sync(force=True)

    verdict = verify(ward.open(), replace)
    assert not replaced[0].exists()
    assert verdict.generation == replaced[0].name
    assert verdict.agrees


def test_reading_only_leaves_everything_as_it_was(ward: Ward) -> None:
    ward.sync()
    ward.close()
    copy = ward.state.parent / "copy"
    shutil.copytree(ward.state, copy)
    ward.verify()
    ward.close()
    for file in (
        path for path in copy.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm"
    ):
        same = ward.state / file.relative_to(copy)
        assert same.read_bytes() == file.read_bytes(), file


@settings(max_examples=50)
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), min_size=0, max_size=8),
    st.integers(0, 8),
)
def test_only_a_finite_direction_of_the_right_length_is_sound(row: list[float], dims: int) -> None:
    vector = np.array(row, "<f4")
    length = float(np.sqrt(np.square(vector, dtype=np.float64).sum()))
    is_sound = len(row) == dims and np.isfinite(length) and length > 0
    assert (why_unsound(vector.tobytes(), dims, unit=False) is None) == is_sound
