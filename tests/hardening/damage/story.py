"""One story for every bad disk, told by a process of its own: well, bad, well again.

    python story.py CONDITION WORKSPACE STATE DISK

It keeps a memory in WORKSPACE and STATE, makes the condition on DISK (which may hold both, or the
state alone), tries everything a user can do, lifts the condition, and tries again. What it prints
is one JSON object, `{"bad": {deed: outcome}, "after": {…}}`; the tests read it and judge.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from notewell import Memory, open_memory
from notewell.capture import (
    FlushFacts,
    FlushSettings,
    Message,
    ModelReply,
    ToolCall,
    capture_dir,
    flush,
    writes,
)
from notewell.capture.undo import undo_write
from notewell.cli import main
from notewell.errors import NotewellError
from notewell.notes.workspace import Workspace
from notewell.testing import HashEmbedder

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
NOBODY = 65534
TODAY = "memory/2026-11-15.md"
LONG = "a long entry " * 600
"""More than a page: where room ends in the middle of it, a part of it is written."""


class Hook(io.TextIOWrapper):
    """Standard input of a hook: what the host says."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(json.dumps(told).encode()), encoding="utf-8")


@dataclass
class Story:
    workspace: Path
    state: Path
    disk: Path
    said: int = 0

    def memory(self) -> Memory:
        return open_memory(
            self.workspace,
            state_dir=self.state,
            embedder=HashEmbedder(),
            now_ns=lambda: int(NOW.timestamp() * 1e9),
            environment={},
        )

    @property
    def transcript(self) -> Path:
        return self.disk.parent / "talk.jsonl"

    @property
    def capture(self) -> Path:
        return capture_dir(self.state, "main", self.workspace)

    # -- deeds -----------------------------------------------------------------------------------

    def search(self, memory: Memory, question: str = "router") -> dict[str, Any]:
        memory.mark_changed()  # Notes are looked at now and then only, to spare a busy process.
        answer = memory.search(question)
        told = {"hits": [hit.snippet for hit in answer.hits], "mode": answer.mode}
        return {**told, "notice": answer.notice}

    def sync(self, memory: Memory, *, force: bool = False) -> dict[str, Any]:
        report = memory.sync(force=force)
        return {
            "rebuilt": str(report.rebuilt) if report.rebuilt else None,
            "trouble": str(report.trouble or ""),
        }

    def append(self, memory: Memory, text: str) -> dict[str, Any]:
        return {"added": memory.append(text).added}

    def flush(self, memory: Memory, text: str, compactions: int) -> dict[str, Any]:
        script = [
            ModelReply(calls=(ToolCall("memory_append", {"text": text}, "1"),)),
            ModelReply("NO_REPLY"),
        ]
        heard: list[str] = []

        def model(messages: Any, tools: Any) -> ModelReply:
            heard.append(messages[-1].text)
            return script.pop(0)

        report = flush(
            memory.journal.writer(),
            "agent:main:main",
            FlushFacts(used_tokens=9_900, context_window=10_000, compactions=compactions),
            [Message("user", "hello")],
            model,
            settings=FlushSettings(reserve_tokens=1_000, soft_threshold_tokens=500),
            zone=UTC,
            clock=lambda: NOW,
        )
        return {"entries": len(report.entries), "heard": heard[-1] if heard else ""}

    def undo(self) -> dict[str, Any]:
        notes = Workspace.open(self.workspace)
        newest = [one for one in writes(self.capture, notes) if not one.undone][-1]
        return {"undone": undo_write(notes, self.capture, newest.id, now=NOW).recorded.id}

    def hook(self) -> dict[str, Any]:
        """The end of a session, twice, as hosts are wont to call."""
        for _ in range(2):
            told = self.command("hook", "session-end", stdin=self._host())
        return told

    def _host(self) -> Hook:
        return Hook({"session_id": "s-1", "transcript_path": str(self.transcript)})

    def say(self) -> None:
        """One message more in the transcript of the host, which lies on a sound disk."""
        self.said += 1
        message = {"content": f"we said {self.said}"}
        line = {"type": "user", "sessionId": "s-1", "message": message}
        with self.transcript.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")

    def command(self, *words: str, stdin: Any = None) -> dict[str, Any]:
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        out, err, before = io.StringIO(), io.StringIO(), sys.stdin
        sys.stdin = stdin or before
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main([*words, *place])
        finally:
            sys.stdin = before
        return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

    # -- all of them -----------------------------------------------------------------------------

    def everything(self, staying: Memory, turn: int) -> dict[str, Any]:
        """Every deed once, by a memory that has been open and by one that is opened now."""
        told: dict[str, Any] = {"search before": tried(lambda: self.search(staying))}
        told["search anew"] = tried(self._asked_anew)
        told["sync"] = self._kept(lambda: self.sync(staying))
        told["rebuild"] = self._kept(lambda: self.sync(staying, force=True))
        for name, deed in self._writing(staying, turn).items():
            told[name] = self._kept(deed)
        told["search"] = tried(lambda: self.search(staying))
        told["status"] = tried(lambda: {"told": str(staying.status())})
        for words in ("status", "doctor", "search router --mode keyword"):
            told[f"notewell {words}"] = tried(partial(self.command, *words.split()))
        with limited(resource.RLIMIT_NOFILE, 4096):
            told["damaged"] = [path.name for path in self.state.rglob("*.damaged")]
        return told

    def _writing(self, staying: Memory, turn: int) -> dict[str, Callable[[], dict[str, Any]]]:
        return {
            "append": lambda: self.append(staying, f"entry of turn {turn}"),
            "long append": lambda: self.append(staying, f"turn {turn}: {LONG}"),
            "flush": lambda: self.flush(staying, f"flushed in turn {turn}: {LONG}", turn),
            "hook": self.hook,
            "undo": self.undo,
        }

    def _asked_anew(self) -> dict[str, Any]:
        with self.memory() as memory:
            return self.search(memory)

    def _kept(self, deed: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """And whether the notes are to the byte what they were."""
        before = self._notes()
        outcome = tried(deed)
        after = self._notes()
        return {**outcome, "notes changed": before != after, "new": sorted(after - before)}

    def _notes(self) -> set[tuple[str, str]]:
        with limited(resource.RLIMIT_NOFILE, 4096):
            return self._digests()

    def _digests(self) -> set[tuple[str, str]]:
        return {
            (str(path.relative_to(self.workspace)), digest)
            for path in self.workspace.rglob("*.md")
            for data in (path.read_bytes(),)
            if data  # An append that fails may leave the empty note that it made.
            for digest in (hashlib.sha256(data).hexdigest(),)
        }


def tried(deed: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return deed()
    except NotewellError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except Exception as error:  # noqa: BLE001 - a foreign one is what we look for
        return {"foreign": f"{type(error).__name__}: {error}"}


# -- conditions ----------------------------------------------------------------------------------


@contextlib.contextmanager
def full(disk: Path) -> Iterator[None]:
    filler = os.open(disk / "filler", os.O_CREAT | os.O_WRONLY)
    for size in (65_536, 4_096, 512, 1):
        with contextlib.suppress(OSError):
            while True:
                os.write(filler, bytes(size))
    yield
    os.close(filler)
    (disk / "filler").unlink()


@contextlib.contextmanager
def no_inodes(disk: Path) -> Iterator[None]:
    made: list[Path] = []
    with contextlib.suppress(OSError):
        while True:
            path = disk / f"filler-{len(made)}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            made.append(path)
    yield
    for path in made:
        path.unlink()


@contextlib.contextmanager
def read_only(disk: Path) -> Iterator[None]:
    subprocess.run(["mount", "--bind", disk, disk], check=True)
    os.chdir("/")
    subprocess.run(["mount", "-o", "remount,bind,ro", disk], check=True)
    yield
    subprocess.run(["umount", disk], check=True)


@contextlib.contextmanager
def limited(kind: int, most: int) -> Iterator[None]:
    before, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, hard))
    yield
    resource.setrlimit(kind, (before, hard))


@contextlib.contextmanager
def no_descriptors(spare: int) -> Iterator[None]:
    with limited(resource.RLIMIT_NOFILE, 128):
        taken = []
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for descriptor in taken[len(taken) - spare :]:
            os.close(descriptor)
        yield
        for descriptor in taken[: len(taken) - spare]:
            os.close(descriptor)


@contextlib.contextmanager
def closed(disk: Path) -> Iterator[None]:
    """Nobody may write anywhere below, and nobody is who we are."""
    everything = [disk, *disk.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)
    for path in everything:
        path.chmod(0o755 if path.is_dir() else 0o644)


def condition(name: str, disk: Path) -> contextlib.AbstractContextManager[None]:
    match name:
        case "full":
            return full(disk)
        case "no inodes":
            return no_inodes(disk)
        case "read-only":
            return read_only(disk)
        case "closed":
            return closed(disk)
        case "no larger files":
            return limited(resource.RLIMIT_FSIZE, 100)
        case "no descriptors":
            return no_descriptors(0)
        case "some descriptors":
            return no_descriptors(6)
        case "few descriptors":
            return no_descriptors(3)
    raise ValueError(name)


def told(name: str, workspace: Path, state: Path, disk: Path) -> dict[str, Any]:
    story = Story(workspace, state, disk)
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    (workspace / "MEMORY.md").write_text("the router\n", encoding="utf-8")
    (workspace / TODAY).write_text("- breakfast\n", encoding="utf-8")
    story.say()
    with story.memory() as staying:
        # Once while all is well: a process that stays has everything loaded.
        found = {"well": story.everything(staying, 0)}
        (workspace / "MEMORY.md").write_text("the router moved\n", encoding="utf-8")
        staying.mark_changed()
        story.say()
        with condition(name, disk):
            found["bad"] = story.everything(staying, 1)
        story.say()
        found["after"] = story.everything(staying, 1)
    return found


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.stdout.write(json.dumps(told(words[0], *(Path(word) for word in words[1:]))))
