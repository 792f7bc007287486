"""What is written to notes: appends, a flush, a session's note, an undo, an agent's own edits."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import Any

from tests.hardening.faults.scene import NOW, Scene, Seen, told

from notewell.assembly import open_memory
from notewell.capture import (
    CannotUndo,
    FlushFacts,
    FlushSettings,
    KeepSettings,
    Message,
    ModelReply,
    NoteWriter,
    SessionEnd,
    ToolCall,
    capture_dir,
    described,
    flush,
    import_transcripts,
    keep_messages,
    propose,
    save_new_messages,
    writes,
)
from notewell.capture.undo import undo_write
from notewell.cli.hook import handle
from notewell.cli.init import run as init
from notewell.cli.parser import build_parser
from notewell.cli.review import run as review
from notewell.errors import BadRequest, EditRefused, NotewellError
from notewell.files import read_json
from notewell.memory import Memory
from notewell.notes import Appended, EditableFolder
from notewell.notes.workspace import Workspace
from notewell.redaction import Redactor, load_mask_key
from notewell.sessions import KEPT, TranscriptFolder, Transcripts, kept_dir, transcripts_at

DAY = "memory/2026-11-15.md"
ENTRY = "We ship the router on Friday.\n\nThe plan:\n\n1. test\n2. ship"
GONE = (
    "not there",
    "what was added is no longer there, or was changed since; edit the note",
)
TOLD = ("We ship on Friday.", "The router is called Rosalind.")
SAID = ("User: where were we?", "Assistant: at the router.", "User: then on with it.")


def write_notes(scene: Scene) -> None:
    scene.write("MEMORY.md", "# Facts\n\n## Likes\n\n- tea\n\n## Dislikes\n\n- noise\n")
    scene.write(DAY, "# Sunday\n\n- something was here already\n")
    scene.write("memory/other.md", "nobody writes to this one\n")


def place_of(scene: Scene) -> NoteWriter:
    folder = capture_dir(scene.state, "main", scene.workspace)
    return NoteWriter(
        Workspace.open(scene.workspace), folder, Redactor(load_mask_key(scene.state))
    )


def history(scene: Scene) -> list[list[Any]]:
    """Each write of ours, and whether its bytes are where it says."""
    found = []
    place = place_of(scene)
    for one in writes(place.folder, place.notes):
        write, path = one.write, scene.workspace / one.write.path
        data = path.read_bytes() if path.exists() else b""
        piece = data[write.start_byte : write.end_byte]
        is_there = hashlib.sha256(piece).hexdigest() == write.digest
        found.append([write.path, write.kind, one.undone, is_there])
    return found


def wrong_history(scene: Scene) -> list[list[Any]]:
    """A write that was not written down cannot be undone by us, but a wrong one must not be."""
    return [one for one in history(scene) if not one[-1]]


def is_open(path: Path) -> bool:
    return path.is_file() and bool(path.stat().st_mode & 0o077)


def raise_unrecorded(*entries: Appended) -> None:
    """As the command line does, which ends with another code than after a success."""
    for one in entries:
        if one.unrecorded:
            raise one.unrecorded


def readable(scene: Scene) -> dict[str, Any]:
    with scene.memory() as memory:
        return {path: told(partial(_text, memory, path)) for path in memory.inspect.paths()}


def _text(memory: Memory, path: str) -> str:
    return memory.get(path).text


@dataclass(frozen=True, slots=True)
class AppendCase:
    name: str
    section: str | None = None
    id: str | None = None
    has_note: bool = True

    @property
    def writes_to(self) -> tuple[str, ...]:
        return ("MEMORY.md",) if self.section else (DAY,)

    def prepare(self, scene: Scene) -> None:
        if self.has_note:
            write_notes(scene)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        with scene.memory() as memory:
            arm()
            raise_unrecorded(memory.append(ENTRY, section=self.section, id=self.id))

    def look(self, scene: Scene) -> Seen:
        whole = {"get": readable(scene), "wrong": wrong_history(scene)}
        known = {"history": history(scene)}
        return {"whole": whole, "reported": known, "recovered": known}


@dataclass(frozen=True, slots=True)
class FlushCase:
    """The silent turn: a model that writes two entries, again if it is told that one failed."""

    name: str = "flush"
    writes_to: tuple[str, ...] = (DAY,)

    def prepare(self, scene: Scene) -> None:
        write_notes(scene)
        load_mask_key(scene.state)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        place = place_of(scene)
        arm()
        report = flush(
            place,
            "agent:main:main",
            FlushFacts(used_tokens=190_000, context_window=200_000, compactions=3),
            [Message("user", "we ship on Friday")],
            _model,
            settings=FlushSettings(),
            zone=UTC,
            clock=lambda: scene.now,
        )
        raise_unrecorded(*report.entries)

    def look(self, scene: Scene) -> Seen:
        state = read_json(place_of(scene).folder / "flush.json")
        done = {session: mark["done"] for session, mark in state.items()}
        whole = {"done": done, "wrong": wrong_history(scene)}
        known = {"history": history(scene)}
        return {"whole": whole, "reported": known, "recovered": known}


def _model(messages: Any, tools: Any) -> ModelReply:
    answers = [message.text for message in messages if message.role == "tool"]
    done = sum(not answer.startswith("failed") for answer in answers)
    if done == len(TOLD):
        return ModelReply("NO_REPLY")
    return ModelReply("", (ToolCall("memory_append", {"text": TOLD[done]}, str(len(answers))),))


@dataclass(frozen=True, slots=True)
class SessionCase:
    """A hook says that a conversation is over: its messages become a note, each of them once."""

    name: str = "session note"
    writes_to: tuple[str, ...] = ("memory/2026-11-15-",)

    def prepare(self, scene: Scene) -> None:
        write_notes(scene)
        load_mask_key(scene.state)
        lines = []
        for said in SAID:
            role, _, text = said.partition(": ")
            message = {"role": role.lower(), "content": text}
            lines.append(json.dumps({"type": role.lower(), "sessionId": "s", "message": message}))
        (scene.outside / "talk.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        place = place_of(scene)
        ended = SessionEnd(scene.outside / "talk.jsonl", "s", "claude", None, "session-end")
        arm()
        save_new_messages(place, ended, now=scene.now, zone=UTC)

    def look(self, scene: Scene) -> Seen:
        """Its name and head tell the time; what was said must stand there once."""
        found = sorted((scene.workspace / "memory").glob("2026-11-15-*"))
        texts = [path.read_text(encoding="utf-8") for path in found]
        said = [line for text in texts for line in text.splitlines() if line in SAID]
        kinds = [one[1:] for one in history(scene)]
        return {"whole": {"said": said, "history": kinds}, "parts": {"said": said}}


@dataclass(frozen=True, slots=True)
class KeepCase:
    """A hook keeps what was said: each message once, in the order in which it was said."""

    name: str
    is_begun: bool = False
    """Whether a part of the conversation is kept already."""
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        SessionCase().prepare(scene)
        if self.is_begun:
            whole = (scene.outside / "talk.jsonl").read_bytes()
            (scene.outside / "talk.jsonl").write_bytes(whole[: whole.index(b"\n") + 1])
            self.act(scene, lambda: None)
            (scene.outside / "talk.jsonl").write_bytes(whole)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        ended = SessionEnd(scene.outside / "talk.jsonl", "s", "claude", None, "stop")
        redact = Redactor(load_mask_key(scene.state))
        arm()
        keep_messages(
            kept_dir(scene.state, "main", scene.workspace),
            ended,
            redact,
            settings=KeepSettings(),
            now=scene.now,
        )

    def look(self, scene: Scene) -> Seen:
        folder = TranscriptFolder(kept_dir(scene.state, "main", scene.workspace), KEPT)
        transcripts = Transcripts([folder], Redactor())
        texts = [transcripts.read(path).text for path in transcripts.scan().notes]
        said = [line for text in texts for line in text.splitlines()]
        # A write that was cut shows the first messages.
        is_beginning = said == list(SAID[: len(said)])
        return {"whole": {"said": said}, "parts": {"is its beginning": is_beginning}}


@dataclass(frozen=True, slots=True)
class HookCase:
    """The command that a host runs at the end of a session: it keeps the conversation, writes a
    note, and leaves what the next hook has to know. Whatever happens, the host is not told."""

    name: str = "hook at the end of a session"
    writes_to: tuple[str, ...] = ("memory/2026-11-15-",)

    def prepare(self, scene: Scene) -> None:
        SessionCase().prepare(scene)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        place = ["--workspace", str(scene.workspace), "--state-dir", str(scene.state)]
        words = ["hook", "session-end", "--host", "claude", "--keep", *place]
        arguments = build_parser("hook").parse_args(words)
        talk = str(scene.outside / "talk.jsonl")
        data = json.dumps({"session_id": "s", "transcript_path": talk}).encode()
        arm()
        with redirect_stderr(io.StringIO()):
            handle(arguments, data, NOW, UTC)

    def look(self, scene: Scene) -> Seen:
        kept, note = KeepCase("").look(scene), SessionCase().look(scene)
        whole = {"kept": kept["whole"], "note": note["whole"]["said"]}
        return {"whole": whole, "parts": kept["parts"]}


@dataclass(frozen=True, slots=True)
class ImportCase:
    """Transcripts of hosts are kept: each message once, whatever hooks have kept of them."""

    name: str
    has_end: bool = False
    """Whether a hook has kept the end of the conversation, but not its beginning."""
    writes_to: tuple[str, ...] = ()

    def prepare(self, scene: Scene) -> None:
        KeepCase("").prepare(scene)
        if self.has_end:
            KeepCase("").act(scene, lambda: None)
            (kept,) = kept_dir(scene.state, "main", scene.workspace).glob("*.jsonl")
            head, *lines = kept.read_bytes().splitlines(keepends=True)
            kept.with_suffix(".part.jsonl").write_bytes(head + lines[-1])
            kept.unlink()

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        found = transcripts_at(scene.outside / "talk.jsonl").transcripts
        folder = kept_dir(scene.state, "main", scene.workspace)
        redact = Redactor(load_mask_key(scene.state))
        arm()
        counts = import_transcripts(
            folder,
            [described(one) for one in found],
            redact,
            settings=KeepSettings(),
            now=scene.now,
        )
        if counts.trouble:
            raise counts.trouble

    def look(self, scene: Scene) -> Seen:
        seen = KeepCase("").look(scene)
        said = seen["whole"]["said"]
        is_begun = said == list(SAID[: len(said)]) or (self.has_end and said == [SAID[-1]])
        return {"whole": {"said": said}, "parts": {"each once and in order": is_begun}}


@dataclass(frozen=True, slots=True)
class UndoCase:
    """An entry is taken back, or a whole note that was ours."""

    name: str
    whole_note: bool = False

    @property
    def writes_to(self) -> tuple[str, ...]:
        return ("memory/2026-11-15-",) if self.whole_note else (DAY,)

    def prepare(self, scene: Scene) -> None:
        if self.whole_note:
            SessionCase().prepare(scene)
            SessionCase().act(scene, lambda: None)
            return
        write_notes(scene)
        with scene.memory() as memory:
            memory.append("the first entry")
            memory.append("the second entry")
        (scene.workspace / DAY).chmod(0o600)

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        place = place_of(scene)
        id_ = writes(place.folder, place.notes)[0].id
        arm()
        try:
            done = undo_write(place.notes, place.folder, id_, now=scene.now)
            if done.unrecorded:
                raise done.unrecorded
        except BadRequest as refused:
            if "undone already" not in str(refused):
                raise
        except CannotUndo as refused:
            # Killed before it was written down: who asks again is told that it is gone.
            if refused.why not in GONE:
                raise

    def look(self, scene: Scene) -> Seen:
        undone = [one[2] for one in history(scene)]
        others = [path for path in sorted(scene.workspace.rglob(".*")) if is_open(path)]
        return {
            "whole": {"get": readable(scene)},
            "parts": {"copies that others may read": [path.name for path in others]},
            "reported": {"undone": undone},
        }


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """The user accepts two proposals at once."""

    name: str = "review accepts two"
    writes_to: tuple[str, ...] = ("MEMORY.md",)

    def prepare(self, scene: Scene) -> None:
        write_notes(scene)
        scene.write(DAY, "- remember that we ship on Friday\n- remember that Bo eats fish\n")
        proposals = propose(Workspace.open(scene.workspace), place_of(scene).folder)
        ids = json.dumps([one.id for one in proposals])
        (scene.outside / "ids.json").write_text(ids, encoding="utf-8")

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        ids = json.loads((scene.outside / "ids.json").read_text(encoding="utf-8"))
        place = ["--workspace", str(scene.workspace), "--state-dir", str(scene.state)]
        arguments = build_parser("review").parse_args(["review", "--accept", *ids, *place])
        arm()
        told, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(told), redirect_stderr(errors):
            code = review(arguments)
        if code:
            raise Degraded(errors.getvalue())

    def look(self, scene: Scene) -> Seen:
        text = (scene.workspace / "MEMORY.md").read_text(encoding="utf-8")
        once = {part: text.count(part) for part in ("We ship on Friday", "Bo eats fish")}
        whole = {"once": once, "wrong": wrong_history(scene)}
        known = {"history": history(scene)}
        return {"whole": whole, "reported": known, "recovered": known}


@dataclass(frozen=True, slots=True)
class InitCase:
    """A folder becomes a workspace: with a settings file, or with a first note."""

    name: str
    has_notes: bool
    writes_to: tuple[str, ...] = ("notewell.json", "MEMORY.md")

    def prepare(self, scene: Scene) -> None:
        (scene.workspace / "memory").rmdir()
        if self.has_notes:
            scene.write("docs/plan.md", "We ship on Friday.\n")

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        place = ["--workspace", str(scene.workspace), "--state-dir", str(scene.state)]
        arguments = build_parser("init").parse_args(["init", *place])
        arm()
        with redirect_stdout(io.StringIO()):
            init(arguments)

    def look(self, scene: Scene) -> Seen:
        with open_memory(scene.workspace, state_dir=scene.state, environment={}) as memory:
            return {"whole": {"notes": sorted(memory.inspect.paths())}}


class Degraded(NotewellError):
    """A command that did its work has said what is missing, and ended with another code."""


@dataclass(frozen=True, slots=True)
class EditCase:
    """An agent's own folder: made, replaced, moved, or put into the trash."""

    name: str
    deed: Callable[[EditableFolder], object]
    is_done: Callable[[EditableFolder], bool]
    """What a caller sees who looks whether the deed was done before it died."""
    writes_to: tuple[str, ...] = ("memory/claude/",)

    def prepare(self, scene: Scene) -> None:
        write_notes(scene)
        folder = self._folder(scene)
        folder.create("plan.md", b"the old plan\n")
        folder.create("deep/other.md", b"another note\n")

    def act(self, scene: Scene, arm: Callable[[], None]) -> None:
        folder = self._folder(scene)
        arm()
        if not self.is_done(folder):
            self.deed(folder)

    def _folder(self, scene: Scene) -> EditableFolder:
        return EditableFolder(scene.workspace, "memory/claude", now=lambda: scene.now)

    def look(self, scene: Scene) -> Seen:
        return {"whole": {"get": readable(scene)}}


NEW = b"the new plan\n" * 40


def _reads(folder: EditableFolder, path: str, data: bytes) -> bool:
    try:
        return folder.read(path).data == data
    except EditRefused:
        return False


def _replace(folder: EditableFolder) -> None:
    folder.replace("plan.md", NEW, expected=folder.read("plan.md").digest)


NOTE_CASES = (
    AppendCase("append to a day"),
    AppendCase("append to a new day", has_note=False),
    AppendCase("append to a section", section="Likes"),
    AppendCase("append with an id", id="7f3a"),
    FlushCase(),
    SessionCase(),
    KeepCase("keep a conversation"),
    KeepCase("keep what is new in a conversation", is_begun=True),
    HookCase(),
    ImportCase("import a conversation"),
    ImportCase("import the beginning of a conversation", has_end=True),
    ReviewCase(),
    InitCase("init a folder of notes", has_notes=True),
    InitCase("init an empty folder", has_notes=False),
    UndoCase("undo an entry"),
    UndoCase("undo a note", whole_note=True),
    EditCase(
        "create",
        lambda own: own.create("new/note.md", NEW),
        lambda own: _reads(own, "new/note.md", NEW),
    ),
    EditCase("replace", _replace, lambda own: _reads(own, "plan.md", NEW)),
    EditCase(
        "move",
        lambda own: own.move("plan.md", "done/plan.md"),
        lambda own: own.kind("plan.md") is None,
    ),
    EditCase(
        "move a folder",
        lambda own: own.move("deep", "deeper"),
        lambda own: own.kind("deep") is None,
    ),
    EditCase("trash", lambda own: own.trash("plan.md"), lambda own: own.kind("plan.md") is None),
)
