"""The images keep the rules that they are made by: else a good verdict would say nothing."""

from __future__ import annotations

import random

import pytest
from tests.hardening.powerloss.images import BLOCK, SECTOR, Disk, images
from tests.hardening.powerloss.record import Kind, Log, Op, Thing

TOP, NOTE, NEW = 1, 2, 3
OLD = b"old" * 1000
BEFORE = (Thing("", TOP, None), Thing("note.md", NOTE, OLD))

WRITE = Op(Kind.WRITE, NOTE, 0, len(OLD), b"new" * 3000)
SYNC = Op(Kind.SYNC, NOTE, 0, 0, b"")
CREATE = Op(Kind.CREATE, TOP, NEW, 0, b"tmp")
FILL = Op(Kind.WRITE, NEW, 0, 0, b"whole")
SYNC_NEW = Op(Kind.SYNC, NEW, 0, 0, b"")
RENAME = Op(Kind.RENAME, TOP, TOP, 0, b"tmp/note.md")
SYNC_TOP = Op(Kind.SYNC, TOP, 0, 0, b"")


def left_by(*ops: Op) -> list[dict[str, bytes | None]]:
    disk, dice = Disk(Log(BEFORE, ops)), random.Random(1)
    for op in ops:
        disk.play(op)
    return [disk.image(dice).things for _ in range(300)]


def test_what_was_synced_is_in_every_image() -> None:
    assert left_by(WRITE, SYNC) == [{"note.md": OLD + WRITE.data}] * 300


def test_what_was_not_synced_is_there_or_gone_or_torn_and_the_rest_is_untouched() -> None:
    found = {image["note.md"] for image in left_by(WRITE)}

    assert {OLD, OLD + WRITE.data} < found
    assert len(found) > 10
    assert all(data is not None and data.startswith(OLD) for data in found)


@pytest.mark.parametrize("unit", [SECTOR, BLOCK])
def test_a_torn_write_is_torn_where_sectors_or_blocks_end(unit: int) -> None:
    lengths = {len(image["note.md"] or b"") for image in left_by(WRITE)}

    inside = {length for length in lengths if len(OLD) < length < len(OLD + WRITE.data)}
    assert all(length % SECTOR == 0 for length in inside)
    assert any(length % unit == 0 for length in inside)


def test_a_later_write_may_be_there_without_an_earlier_one() -> None:
    first, second = Op(Kind.WRITE, NOTE, 0, 0, b"1"), Op(Kind.WRITE, NOTE, 0, 1, b"2")

    found = {(image["note.md"] or b"")[:2] for image in left_by(first, second)}
    assert found == {b"ol", b"1l", b"o2", b"12"}


def test_a_name_is_safe_only_when_its_folder_was_synced() -> None:
    ops = (CREATE, FILL, SYNC_NEW, RENAME)

    assert {frozenset(image.items()) for image in left_by(*ops)} == {
        frozenset({("note.md", OLD)}),
        frozenset({("note.md", OLD), ("tmp", b"whole")}),
        frozenset({("note.md", b"whole")}),
    }
    assert left_by(*ops, SYNC_TOP) == [{"note.md": b"whole"}] * 300


def test_from_one_folder_to_another_a_file_may_be_in_both_or_in_neither() -> None:
    made = Op(Kind.MKDIR, TOP, 8, 0, b"trash")
    moved = Op(Kind.RENAME, TOP, 8, 0, b"note.md/note.md")
    sync_trash = Op(Kind.SYNC, 8, 0, 0, b"")

    found = [set(image) for image in left_by(made, SYNC_TOP, moved)]
    for names in ({"note.md"}, {"trash/note.md"}, {"note.md", "trash/note.md"}, set()):
        assert {"trash", *names} in found
    assert set(left_by(made, SYNC_TOP, moved, sync_trash, SYNC_TOP)[0]) == {
        "trash",
        "trash/note.md",
    }


def test_a_rename_before_the_sync_of_the_file_may_put_an_empty_one_in_its_place() -> None:
    assert {"note.md": b""} in left_by(CREATE, FILL, RENAME)


def test_what_is_in_a_folder_that_was_not_synced_is_lost_with_it() -> None:
    made = Op(Kind.MKDIR, TOP, 8, 0, b"memory")
    note = Op(Kind.CREATE, 8, 9, 0, b"a.md")
    safe = (made, note, Op(Kind.SYNC, 9, 0, 0, b""), Op(Kind.SYNC, 8, 0, 0, b""))

    assert {"note.md": OLD} in left_by(*safe)


def test_an_inode_that_is_used_again_is_another_file() -> None:
    gone = Op(Kind.UNLINK, TOP, 0, 0, b"note.md")
    other = Op(Kind.CREATE, TOP, NOTE, 0, b"other.md")

    assert left_by(gone, other, SYNC_TOP) == [{"other.md": b""}] * 300


def test_the_same_seed_gives_the_same_images() -> None:
    log = Log(BEFORE, (CREATE, FILL, SYNC_NEW, RENAME, Op(Kind.MARK, 0, 0, 0, b"done")))

    one, again, other = (
        [(cut, image.digest) for cut, image in images(log, 50, seed)] for seed in (1, 1, 2)
    )
    assert one == again != other
    assert log.acknowledged(4) == []
    assert log.acknowledged(5) == ["done"]
