"""Stories of what is written into the workspace: entries, a flush, a session note, an undo, and
a note in the folder of an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

from tests.hardening.powerloss.stories import Told
from tests.hardening.powerloss.workplace import NOW, memory

from notewell.capture import (
    FlushFacts,
    FlushSettings,
    Message,
    ModelReply,
    SessionEnd,
    ToolCall,
    capture_dir,
    flush,
    save_new_messages,
    writes,
)
from notewell.capture.undo import undo_write
from notewell.errors import NotewellError
from notewell.notes import EditableFolder
from notewell.notes.workspace import Workspace

DAY = "memory/2026-11-15.md"
USER_TEXT = "# Memory\n\nThe user wrote this, without a line break at the end."
LONG = "It rained. " * 200  # Some sectors of the disk, so that it can be torn.


def note(root: Path, path: str) -> bytes:
    try:
        return (root / "ws" / path).read_bytes()
    except FileNotFoundError:
        return b""


@dataclass(frozen=True, slots=True)
class EntriesSeen:
    whole: tuple[bool, ...]
    """Which of the entries stand in their notes."""
    user_text: bool
    """Whether what the user wrote is there, unchanged, before everything else."""
    counted: tuple[int, ...]
    """How often each stands there after all of it was done once more."""
    found: tuple[bool, ...]
    """Whether a search finds it then."""
    undoable: tuple[bool, ...]
    """Whether the history knows it, before it was done once more."""


class EntryStory:
    """Entries are appended; what was told stands in the note, and no entry ever stands twice."""

    name = ""
    entries: tuple[tuple[str, str | None], ...] = ()
    """The text, and the section of MEMORY.md."""
    origin = "library"

    def prepare(self, root: Path) -> None:
        (root / "ws").mkdir()
        (root / "state").mkdir()
        (root / "ws" / "MEMORY.md").write_text(USER_TEXT, encoding="utf-8")

    def act(self, root: Path, told: Told) -> None:
        raise NotImplementedError

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        pass

    def again(self, root: Path) -> None:
        """By whoever was not told that it is done, and so does it once more."""
        self.act(root, lambda _: None)

    def see(self, root: Path) -> EntriesSeen:
        whole, undoable = self._counts(root), self._undoable(root)
        user_text = note(root, "MEMORY.md").startswith(USER_TEXT.encode())
        self.again(root)
        with memory(root) as opened:
            opened.sync()
            found = tuple(
                any(text in hit.snippet for hit in opened.search(text).hits)
                for text in (whole.split(".")[0] for whole, _ in self.entries)
            )
        return EntriesSeen(
            tuple(bool(one) for one in whole), user_text, self._counts(root), found, undoable
        )

    def _counts(self, root: Path) -> tuple[int, ...]:
        return tuple(
            note(root, "MEMORY.md" if section else DAY).count(
                f"- {text.strip()} <!-- @{self.origin} -->\n".encode()
            )
            for text, section in self.entries
        )

    def _undoable(self, root: Path) -> tuple[bool, ...]:
        folder = capture_dir(root / "state", "main", root / "ws")
        known = {one.write.digest for one in writes(folder, Workspace.open(root / "ws"))}
        return tuple(number < len(known) for number in range(len(self.entries)))

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, EntriesSeen)
        told = [int(what) for what in acknowledged]
        lost = [number for number in told if not seen.whole[number]]
        if lost or not seen.user_text:
            return f"entries {lost} were told and are gone; the user's text: {seen.user_text}"
        if not all(seen.undoable[number] for number in told):
            return f"entries {told} were told, the history knows {seen.undoable}"
        if set(seen.counted) != {1} or not all(seen.found):
            return f"done again, they stand there {seen.counted} times, found: {seen.found}"
        return None


class Append(EntryStory):
    name = "append"
    entries = (
        ("The first thing that was said.", None),
        (f"A second thing, a long one. {LONG}", None),
        ("Something for good.", "Facts"),
        ("A third thing.", None),
    )

    def act(self, root: Path, told: Told) -> None:
        with memory(root) as opened:
            for number, (text, section) in enumerate(self.entries):
                opened.append(text, section=section)
                told(str(number))


class Flush(EntryStory):
    name = "flush"
    entries = (
        ("We ship on Friday.", None),
        (f"The weather was noted. {LONG}", None),
        ("Ada reviews it.", None),
    )
    origin = "flush"

    def act(self, root: Path, told: Told) -> None:
        self._flush(root, told, late=False)

    def again(self, root: Path) -> None:
        """When the claim of whoever had no power any more has run out."""
        self._flush(root, lambda _: None, late=True)

    def _flush(self, root: Path, told: Told, *, late: bool) -> None:
        facts = FlushFacts(used_tokens=9_000, context_window=10_000, compactions=0)
        settings = FlushSettings(reserve_tokens=1_000, soft_threshold_tokens=500)
        now = NOW + timedelta(hours=1) if late else NOW
        with memory(root) as opened:
            flush(
                opened.journal.writer(), "agent:main", facts, (), _Model(self.entries, told),
                settings=settings, zone=UTC, clock=lambda: now,
            )  # fmt: skip


class _Model:
    """Appends one entry after another; asked again, it was told that the last is written."""

    def __init__(self, entries: Sequence[tuple[str, str | None]], told: Told) -> None:
        self._entries = entries
        self._told = told
        self._written = 0

    def __call__(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], /
    ) -> ModelReply:
        if messages[-1].role == "tool":
            assert messages[-1].text.startswith(("wrote", "it is there already"))
            self._told(str(self._written))
            self._written += 1
        if self._written == len(self._entries):
            return ModelReply("NO_REPLY")
        text = self._entries[self._written][0]
        return ModelReply(calls=(ToolCall("memory_append", {"text": text}, "c"),))


@dataclass(frozen=True, slots=True)
class SessionSeen:
    halves: int
    """Notes that are neither whole nor absent."""
    first: int
    """Whole notes of the conversation."""
    after: int
    """And when the hook has fired again."""
    notes: int
    """What a sync indexes then."""


class SessionNote:
    """A conversation is saved once: whole, or not yet."""

    name = "session note"

    def __init__(self) -> None:
        self._whole = b""

    def prepare(self, root: Path) -> None:
        for name in ("ws", "state", "transcripts"):
            (root / name).mkdir()
        lines = [
            {
                "type": role, "uuid": f"u{number}", "sessionId": "s-1", "cwd": "/somewhere",
                "timestamp": "2026-11-15T11:00:00Z",
                "message": {"role": role, "content": f"Message {number}. {LONG}"},
            }
            for number, role in enumerate(("user", "assistant") * 3)
        ]  # fmt: skip
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (root / "transcripts" / "s-1.jsonl").write_text(text, encoding="utf-8")

    def act(self, root: Path, told: Told) -> None:
        transcript = root / "transcripts" / "s-1.jsonl"
        ended = SessionEnd(transcript, "s-1", "claude", "/somewhere", "session-end")
        with memory(root) as opened:
            save_new_messages(opened.journal.writer(), ended, now=NOW, zone=UTC)
        told("saved")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        reset()
        self.act(root, lambda _: None)
        (self._whole,) = self._notes(root)

    def _notes(self, root: Path) -> list[bytes]:
        return [path.read_bytes() for path in sorted((root / "ws").glob("memory/*.md"))]

    def see(self, root: Path) -> SessionSeen:
        first = self._notes(root)
        self._forget_inode(root)
        self.act(root, lambda _: None)
        after = self._notes(root)
        with memory(root) as opened:
            notes = opened.sync().notes
        halves = sum(one != self._whole for one in after)
        return SessionSeen(halves, first.count(self._whole), after.count(self._whole), notes)

    def _forget_inode(self, root: Path) -> None:
        """The image's transcript is a copy and has another inode than the one that was saved."""
        for file in (root / "state").glob("capture/*/captured.json"):
            inode = (root / "transcripts" / "s-1.jsonl").stat().st_ino
            # That of the position, and that of an intent.
            state = re.sub(rb'"inode": ?\d+', b'"inode": %d' % inode, file.read_bytes())
            file.write_bytes(state)

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, SessionSeen)
        if seen.halves:
            return f"{seen.halves} notes are half a conversation"
        if acknowledged and (seen.first, seen.after) != (1, 1):
            return f"it was told, there were {seen.first} notes, and {seen.after} after one more"
        return None if seen.after == 1 else f"one more hook leaves {seen.after} whole notes"


@dataclass(frozen=True, slots=True)
class UndoSeen:
    first: bytes
    again: str
    """What a second undo says."""
    notes: int


class Undo:
    """An entry is taken back: the note is the one before or the one after, at every moment."""

    name = "undo"
    MARK = b"- To be taken back. <!-- @library -->\n"

    def __init__(self) -> None:
        self._before = b""

    def prepare(self, root: Path) -> None:
        (root / "ws").mkdir()
        (root / "state").mkdir()
        with memory(root) as opened:
            opened.append(f"To stay. {LONG}")
            opened.append("To be taken back.")
            opened.append(f"To stay as well. {LONG}")

    def act(self, root: Path, told: Told) -> None:
        folder = capture_dir(root / "state", "main", root / "ws")
        notes = Workspace.open(root / "ws")
        undo_write(notes, folder, writes(folder, notes)[1].id, now=NOW)
        told("undone")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        reset()
        self._before = note(root, DAY)

    def see(self, root: Path) -> UndoSeen:
        first = note(root, DAY)
        try:
            self.act(root, lambda _: None)
            again = "undone"
        except NotewellError as error:
            again = str(error)
        with memory(root) as opened:
            notes = opened.sync().notes
        return UndoSeen(first, again, notes)

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, UndoSeen)
        after = self._before.replace(self.MARK, b"")
        if seen.first not in (self._before, after) or seen.notes != 1:
            return "the note is neither the one before nor the one after"
        if acknowledged and seen.first != after:
            return "it was told, and the entry is there again"
        if acknowledged and "has been undone already" not in seen.again:
            return f"it was told, and the history does not know: {seen.again}"
        if seen.first == self._before and seen.again != "undone":
            return f"it can no longer be undone: {seen.again}"
        return None


@dataclass(frozen=True, slots=True)
class AgentNoteSeen:
    first: bytes
    """The note; empty if it is missing."""
    after: bytes
    """When the agent has done its work once more."""
    notes: int
    """What a sync indexes then."""


class AgentNote:
    """An agent creates a note below two new folders, and replaces it: it is whole each time.

    Moves between folders are left out: for the images the two folders change independently, which
    is stricter than any file system that renames atomically.
    """

    name = "agent note"
    PATH = "plans/trip.md"
    TEXTS = (f"# Trip\n\nBy train. {LONG}\n".encode(), f"# Trip\n\nBy boat. {LONG}\n".encode())

    def prepare(self, root: Path) -> None:
        (root / "ws").mkdir()
        (root / "state").mkdir()

    def act(self, root: Path, told: Told) -> None:
        folder = EditableFolder(root / "ws", "memory/claude", now=lambda: NOW)
        if folder.kind(self.PATH) is None:
            folder.create(self.PATH, self.TEXTS[0])
        told("created")
        folder.replace(self.PATH, self.TEXTS[1], expected=folder.read(self.PATH).digest)
        told("replaced")

    def learn(self, root: Path, reset: Callable[[], None]) -> None:
        pass

    def see(self, root: Path) -> AgentNoteSeen:
        path = f"memory/claude/{self.PATH}"
        first = note(root, path)
        self.act(root, lambda _: None)
        with memory(root) as opened:
            notes = opened.sync().notes
        return AgentNoteSeen(first, note(root, path), notes)

    def judge(self, seen: object, acknowledged: list[str]) -> str | None:
        assert isinstance(seen, AgentNoteSeen)
        states = (b"", *self.TEXTS)
        if seen.first not in states:
            return "the note is there in part"
        if states.index(seen.first) < len(acknowledged):
            return f"{acknowledged[-1]!r} was told, the note begins {seen.first[:20]!r}"
        if seen.after != self.TEXTS[1] or seen.notes != 1:
            return "the agent can no longer do its work"
        return None
