"""A memory with secret files beside it, and every way we know to reach them in a race."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from tests.hardening.attacks.link_swapper import Kind, LinkSwapper

from notewell import Memory, NotesSettings, SessionSettings, open_memory
from notewell.config import Settings
from notewell.errors import NotANote, NotewellError
from notewell.notes import EditableFolder, ExtraPath
from notewell.stores import index_dir
from notewell.testing import HashEmbedder

SECRET = "kestrel-9f31"
SAID = '{"type":"user","sessionId":"s","message":{"content":"%s"}}\n'
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOW_NS = int(NOW.timestamp() * 1e9)


class AttackedMemory:
    """`ws`, `extra`, `talks` and `state` are the user's; `outside` is a stranger's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace, self.outside = root / "ws", root / "outside"
        self.extra, self.talks, self.state = root / "extra", root / "talks", root / "state"
        for folder in ("ws/memory/x", "ws/memory/own", "extra/x", "talks/x"):
            (root / folder).mkdir(parents=True)
        for note in ("ws/memory/x/a.md", "ws/memory/own/a.md", "extra/x/a.md", "extra/a.md"):
            (root / note).write_text("- a plain note\n", encoding="utf-8")
        (root / "ws/memory/2026-11-15.md").write_text("- today\n", encoding="utf-8")
        for talk in ("talks/x/a.jsonl", "talks/a.jsonl"):
            (root / talk).write_text(SAID % "a plain word", encoding="utf-8")
        self._fill_outside()
        self.memory = self._open()
        self.memory.append("the first", origin="test")
        self.memory.sync()
        self.own = EditableFolder(self.workspace, "memory/own")
        self.before = self.seen_outside()

    def _fill_outside(self) -> None:
        for folder in ("", "x", "own"):
            (self.outside / folder).mkdir(parents=True, exist_ok=True)
            for name in ("a.md", "only-here.md", "2026-11-15.md"):
                text = f"- the {SECRET} is kept here\n"
                (self.outside / folder / name).write_text(text, encoding="utf-8")
            for name in ("a.jsonl", f"{SECRET}.jsonl"):
                (self.outside / folder / name).write_text(SAID % SECRET, encoding="utf-8")

    def _open(self) -> Memory:
        settings = Settings(
            notes=NotesSettings(extra_paths=(ExtraPath(str(self.extra)),)),
            sessions=SessionSettings(
                enabled=True,
                folders=((self.talks, "claude"),),
                delta_bytes=1,
                delta_messages=1,
            ),
        )
        return open_memory(
            self.workspace,
            state_dir=self.state,
            settings=settings,
            embedder=HashEmbedder(),
            now_ns=lambda: NOW_NS,
        )

    def seen_outside(self) -> dict[str, str]:
        files = sorted(path for path in self.outside.rglob("*") if path.is_file())
        return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}

    def kept_of_the_secret(self) -> list[str]:
        """Our own files that hold it: index, cache, history, whatever there is."""
        files = (path for path in self.state.rglob("*") if path.is_file())
        return [path.name for path in files if SECRET.encode() in path.read_bytes()]


@contextmanager
def attacked_memory(root: Path) -> Iterator[AttackedMemory]:
    attacked = AttackedMemory(root)
    try:
        yield attacked
    finally:
        attacked.memory.close()


@dataclass(slots=True)
class Tally:
    tries: int = 0
    done: int = 0
    """Tries that were not refused."""
    swaps: int = 0
    leaks: list[str] = field(default_factory=list)
    written_outside: list[str] = field(default_factory=list)


# -- what is done while somebody swaps; each gives back all that was seen ------------------------


def _get(attacked: AttackedMemory, number: int) -> str:
    return attacked.memory.get("memory/x/a.md").text


def _sync(attacked: AttackedMemory, number: int) -> str:
    report = attacked.memory.sync(force=number % 8 == 0)
    found = attacked.memory.search("plain note kept here", max_results=20)
    told = [f"{hit.path} {hit.snippet}" for hit in found.hits]
    return "\n".join([*map(str, report.unreadable), *map(str, report.ignored), *told])


def _append(attacked: AttackedMemory, number: int) -> str:
    return str(attacked.memory.append(f"entry {number}", origin="test"))


def _edit(attacked: AttackedMemory, number: int) -> str:
    content = attacked.own.read("a.md")
    data = f"- edit {number}\n".encode()
    return f"{content} {attacked.own.replace('a.md', data, expected=content.digest)}"


def _new_own(attacked: AttackedMemory, number: int) -> str:
    attacked.own.create(f"new-{number}.md", b"- new\n")
    return attacked.own.trash(f"new-{number}.md") + str(attacked.own.entries(""))


def _capture(attacked: AttackedMemory, number: int) -> str:
    place = attacked.memory.journal.writer()
    return place.create(f"2026-11-15-{number}", "said\n")


def _get_extra(attacked: AttackedMemory, number: int) -> str:
    told = [attacked.memory.get(f"{attacked.extra}/a.md").text]
    return "\n".join([*told, attacked.memory.get(f"{attacked.extra}/x/a.md").text])


def _get_talk(attacked: AttackedMemory, number: int) -> str:
    told = [*attacked.memory.inspect.paths(), attacked.memory.get("sessions/claude/a.jsonl").text]
    return "\n".join([*told, attacked.memory.get("sessions/claude/x/a.jsonl").text])


def _status(attacked: AttackedMemory, number: int) -> str:
    return str(attacked.memory.status())


@dataclass(frozen=True, slots=True)
class Attack:
    name: str
    kind: Kind
    target: str
    """Below the root; `{index}` and `{capture}` are folders of the state."""
    to: str
    """What the link leads to."""
    act: Callable[[AttackedMemory, int], str]

    def run(self, attacked: AttackedMemory, seconds: float) -> Tally:
        tally = Tally()
        ends = time.monotonic() + seconds
        with LinkSwapper(self.kind, self._target(attacked), attacked.root / self.to) as swapper:
            # On a loaded machine longer than asked for, until both sides had their turns.
            while time.monotonic() < ends or tally.tries < 3 or not swapper.has_swapped_enough():
                tally.tries += 1
                try:
                    seen = self.act(attacked, tally.tries)
                    tally.done += 1
                except NotewellError as error:
                    seen = "" if isinstance(error, NotANote) else str(error)
                if SECRET in seen:
                    tally.leaks.append(seen[:200])
        tally.swaps = swapper.swaps
        tally.leaks += attacked.kept_of_the_secret()
        after = attacked.seen_outside()
        changed = after.items() ^ attacked.before.items()
        tally.written_outside = sorted({path for path, _ in changed})
        return tally

    def _target(self, attacked: AttackedMemory) -> Path:
        index = index_dir(attacked.state, "main", attacked.workspace.resolve())
        capture = attacked.state / "capture" / index.name
        return attacked.root / self.target.format(index=index, capture=capture)


ATTACKS = (
    Attack("get, the root's child", "folder", "ws/memory", "outside", _get),
    Attack("sync, leaf", "leaf", "ws/memory/x/a.md", "outside/x/a.md", _sync),
    Attack("sync, parent", "folder", "ws/memory/x", "outside/x", _sync),
    Attack("sync, the root's child", "folder", "ws/memory", "outside", _sync),
    Attack("append, leaf", "leaf", "ws/memory/2026-11-15.md", "outside/a.md", _append),
    Attack("append, the root's child", "folder", "ws/memory", "outside", _append),
    Attack("edit, leaf", "leaf", "ws/memory/own/a.md", "outside/own/a.md", _edit),
    Attack("edit, parent", "folder", "ws/memory/own", "outside/own", _edit),
    Attack("make and trash, the root's child", "folder", "ws/memory", "outside", _new_own),
    Attack("capture, the root's child", "folder", "ws/memory", "outside", _capture),
    Attack("extra paths, leaf", "leaf", "extra/a.md", "outside/a.md", _get_extra),
    Attack("extra paths, sync", "folder", "extra/x", "outside/x", _sync),
    Attack("extra paths, the folder itself", "folder", "extra", "outside", _get_extra),
    Attack("transcripts, leaf", "leaf", "talks/a.jsonl", "outside/a.jsonl", _get_talk),
    Attack("transcripts, parent", "folder", "talks/x", "outside/x", _get_talk),
    Attack("transcripts, sync", "folder", "talks/x", "outside/x", _sync),
    Attack("history, leaf", "leaf", "{capture}/history.jsonl", "outside/a.md", _append),
    Attack("pointer, leaf", "leaf", "{index}/CURRENT", "outside/a.md", _status),
)
