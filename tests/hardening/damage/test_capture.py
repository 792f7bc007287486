"""The small files that remember captures: in any state, hooks, undo and review go on."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from notewell import open_memory
from notewell.capture import capture_dir, writes
from notewell.cli import main
from notewell.notes import open_notes
from notewell.testing import HashEmbedder

FILES = (
    "flush.json",
    "flush.jsonl",
    "history.jsonl",
    "pending.json",
    "recalled.jsonl",
    "captured.json",
    "heartbeat.json",
)
BAD = {
    "empty": b"",
    "garbage": b"\xff\xfe\x00garbage",
    "a line cut short": b'{"id": "0123", "at": "2026-11-1',
    "no object": b"[1, 2]\n",
    "null": b"null\n",
    "deep": b"[" * 100_000,
    "a huge number": b'{"since": 1e999, "day": NaN, "places": 9' + b"9" * 5_000 + b"}",
    "wrong kinds": json.dumps(
        {
            "session": 7,
            "since": 7,
            "last": [],
            "captured": "x",
            "trouble": [],
            "day": 7,
            "places": [["a.md", "1", None], 7, ["a.md", 1, 10**12]],
            "id": [],
            "at": {},
            "path": 7,
            "undone": [],
            "s-1": "nothing",
        }
    ).encode(),
    "wrong kinds within": json.dumps(
        {
            "s-1": {"inode": "x", "bytes": -5, "day": 7, "transcript": 7, "host": []},
            "s-0": {"transcript": "/no/such\u0000file", "host": "codex", "cwd": 7},
            "last": {"at": 7, "event": [], "host": {}},
        }
    ).encode(),
}


class Desk:
    """A workspace with a hook, an undo and a review at work in it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workspace = root / "workspace"
        self.state = root / "state"
        self.transcript = root / "talk.jsonl"
        self.monkeypatch = monkeypatch
        self.workspace.mkdir(parents=True)
        (self.workspace / "MEMORY.md").write_text("- the router\n", encoding="utf-8")

    @property
    def folder(self) -> Path:
        return capture_dir(self.state, "main", self.workspace)

    def run(self, *words: str, **told: Any) -> int:
        stdin = io.TextIOWrapper(io.BytesIO(json.dumps(told).encode()), encoding="utf-8")
        self.monkeypatch.setattr(sys, "stdin", stdin)
        return main([*words, "-w", str(self.workspace), "--state-dir", str(self.state)])

    def say(self, text: str) -> None:
        line = {"type": "user", "sessionId": "s-1", "message": {"content": text}}
        with self.transcript.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")

    def hook(self, event: str, host: str = "codex", session: str = "s-1") -> int:
        transcript = str(self.transcript)
        return self.run(
            "hook", event, "--host", host, session_id=session, transcript_path=transcript
        )

    def append(self, text: str) -> None:
        with open_memory(self.workspace, state_dir=self.state, embedder=HashEmbedder()) as memory:
            assert memory.append(text).added
            memory.journal.recalled([("MEMORY.md", memory.search("router").hits[0].span)])

    def notes(self) -> dict[str, bytes]:
        files = self.workspace.rglob("*.md")
        return {str(path.relative_to(self.workspace)): path.read_bytes() for path in files}


@pytest.fixture
def desk(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(Path(tempfile.mkdtemp(dir=quick_path)), monkeypatch)
    with open_memory(desk.workspace, state_dir=desk.state, embedder=HashEmbedder()) as memory:
        memory.sync()
    desk.append("the first entry")
    desk.say("we ship on Friday")
    assert desk.hook("stop") == 0
    assert desk.hook("session-end") == 0
    return desk


@pytest.mark.parametrize(
    ("names", "bad"),
    [*((FILES, bad) for bad in BAD), *(((name,), "a line cut short") for name in FILES)],
)
def test_whatever_stands_in_the_state_files_capture_goes_on(
    desk: Desk, names: tuple[str, ...], bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = desk.notes()
    for name in names:
        (desk.folder / name).write_bytes(BAD[bad])
    capsys.readouterr()
    assert desk.hook("session-start", session="s-2") == 0
    assert "- the router" in capsys.readouterr().out
    desk.say("and test on Thursday")
    assert desk.hook("stop") == 0
    assert desk.hook("session-end") == 0
    assert capsys.readouterr().err == ""
    assert {path: desk.notes()[path] for path in before} == before
    saved = b"".join(desk.notes()[path] for path in desk.notes().keys() - before.keys())
    assert saved.count(b"and test on Thursday") == 1
    desk.append("a second entry")
    assert desk.run("history") == 0
    with_it = desk.notes()
    newest = [
        one for one in writes(desk.folder, open_notes(desk.workspace)) if one.write.kind == "entry"
    ][-1]
    assert desk.run("undo", newest.id) == 0
    assert desk.notes() != with_it
    assert capsys.readouterr().err == ""
    assert desk.run("review") in (0, 3)
    assert desk.run("doctor") in (0, 5)
    assert "notewell: " not in capsys.readouterr().err


@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_the_place_of_a_state_file_is_no_traceback(
    desk: Desk, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = desk.notes()
    (desk.folder / name).unlink(missing_ok=True)
    (desk.folder / name).mkdir()
    for event in ("session-start", "stop", "session-end"):
        assert desk.hook(event, session="s-3") == 0
    desk.append("a second entry")
    for command in ("history", "review", "doctor"):
        assert desk.run(command) in (0, 1, 3, 5)
    told = capsys.readouterr().err
    assert all(line.startswith("notewell: ") for line in told.splitlines() if name in line)
    assert "Traceback" not in told
    grown = desk.notes()
    assert all(grown[path].startswith(data) for path, data in before.items())


def test_a_conversation_whose_transcript_is_gone_does_not_keep_others_from_their_start(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was told at every start from then on, and no session began with its notes."""
    gone = {"transcript": str(desk.transcript.with_name("gone.jsonl")), "host": "codex"}
    kept = {"transcript": str(desk.transcript), "host": "codex"}
    desk.say("and test on Thursday")
    pending = json.dumps({"s-gone": gone, "s-1": kept})
    (desk.folder / "pending.json").write_text(pending, encoding="utf-8")
    capsys.readouterr()
    assert desk.hook("session-start", session="s-2") == 0
    told = capsys.readouterr()
    assert "- the router" in told.out
    assert "gone.jsonl': not there" in told.err
    assert b"Thursday" in b"".join(desk.notes().values())
    assert desk.hook("session-start", session="s-2") == 0
    told = capsys.readouterr()
    assert "- the router" in told.out
    assert told.err == ""
