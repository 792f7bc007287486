"""The OpenCode plugin: its code in Node, over the real program and the host's database."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.sessions.made_up import OpenCode, text_part

import notewell

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "plugins" / "opencode"
WAIT_S = 120.0
"""For a hook that goes on after its host; on a busy machine a process starts slowly."""

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or os.name != "posix", reason="needs Node on a POSIX system"
)


class Machine:
    """A home with notes, the program, and the database of the host."""

    def __init__(self, home: Path, host: OpenCode) -> None:
        self.home, self.host = home, host
        self.notes = home / "notes"
        (self.notes / "memory").mkdir(parents=True)
        (self.notes / "MEMORY.md").write_text("The walrus is called Otto.\n", encoding="utf-8")
        self.program = home / ".local" / "bin" / "notewell"
        self.program.parent.mkdir(parents=True)
        script = f'#!/bin/sh\necho "$@" >> {home}/called\nexec {sys.executable} -m notewell "$@"\n'
        self.program.write_text(script, encoding="utf-8")
        self.program.chmod(0o755)
        self.configure({})

    def configure(self, search: dict[str, Any]) -> None:
        """Set `memorySearch` in the user's own settings file."""
        config = self.home / "CONFIG" / "notewell" / "config.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        # On a busy machine, a recall may need more than its usual time.
        settings = {
            "hooks": {"recallSeconds": 60},
            "agents": {"defaults": {"memorySearch": search}},
        }
        config.write_text(json.dumps(settings), encoding="utf-8")

    def drive(self, *steps: Any, options: Any = None, **asked: Any) -> dict[str, Any]:
        asked = {
            "plugin": str(PLUGIN / "index.js"),
            "directory": str(self.home),
            "options": {"workspace": "~/notes"} if options is None else options,
            "steps": steps,
            **asked,
        }
        ended = subprocess.run(
            [str(shutil.which("node")), str(HERE / "opencode_driver.mjs"), json.dumps(asked)],
            capture_output=True,
            encoding="utf-8",
            timeout=240,
            env=self.environ,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        printed: dict[str, Any] = json.loads(ended.stdout)
        return printed

    @property
    def environ(self) -> dict[str, str]:
        folders = {f"XDG_{name}_HOME": str(self.home / name) for name in ("STATE", "CONFIG")}
        return {
            **os.environ,
            **folders,
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "NOTEWELL_STATE_DIR": str(self.home / "state"),
            "PATH": "/usr/bin:/bin",
        }

    def run(self, *words: str) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "notewell", *words, "-w", str(self.notes)]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", env=self.environ, check=True
        )
        return done.stdout

    def saved(self, number: int = 1) -> list[str]:
        """The session notes, once there are so many."""
        until = time.monotonic() + WAIT_S
        while len(notes := sorted((self.notes / "memory").glob("2*-*-*-*.md"))) < number:
            assert time.monotonic() < until, "no session note"
            time.sleep(0.05)
        return [note.read_text(encoding="utf-8") for note in notes]

    def kept(self, number: int = 0) -> list[str]:
        """What is kept of conversations, once there are so many messages."""
        until = time.monotonic() + WAIT_S
        while len(texts := self._kept()) < number:
            assert time.monotonic() < until, f"kept: {texts}"
            time.sleep(0.05)
        return texts

    def _kept(self) -> list[str]:
        files = (self.home / "state" / "agents" / "main" / "sessions").glob("*/*.jsonl")
        # What follows the last line break is being written.
        lines = [
            json.loads(line) for file in files for line in file.read_bytes().split(b"\n")[:-1]
        ]
        return [line["message"]["content"] for line in lines if line["type"] == "message"]

    def wait_for(self, file: str) -> None:
        until = time.monotonic() + WAIT_S
        while not list((self.home / "state").rglob(file)):
            assert time.monotonic() < until, f"no {file}"
            time.sleep(0.05)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    folder = tmp_path / "data" / "opencode"
    folder.mkdir(parents=True)
    host = OpenCode(folder)
    with closing(host.connection):
        host.start()
        host.say("user", text_part("Who is Otto? AKIAZ7QX4NPLM2WVB3TD"))
        host.say("assistant", text_part("The walrus."))
        yield Machine(tmp_path, host)


def test_the_version_is_that_of_the_package() -> None:
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == notewell.__version__
    assert set(package["files"]) == {path.name for path in PLUGIN.iterdir()} - {"package.json"}


def test_a_session_begins_with_notes_and_a_prompt_brings_some(machine: Machine) -> None:
    printed = machine.drive(
        ["session.created", {"info": {"id": "ses_1"}}],
        ["request", "ses_1"],
        ["request", "ses_1"],
        ["prompt", "What is the walrus called?"],
        ["prompt", ""],
        # A subagent's session: it gets nothing.
        ["request", "ses_2"],
        parents={"ses_2": "ses_1"},
    )
    # OpenCode calls every exported function as a plugin.
    assert printed["exports"] == ["Notewell"]
    first, second, other = printed["system"]
    assert "Otto" in first[0]
    assert first == second
    assert other == []
    (part,), nothing = printed["parts"]
    assert nothing == []
    assert "Otto" in part["text"]
    assert part["synthetic"] is True
    assert (part["messageID"], part["sessionID"]) == ("msg_1", "ses_1")
    assert part["id"] > "prt_1"
    called = (machine.home / "called").read_text(encoding="utf-8").splitlines()
    events = [call.split()[1] for call in called]
    assert events == ["session-start", "prompt"]
    assert all(f"--workspace {machine.notes}" in call for call in called)
    # What was typed is not in the arguments of a process.
    assert not any("walrus" in call for call in called)


@pytest.mark.parametrize("title", ["cheap/m", "mine/other", None])
def test_notes_do_not_go_to_another_provider_with_the_request_for_a_title(
    machine: Machine, title: str | None
) -> None:
    question = "What is the walrus called?"
    printed = machine.drive(
        ["config", {"small_model": title} if title else {}],
        ["prompt", [question, "mine"]],
        ["request", ["ses_1", "cheap"]],
        ["request", ["ses_1", "mine"]],
        ["prompt", [question, "mine"]],
        ["request", ["ses_1", "mine"]],
    )
    for_title, first, second = printed["system"]
    assert for_title == []
    assert "Otto" in first[0]
    assert first == second  # A system prompt that changes is read again as a whole.
    # The first message is sent for the title, too: what notes say about it is elsewhere then.
    is_elsewhere = title == "cheap/m"
    assert len(first) == 1 + is_elsewhere
    assert [len(parts) for parts in printed["parts"]] == [0 if is_elsewhere else 1, 1]


def test_recall_can_be_declined(machine: Machine) -> None:
    options = {"workspace": "~/notes", "recall": False}
    printed = machine.drive(["prompt", "What is the walrus called?"], options=options)
    assert printed["parts"] == [[]]


def test_the_server_is_added_unless_the_user_has_one(machine: Machine) -> None:
    entry = machine.drive(["config", {}])["config"]["mcp"]["notewell"]
    place = ["--workspace", str(machine.notes)]
    assert entry["command"] == [str(machine.program), "mcp", "serve", *place]
    assert entry["timeout"] == 30_000
    own = {"mcp": {"notewell": {"type": "remote"}, "other": {}}}
    assert machine.drive(["config", own])["config"] == own
    # Without a folder in the options, the settings name it; never the folder of the project.
    unset = machine.drive(["config", {}], options={})["config"]["mcp"]["notewell"]
    assert unset["command"][-1] == "--configured"


def test_a_conversation_is_saved_when_the_host_ends(machine: Machine) -> None:
    machine.drive(["request", "ses_1"], ["session.idle", {"sessionID": "ses_1"}], ["dispose", 0])
    (note,) = machine.saved()
    assert "User: Who is Otto?" in note
    assert "Assistant: The walrus." in note
    assert "AKIAZ7QX4NPLM2WVB3TD" not in note
    assert "host: `opencode`" in note


def test_a_conversation_whose_end_was_lost_is_saved_by_the_next_session(machine: Machine) -> None:
    machine.drive(["session.idle", {"sessionID": "ses_1"}])
    machine.wait_for("pending.json")
    assert not list((machine.notes / "memory").iterdir())
    machine.host.start("ses_2")
    machine.drive(["request", "ses_2"])
    (note,) = machine.saved()
    assert "User: Who is Otto?" in note


@pytest.mark.parametrize(
    ("option", "enabled", "is_kept"),
    [(True, None, True), (None, None, False), (None, True, True), (True, False, False)],
)
def test_each_message_is_kept_once_and_masked_if_option_or_settings_say_so(
    machine: Machine, option: bool | None, enabled: bool | None, is_kept: bool
) -> None:
    if enabled is not None:
        machine.configure({"sessions": {"keep": {"enabled": enabled}}})
    options = {"workspace": "~/notes", **({} if option is None else {"keep": option})}
    turn = ["request", "ses_1"], ["session.idle", {"sessionID": "ses_1"}], ["dispose", 0]
    machine.drive(*turn, options=options)
    machine.saved()
    machine.host.say("user", text_part("And Pia?"))
    machine.host.say("assistant", text_part("The penguin."))
    machine.drive(*turn, options=options)
    machine.saved(2)
    if not is_kept:
        assert machine.kept() == []
        return
    first, *others = machine.kept(4)
    assert others == ["The walrus.", "And Pia?", "The penguin."]
    assert first.startswith("Who is Otto? [redacted:aws-")
    found = machine.run("search", "penguin", "--json")
    assert json.loads(found)["results"][0]["path"] == "sessions/kept/opencode-ses_1.jsonl"


def test_a_program_that_is_missing_is_reported(machine: Machine) -> None:
    machine.program.unlink()
    idle = ["session.idle", {"sessionID": "ses_1"}]
    printed = machine.drive(["config", {}], ["request", "ses_1"], idle, ["dispose", 0])
    assert printed["config"] == {}
    assert "'notewell' is not installed" in printed["system"][0][0]
    assert "'notewell' is not installed" in printed["logged"][0]


# -- a program that does not work ----------------------------------------------------------------

ASK = """
const { Program } = await import(process.argv[1]);
const program = new Program(JSON.parse(process.argv[2]), process.env, 200);
program.start("stop", {});
console.log(JSON.stringify(await program.ask("prompt", { prompt: "hello" })));
"""


def answer_of(machine: Machine, **environ: str) -> object:
    """What the host gets within the time of a hook; it must never get an exception."""
    settings = {"command": str(machine.program), "workspace": "~/notes" + environ.pop("end", "")}
    node, module = str(shutil.which("node")), (PLUGIN / "program.js").as_uri()
    ended = subprocess.run(
        [node, "--input-type=module", "-e", ASK, module, json.dumps(settings)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, **environ, "HOME": str(machine.home)},
        check=True,
    )
    return json.loads(ended.stdout)


def test_a_program_that_hangs_does_not_hold_up_a_prompt(machine: Machine) -> None:
    # The process in the background inherits the pipe and keeps it open.
    machine.program.write_text(
        f"#!/bin/sh\nsleep 90 & echo $! >> {machine.home}/pids\nwait\n", encoding="utf-8"
    )
    pids = machine.home / "pids"
    pids.touch()
    try:
        assert answer_of(machine) == ""
    finally:
        for pid in pids.read_text(encoding="utf-8").split():
            os.kill(int(pid), signal.SIGKILL)


def test_a_host_goes_on_without_temporary_files(machine: Machine) -> None:
    machine.program.write_text('#!/bin/sh\necho \'{"context": "noted"}\'\n', encoding="utf-8")
    assert answer_of(machine, TMPDIR=str(machine.home / "missing")) in ("noted", "")
    assert answer_of(machine, end="\0") == ""
