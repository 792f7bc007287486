"""A damaged index is noticed, said to be, and rebuilt; or it makes no difference at all.

The user's view: open, search, status, sync. What single parts do is proved in tests/index.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.hardening.damage import damages
from tests.hardening.damage.damaged_memory import (
    QUESTIONS,
    DamagedMemory,
    Outcome,
    Verdict,
    tally,
)
from tests.hardening.damage.damages import Damage, copied_page, cut, flipped, stamped, zeroed_page

from notewell.cli import main
from notewell.doctor import verify
from notewell.errors import IndexTooNew, IndexUnreadable, StateNotWritable
from notewell.index.sqlite import SCHEMA, connect
from notewell.index.sqlite.connect import CHECKSUM_BYTES, PAGE_BYTES

SEED = 20261115


@pytest.fixture(scope="module")
def damaged(quick_path: Path) -> DamagedMemory:
    return DamagedMemory(quick_path).healthy()


@pytest.fixture(autouse=True)
def put_back(damaged: DamagedMemory) -> Iterator[None]:
    yield
    damaged.restore()


def none_bad(outcomes: list[Outcome]) -> dict[Verdict, int]:
    assert [one.told for one in outcomes if one.verdict == "bad"] == []
    return tally(outcomes)


# -- bytes ---------------------------------------------------------------------------------------


def test_a_flipped_bit_in_any_part_of_any_page_changes_no_answer(damaged: DamagedMemory) -> None:
    """The header of a page, three places in its content, and its checksum."""
    draw, pages = random.Random(SEED), damaged.index.stat().st_size // PAGE_BYTES
    content = PAGE_BYTES - CHECKSUM_BYTES
    parts = [(0, 100), *[(100, content)] * 3, (content, PAGE_BYTES)]
    places = [page * PAGE_BYTES + draw.randrange(*part) for page in range(pages) for part in parts]
    counts = none_bad([damaged.tried(flipped(at, draw.randrange(8))) for at in places])
    # The rest lie where these questions do not look.
    assert counts["detected"] > len(places) * 2 / 3


def test_a_file_that_was_cut_off_anywhere_is_noticed_and_rebuilt(damaged: DamagedMemory) -> None:
    draw, size = random.Random(SEED), damaged.index.stat().st_size
    lengths = [0, 1, 100, PAGE_BYTES, size - PAGE_BYTES, size - 1]
    lengths += [draw.randrange(size) for _ in range(14)]
    counts = none_bad([damaged.tried(cut(length)) for length in lengths])
    assert counts["detected"] == 20


def test_a_page_of_zeros_is_noticed_or_makes_no_difference(damaged: DamagedMemory) -> None:
    pages = damaged.index.stat().st_size // PAGE_BYTES
    none_bad([damaged.tried(zeroed_page(page)) for page in range(pages)])


def test_a_page_in_the_place_of_another_is_mostly_noticed(damaged: DamagedMemory) -> None:
    """The known gap: the checksum of a page does not say where it belongs. SQLite notices most;
    an error that nobody expected is looked into. A forced sync mends what nobody noticed."""
    draw, pages = random.Random(SEED), damaged.index.stat().st_size // PAGE_BYTES
    pairs = [(draw.randrange(1, pages), draw.randrange(1, pages)) for _ in range(60)]
    outcomes = [damaged.tried(copied_page(*pair)) for pair in pairs]
    assert tally(outcomes)["detected"] >= 35
    assert tally(outcomes)["bad"] <= 6
    assert not any("raised" in one.told for one in outcomes if one.verdict == "bad")
    bad = [pair for pair, one in zip(pairs, outcomes, strict=True) if one.verdict == "bad"]
    for pair in bad:
        copied_page(*pair)(damaged)
        with damaged.memory() as memory:
            assert not verify(memory).agrees, pair
        damaged.restore()
    for pair in bad[:1]:
        copied_page(*pair)(damaged)
        with damaged.memory() as memory:
            assert memory.sync(force=True).rebuilt
        assert damaged.examined().verdict == "harmless"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM vec_state", "vec_state has 0 rows, not 1"),
        ("UPDATE chunks_fts_docsize SET sz = 'words'", "chunks_fts_docsize.sz has"),
    ],
)
def test_rows_of_another_table_are_an_error_of_ours_and_found(
    damaged: DamagedMemory, statement: str, what: str
) -> None:
    with closing(connect.open_writer(damaged.index)) as db:
        db.execute(statement)
    with damaged.memory() as memory:
        with pytest.raises(IndexUnreadable, match=what):
            memory.search(QUESTIONS[0])
        assert what in " ".join(one.message for one in verify(memory).disagreements)


# -- the log -------------------------------------------------------------------------------------


@pytest.fixture
def with_log(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DamagedMemory]:
    """An index whose last sync is still in its log, because a reader was in the way."""
    monkeypatch.setattr(connect, "BUSY_MS", 10)
    damaged = DamagedMemory(quick_path / "with log").healthy()
    with damaged.memory() as reading, reading.indexer.store.view() as view:
        assert view is not None
        view.counts()  # From now on it holds on to what it saw.
        for name in ("memory/2026-10-03.md", "memory/people.md"):
            path = damaged.workspace / name
            path.write_text(path.read_text(encoding="utf-8") + "\nword96 came\n", encoding="utf-8")
        with damaged.memory() as memory:
            memory.sync()
            damaged.keep(memory)
    assert len(damaged.kept[f"{damaged.index.name}-wal"]) > 3 * PAGE_BYTES
    damaged.restore()
    yield damaged
    shutil.rmtree(damaged.root)


def test_a_flipped_bit_in_the_log_costs_a_sync_and_no_answer(with_log: DamagedMemory) -> None:
    """SQLite drops a log from the first bad frame on: what was in it is in the notes."""
    damaged, draw = with_log, random.Random(SEED)
    size = len(damaged.kept[f"{damaged.index.name}-wal"])
    flips = [flipped(draw.randrange(size), draw.randrange(8), "-wal") for _ in range(60)]
    none_bad([damaged.tried(flip) for flip in flips])


def test_a_log_that_goes_bad_under_a_memory_that_stays_open_gives_no_wrong_answer(
    with_log: DamagedMemory,
) -> None:
    damaged, draw = with_log, random.Random(SEED)
    size = len(damaged.kept[f"{damaged.index.name}-wal"])
    for _ in range(30):
        with damaged.memory() as staying:
            assert damaged.asked(staying) is None
            flipped(draw.randrange(size), draw.randrange(8), "-wal")(damaged)
            damaged.asked(staying)  # The right answers, or an error of ours; else it raises.
        damaged.restore()


def test_a_log_that_was_cut_off_or_lost_costs_a_sync_and_no_answer(
    with_log: DamagedMemory,
) -> None:
    log = patient_log(with_log)
    data = log.read_bytes()

    def shortened(left: int) -> Damage:
        def damage(_: DamagedMemory) -> None:
            log.write_bytes(data[:left])

        return damage

    outcomes = [with_log.tried(shortened(left)) for left in range(0, len(data), 8_001)]
    outcomes.append(with_log.tried(lambda _: log.unlink()))
    none_bad(outcomes)


def patient_log(damaged: DamagedMemory) -> Path:
    return damaged.index.with_name(f"{damaged.index.name}-wal")


# -- what is no index of ours --------------------------------------------------------------------

TOLD = {
    "zeroed header": (damages.replaced(lambda d: bytes(100) + d[100:]), "file is not a database"),
    "garbage": (damages.replaced(lambda d: b"garbage\n" * 5_000), "file is not a database"),
    "empty": (damages.replaced(lambda _: b""), "not written by Notewell"),
    "another program's": (stamped("application_id", 77), "not written by Notewell"),
    "much older schema": (stamped("user_version", 1), "schema 1"),
    "a folder": (damages.index_is_folder, "it is not a file and is kept as"),
    "a link to a note": (damages.index_is_link_to_a_text, "file is not a database"),
    "a link to nothing": (damages.index_is_link_to_nothing, "CURRENT names a file that is not"),
    "a link to itself": (damages.index_is_link_to_itself, "symbolic links"),
    "gone": (damages.index_is_gone, "CURRENT names a file that is not there"),
    "CURRENT another": (damages.pointer(b"index-9.sqlite"), "names a file that is not there"),
    "CURRENT a folder": (damages.folder_called("CURRENT"), "CURRENT was not a file and is kept"),
    "CURRENT link to itself": (damages.pointer_is_link("CURRENT"), "CURRENT was not a file"),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_no_index_of_ours_is_said_and_rebuilt(damaged: DamagedMemory, name: str) -> None:
    damage, words = TOLD[name]
    outcome = damaged.tried(damage)
    assert outcome.verdict == "detected", outcome.told
    assert words in outcome.told.replace("it is not a file) and", "it is not a file and")


POINTERS = {
    "CURRENT garbage": damages.pointer(b"\xff\x00?"),
    "CURRENT empty": damages.pointer(b""),
    "CURRENT leads out": damages.pointer(b"../../index-1.sqlite"),
    "CURRENT absolute": damages.pointer(b"/etc/passwd"),
    "CURRENT the cache": damages.pointer(b"cache.sqlite"),
    "CURRENT link to nothing": damages.pointer_is_link("nothing"),
}


@pytest.mark.parametrize("name", POINTERS)
def test_a_pointer_to_nothing_is_mended_by_the_next_search(
    damaged: DamagedMemory, name: str
) -> None:
    assert damaged.tried(POINTERS[name]) == Outcome("harmless", "")


HARMLESS = {
    "a link to its copy": damages.index_is_link_to_its_copy,
    "SUSPECT a folder": damages.folder_called("SUSPECT"),
    "CURRENT.tmp a folder": damages.folder_called("CURRENT.tmp"),
    "an older folder called index": damages.folder_called("index-0.sqlite"),
    "an older folder set aside": damages.folder_called("index-0.sqlite.damaged"),
    "garbage in writer.lock": damages.garbage_in("writer.lock"),
    "garbage in embedder.lock": damages.garbage_in("embedder.lock"),
    "garbage in cache.lock": damages.garbage_in("cache.lock"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_lies_beside_the_index_makes_no_difference(damaged: DamagedMemory, name: str) -> None:
    assert damaged.tried(HARMLESS[name]) == Outcome("harmless", "")


def test_two_folders_in_the_place_of_an_index_are_both_kept(damaged: DamagedMemory) -> None:
    for _ in range(2):
        damages.index_is_folder(damaged)
        with damaged.memory() as memory:
            assert memory.sync().rebuilt
    assert len(list(damaged.folder.glob("*.damaged/somebody's"))) == 2


@pytest.mark.parametrize("name", ["writer.lock", "embedder.lock", "cache.lock"])
def test_a_folder_in_the_place_of_a_lock_is_named_and_search_goes_on(
    damaged: DamagedMemory, name: str
) -> None:
    damages.folder_called(name)(damaged)
    note = damaged.workspace / "memory" / "new.md"
    with damaged.memory() as memory:
        assert damaged.asked(memory) is None
        note.write_text("a new note\n", encoding="utf-8")
        told = pytest.raises(
            StateNotWritable, match=f"cannot write to '.*/{name}': Is a directory"
        )
        try:
            with told:
                memory.sync()
        finally:
            note.unlink()
        assert memory.search("router Turris").hits[0].path == "MEMORY.md"
        assert memory.status().problem is None


def test_the_index_of_a_newer_version_is_never_thrown_away_unasked(damaged: DamagedMemory) -> None:
    stamped("user_version", SCHEMA + 1)(damaged)
    newer = damaged.index.read_bytes()
    assert damaged.examined().verdict == "detected"
    with damaged.memory() as memory:
        for deed in (lambda: memory.search("router"), memory.sync, memory.sync):
            with pytest.raises(IndexTooNew, match=r"upgrade, or rebuild .* `notewell index --fo"):
                deed()
        assert "newer Notewell" in str(memory.status().problem)
        assert damaged.index.read_bytes() == newer
        assert str(memory.sync(force=True).rebuilt) == "it was written by a newer version"
    assert damaged.examined() == Outcome("harmless", "")


# -- the command line ----------------------------------------------------------------------------


def test_the_command_line_tells_of_damage_and_mends_it(
    damaged: DamagedMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["-w", str(damaged.workspace), "--state-dir", str(damaged.state)]
    size, name = damaged.index.stat().st_size, damaged.index.name
    for at in range(PAGE_BYTES + 100, size, PAGE_BYTES):
        flipped(at, 3)(damaged)
    assert main(["search", "router", *place]) == 1
    told = capsys.readouterr().err
    assert f"{name}' cannot be read" in told
    assert "`notewell index` sets it aside and builds a new one" in told
    assert main(["status", *place]) == 5
    assert f"{name}' cannot be read" in capsys.readouterr().out
    assert main(["doctor", *place]) == 5
    assert "→ set it aside and build a new one" in capsys.readouterr().out
    assert main(["index", "--text-only", *place]) == 0
    told = "".join(capsys.readouterr())
    assert "was damaged" in told
    assert f"kept as {name}.damaged" in told
    assert main(["search", "router", "--mode", "keyword", *place]) == 0
