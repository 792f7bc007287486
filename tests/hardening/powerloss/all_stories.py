"""Every story by its name, and how one is told from beginning to end."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.hardening.powerloss.images import Disk, Image, images
from tests.hardening.powerloss.record import Log, record
from tests.hardening.powerloss.stories import (
    CacheWrite,
    FirstIndex,
    ForcedRebuild,
    IncrementalSync,
    Story,
)
from tests.hardening.powerloss.stories_notes import (
    AgentNote,
    Append,
    Flush,
    SessionNote,
    Undo,
)

STORIES: dict[str, Callable[[], Story]] = {
    story.name: story
    for story in (
        FirstIndex, IncrementalSync, ForcedRebuild, CacheWrite, Append, Flush, SessionNote, Undo,
        AgentNote,
    )
}  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What came of one story."""

    operations: int
    images: int = 0
    different: int = 0
    """Images that no other one was like; each is looked at once."""
    bad: Counter[str] = field(default_factory=Counter)
    """What was wrong, and in how many images."""
    example: str = ""
    """How to see the first bad one again."""
    seconds: float = 0.0


def tell(
    name: str,
    shim: Path,
    folder: Path,
    *,
    count: int,
    seed: int,
    fault: str | None = None,
    until_bad: bool = False,
) -> Outcome:
    """Watch the story once, then look at `count` images of it, or until one is bad."""
    story, root = STORIES[name](), folder.resolve() / "disk"
    started = perf_counter()
    root.mkdir(parents=True)
    story.prepare(root)
    prepared = folder / "prepared"
    shutil.copytree(root, prepared)
    log = record(shim, root, folder / "log", name, *([fault] if fault else []))
    require_whole(log, root)
    story.learn(root, lambda: _put_back(prepared, root))
    outcome = Outcome(len(log.ops))
    known: dict[str, object] = {}
    for cut, image in images(log, count, seed):
        digest = image.digest
        if digest not in known:
            image.lay_out(root)
            known[digest] = _seen(story, root)
        outcome.images += 1
        if wrong := _judged(story, known[digest], log.acknowledged(cut)):
            outcome.bad[wrong] += 1
            outcome.example = outcome.example or f"seed {seed}, cut {cut} of {len(log.ops)}"
            if until_bad:
                break
    outcome.different = len(known)
    outcome.seconds = perf_counter() - started
    return outcome


def _seen(story: Story, root: Path) -> object:
    try:
        return story.see(root)
    except Exception as error:  # noqa: BLE001 - whatever is raised, the image is a bad one
        return error


def _judged(story: Story, seen: object, acknowledged: list[str]) -> str | None:
    if isinstance(seen, Exception):
        return f"{type(seen).__name__}: {seen}"
    return story.judge(seen, acknowledged)


def require_whole(log: Log, root: Path) -> None:
    """Nothing has escaped the shim: all of the log together is what is on the disk."""
    disk = Disk(log)
    for op in log.ops:
        disk.play(op)
    on_disk = Image(
        {
            str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
            for path in sorted(root.rglob("*"))
        }
    )
    played = disk.all_of_it()
    differ = [
        path
        for path in {*played.things, *on_disk.things}
        if played.things.get(path, ()) != on_disk.things.get(path, ())
        and not path.endswith("-shm")  # Written through mmap, and made anew after a crash.
    ]
    if differ:
        raise AssertionError(f"the log does not tell how these came to be: {sorted(differ)}")


def _put_back(prepared: Path, root: Path) -> None:
    shutil.rmtree(root)
    shutil.copytree(prepared, root)
