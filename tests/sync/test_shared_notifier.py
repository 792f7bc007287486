"""One inotify instance for many watches: each hears its own folders, and loses nothing of them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from notewell.sync import NotifierShare, SharedNotifier, open_shared_notifier
from notewell.sync.notifier import MAX_FOLDERS, NotifierUnavailable
from notewell.sync.shared_notifier import MAX_PATHS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")

WAIT_S = 60.0
NEVER = threading.Event()


@pytest.fixture
def shared() -> Iterator[SharedNotifier]:
    shared = open_shared_notifier()
    assert shared is not None
    yield shared
    shared.close()


def folders(tmp_path: Path, *names: str) -> list[Path]:
    for name in names:
        (tmp_path / name).mkdir()
    return [tmp_path / name for name in names]


def heard(share: NotifierShare, path: Path) -> set[str]:
    """All paths until this one, which must come."""
    paths: set[str] = set()
    while str(path) not in paths:
        news = share.listen(WAIT_S, NEVER)
        assert news, f"no notice of {path.name}"
        paths.update(news)
    return paths


def instances() -> int:
    links = []
    for file in Path("/proc/self/fd").iterdir():
        try:
            links.append(str(file.readlink()))
        except OSError:
            continue
    return links.count("anon_inode:inotify")


def test_each_watch_hears_its_own_folders_from_one_instance(
    tmp_path: Path, shared: SharedNotifier
) -> None:
    before = instances()
    places = folders(tmp_path, *(f"agent{number}" for number in range(30)))
    shares = [shared.share() for _ in places]
    for share, place in zip(shares, places, strict=True):
        share.open([str(place)])
    assert instances() == before
    for place in places:
        (place / "note.md").write_text("x", encoding="utf-8")
    for share, place in zip(shares, places, strict=True):
        paths = heard(share, place / "note.md")
        assert {Path(path).parent for path in paths} == {place}


def test_a_watch_that_begins_or_ends_costs_another_no_notice(
    tmp_path: Path, shared: SharedNotifier
) -> None:
    mine, theirs = folders(tmp_path, "mine", "theirs")
    share = shared.share()
    share.open([str(mine)])
    (mine / "before.md").touch()
    other = shared.share()
    other.open([str(theirs), str(mine)])
    (mine / "during.md").touch()
    other.close()
    (mine / "after.md").touch()
    paths = heard(share, mine / "after.md")
    assert {Path(path).name for path in paths} == {"before.md", "during.md", "after.md"}


def test_two_watches_of_one_folder_both_hear(tmp_path: Path, shared: SharedNotifier) -> None:
    (place,) = folders(tmp_path, "place")
    first, second = shared.share(), shared.share()
    first.open([str(place)])
    second.open([str(place)])
    (place / "note.md").touch()
    heard(first, place / "note.md")
    heard(second, place / "note.md")
    first.open([])
    (place / "later.md").touch()
    heard(second, place / "later.md")


def test_a_folder_that_was_replaced_is_watched_anew(
    tmp_path: Path, shared: SharedNotifier
) -> None:
    (place,) = folders(tmp_path, "place")
    share = shared.share()
    share.open([str(place)])
    place.rename(tmp_path / "old")
    (place,) = folders(tmp_path, "place")
    share.open([str(place)])
    (tmp_path / "old" / "elsewhere.md").touch()
    (place / "note.md").touch()
    names = {Path(path).name for path in heard(share, place / "note.md")}
    assert "elsewhere.md" not in names


def test_a_folder_that_vanished_is_left_out(tmp_path: Path, shared: SharedNotifier) -> None:
    (place,) = folders(tmp_path, "place")
    share = shared.share()
    share.open([str(tmp_path / "gone"), str(place)])
    (place / "note.md").touch()
    heard(share, place / "note.md")
    (place / "note.md").unlink()
    place.rmdir()
    heard(share, place)


def test_a_name_that_is_not_utf_8_ends_nothing(tmp_path: Path, shared: SharedNotifier) -> None:
    (place,) = folders(tmp_path, "place")
    share = shared.share()
    share.open([str(place)])
    odd = os.fsencode(place) + b"/caf\xe9.md"
    os.close(os.open(odd, os.O_CREAT | os.O_WRONLY))
    (place / "note.md").touch()
    assert os.fsdecode(odd) in heard(share, place / "note.md")


def test_too_many_changes_are_reported_as_a_loss(shared: SharedNotifier) -> None:
    share = shared.share()
    for number in range(MAX_PATHS + 1):
        share.hear(f"/notes/{number}.md")
    with pytest.raises(NotifierUnavailable, match="more changes"):
        share.listen(WAIT_S, NEVER)
    share.hear("/notes/next.md")
    assert share.listen(WAIT_S, NEVER) == {"/notes/next.md"}


def test_there_is_a_limit_of_folders(shared: SharedNotifier) -> None:
    with pytest.raises(NotifierUnavailable, match="folders"):
        shared.share().open([f"/{number}" for number in range(MAX_FOLDERS + 1)])


def test_what_the_kernel_refuses_is_named(tmp_path: Path, shared: SharedNotifier) -> None:
    (place,) = folders(tmp_path, "place")
    share = shared.share()
    share.open([str(place)])
    with pytest.raises(NotifierUnavailable, match="too long"):
        share.open([str(place / ("x" * 300))])
    (place / "note.md").touch()
    heard(share, place / "note.md")


@pytest.mark.parametrize("end", ["wake", "close"])
def test_who_listens_is_woken(end: str) -> None:
    shared = SharedNotifier()
    share, stop, done = shared.share(), threading.Event(), threading.Event()
    share.open(["/"])

    def listen() -> None:
        while not stop.is_set():
            share.listen(600, stop)
        done.set()

    threading.Thread(target=listen, daemon=True).start()
    stop.set()
    ends: dict[str, Callable[[], None]] = {"wake": share.wake, "close": shared.close}
    ends[end]()
    assert done.wait(WAIT_S)
    if end == "wake":
        shared.close()
    with pytest.raises(NotifierUnavailable, match="closed"):
        share.open(["/"])
