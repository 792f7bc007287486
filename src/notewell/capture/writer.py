"""START HERE: where a capture writes, and the one way it appends."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from notewell.capture.history import Write, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime
    from pathlib import Path

    from notewell.notes import Appended, Entry, Section, Workspace


def capture_dir(state_dir: Path, agent: str, workspace: Path) -> Path:
    """What we remember about one agent's captures; not in the index's folder, which is rebuilt."""
    place = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return state_dir / "capture" / f"{agent}-{place}"


@dataclass(frozen=True, slots=True)
class Place:
    """The workspace that is written to, and the folder that remembers what was written."""

    notes: Workspace
    folder: Path
    """See `capture_dir`."""
    redact: Callable[[str], str]
    """Sees every text before it is written."""

    def append(self, entry: Entry, to: date | Section, *, now: datetime) -> Appended:
        """One entry more, written down in the history so that it can be taken back."""
        done = self.notes.append(entry, to)
        record_append(self.folder, self.notes.root, done, entry.origin, now)
        return done


def record_append(
    folder: Path, root: Path, done: Appended, origin: str, now: datetime
) -> str | None:
    """Its id in the history; None when nothing was added. For who appends without a `Place`."""
    if not done.added:
        return None
    write = Write(
        path=done.path,
        start_byte=done.start_byte,
        end_byte=done.end_byte,
        digest=_digest(root, done),
        digest_before=done.digest_before,
        digest_after=done.digest_after,
        origin=origin,
        kind="entry",
    )
    return record(folder, write, now)


def _digest(root: Path, done: Appended) -> str:
    """Of the added bytes alone: they are known again when the user has edited above them."""
    from notewell.capture.undo import read_bytes

    data = read_bytes(root, done.path)
    if hashlib.sha256(data[: done.end_byte]).hexdigest() != done.digest_after:
        return ""  # Edited within these microseconds: what is there is not ours alone.
    return hashlib.sha256(data[done.start_byte : done.end_byte]).hexdigest()
