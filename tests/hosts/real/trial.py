"""One trial of a host: a fresh home folder, `notewell install`, one run, and what came of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.hosts.real.dialects import Conversation
from tests.hosts.real.model import MARKER, QUESTION, STEPS, ScriptedModel, is_named, scripted_model
from tests.hosts.real.programs import PROGRAMS, Program

from notewell.hosts import HOSTS

SECRET = "AKIAZ7QX4NPLM2WVB3TD"  # The form of an AWS key, and no key.
PROMPT = f"{QUESTION} The key is {SECRET}."
FACT = "Rancilio Silvia Pro X"
NOTES = {
    "MEMORY.md": "# Memory\n\n## Decisions\n\n"
    f"- On 2026-10-02 we choose the {FACT} as espresso machine of the office.\n",
    "memory/network.md": "# Network\n\nThe VPN endpoint is vpn.example.net, the port is 51820.\n",
}
_PASSAGE = re.compile(r"recalled path=\W{1,3}MEMORY\.md#L")
"""A whole note, as at the start of a session, has no lines in its path."""
INSTRUCTION = "You remember only what you look up."
RUN_LIMIT_S = 400
"""For one command of a host. They take seconds; a busy machine may need ten times as long."""
NOTEWELL = Path(sys.executable).with_name("notewell")
LATE_LIMIT_S = 10
"""For what a host leaves running when it ends, such as a hook at the end of the session."""
NEXT_PROMPT = "Thank you."


class Observed(NamedTuple):
    """What one run of a host did."""

    host: str
    version: str
    listed: bool
    """The first request names the tools: in its list, or in a catalogue of tools."""
    instructed: bool
    """The first request has the server's instructions: when to search, and when to write."""
    called: int
    """How many of search, get and append the model called, and the host answered."""
    cited: bool
    """The last answer has the source that the search returned."""
    appended: bool
    """The entry of the model is in a note."""
    recalled: bool
    """The first request has the fact from MEMORY.md: nobody had to ask for it."""
    prompted: bool
    """The first request has the lines of MEMORY.md that are near the prompt."""
    captured: bool
    """A note has the user's question, when the next session has begun at the latest."""
    kept: bool
    """The user's question is among the kept messages, and it is there once."""
    masked: bool
    """Neither the notes nor the state folder have the key that the user mentioned."""
    once: bool
    """The search gave the passage to the model between its marks, and no second copy of it."""
    spec_bytes: int
    result_bytes: int
    """Of the search, as the model gets it."""
    seconds: float
    exit_code: int
    output: str
    has_hooks: bool
    has_prompt_hook: bool
    keeps: bool
    """Installed by a command that says that conversations are kept; a plugin says nothing."""
    left: tuple[str, ...] = ()
    """The command lines of processes that still run after the trial."""

    @property
    def failures(self) -> list[str]:
        """What is missing. A host without hooks neither recalls nor captures by itself."""
        needs = {
            "listed": self.listed,
            "called": self.called == len(STEPS),
            "cited": self.cited,
            "once": self.once,
            "appended": self.appended,
            "masked": self.masked,
            f"exit code {self.exit_code}": self.exit_code == 0,
            f"left running: {', '.join(self.left)}": not self.left,
        }
        if self.has_hooks:
            needs |= {"recalled": self.recalled, "captured": self.captured}
        if self.has_prompt_hook:
            needs["prompted"] = self.prompted
        if self.keeps:
            needs["kept"] = self.kept
        return [name for name, is_met in needs.items() if not is_met]


def is_installed(host: str, folder: Path) -> bool:
    """Whether `scripts/hosts.sh` installed the host; it leaves this file when it is done."""
    return (folder / host / "made-of").is_file()


def try_host(
    host: str, folder: Path, home: Path, commands: Callable[[Path], list[list[str]]] | None = None
) -> Observed:
    """Run the host that is in `folder` once, in the new folder `home`.

    `commands` install Notewell, from the folder of notes; by default `notewell install` does.
    """
    program = PROGRAMS[host]
    # In some hosts, only a plugin can call hooks.
    has_hooks = bool(HOSTS[host].hooks or (commands and HOSTS[host].hook_calls))
    notes = write_notes(home / "notes")
    environ = environ_of(host, folder, home)
    with scripted_model(program.proxy) as model:
        started = program.start(home, model.url, PROMPT)
        environ |= started.environ
        project = home / "project"
        project.mkdir()
        for command in commands(notes) if commands else _commands(host, home):
            done = run_command(command, environ, project)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        for command in started.before:
            run_command(command, environ, project)
        version = run_command([started.command[0], "--version"], environ, project).stdout.strip()
        try:
            began = time.monotonic()
            run = run_command(started.command, environ, project)
            seconds = time.monotonic() - began
            if has_hooks:
                _next_session(started.command, environ, home)
        finally:
            for command in started.after:
                run_command(command, environ, project)
        observed = _observed(host, version, model, home, run, seconds, has_hooks=has_hooks)
        left = _left_running(home)
        return observed._replace(keeps=has_hooks and commands is None, left=left)


def write_notes(folder: Path) -> Path:
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def environ_of(host: str, folder: Path, home: Path) -> dict[str, str]:
    """Nothing of the caller: neither its keys nor its settings."""
    kept = {name: os.environ[name] for name in ("LANG", "TERM") if name in os.environ}
    programs = [folder / name / "node_modules" / ".bin" for name in ("node", host)]
    if PROGRAMS[host].install:
        programs.append(home / ".local" / "bin")
    path = ":".join([*map(str, programs), "/usr/local/bin", "/usr/bin", "/bin"])
    return {**kept, "HOME": str(home), "PATH": path}


def _commands(host: str, home: Path) -> Sequence[list[str]]:
    """What a user types to put Notewell into the host."""
    commands = PROGRAMS[host].install
    if commands is None:
        return [[str(NOTEWELL), "install", host, "-w", str(home / "notes")]]
    # These find the program where pipx puts it.
    program = home / ".local" / "bin" / "notewell"
    program.parent.mkdir(parents=True)
    program.symlink_to(NOTEWELL)
    return commands


def run_command(
    command: list[str], environ: dict[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0], path=environ["PATH"])
    assert program, f"there is no {command[0]!r} in {environ['PATH']}"
    return subprocess.run(
        [program, *command[1:]],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=RUN_LIMIT_S,
        check=False,
    )


def _next_session(command: list[str], environ: dict[str, str], home: Path) -> None:
    """Begin another session unless the first one is saved already.

    Some hosts report no end of a session, or end without waiting for the hook that they called.
    The start of the next session then saves it.
    """
    limit = time.monotonic() + LATE_LIMIT_S
    while not _is_captured(home / "notes"):
        if time.monotonic() > limit:
            words = [NEXT_PROMPT if word == PROMPT else word for word in command]
            run_command(words, environ, home / "project")
            return
        time.sleep(0.2)


def _left_running(home: Path) -> tuple[str, ...]:
    """What runs with this home folder. A hook at the end of a session may need a moment."""
    limit = time.monotonic() + LATE_LIMIT_S
    while (left := _processes_of(home)) and time.monotonic() < limit:
        time.sleep(0.2)
    return left


def _processes_of(home: Path) -> tuple[str, ...]:
    """Their command lines; none on a system without /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}".encode() in (process / "environ").read_bytes().split(b"\0"):
                words = (process / "cmdline").read_bytes().split(b"\0")
                found.append(b" ".join(words).decode(errors="replace").strip())
        except OSError:
            continue  # It has ended, or belongs to somebody else.
    return tuple(filter(None, found))


def _is_captured(notes: Path) -> bool:
    return any(QUESTION in text for text in _texts(notes))


def _texts(notes: Path) -> list[str]:
    return [file.read_text(encoding="utf-8") for file in notes.rglob("*.md")]


def _observed(
    host: str,
    version: str,
    model: ScriptedModel,
    home: Path,
    run: subprocess.CompletedProcess[str],
    seconds: float,
    *,
    has_hooks: bool,
) -> Observed:
    session, notes = model.session, home / "notes"
    conversation = session[-1].conversation if session else None
    exchanges = [conversation and model.script.exchange(conversation, step) for step in STEPS]
    first = session[0] if session else None
    search, hooks = exchanges[0], HOSTS[host].hooks
    return Observed(
        host=host,
        version=version.splitlines()[0] if version else "",
        listed=first is not None and _is_listed(PROGRAMS[host], first.text, first.conversation),
        instructed=first is not None and INSTRUCTION in first.text,
        called=sum(one is not None for one in exchanges),
        cited=bool(session) and ".md#L" in session[-1].move.text,
        appended=any(MARKER in text for text in _texts(notes)),
        recalled=first is not None and FACT in first.text,
        prompted=first is not None and _PASSAGE.search(first.text) is not None,
        captured=_is_captured(notes),
        kept=_kept_questions(home / ".local" / "state") == 1,
        masked=not _files_with(SECRET, notes, home / ".local" / "state"),
        once=search is not None and _is_once(search.result),
        spec_bytes=_spec_bytes(first.conversation) if first else 0,
        result_bytes=_result_bytes(search.result) if search else 0,
        seconds=seconds,
        exit_code=run.returncode,
        output=run.stdout + run.stderr,
        has_hooks=has_hooks,
        has_prompt_hook="prompt" in (hooks.turn_events.values() if hooks else ()),
        keeps=False,
    )


def _kept_questions(state: Path) -> int:
    files = state.rglob("agents/*/sessions/*/*.jsonl")
    return sum(file.read_text(encoding="utf-8").count(QUESTION) for file in files)


def _is_listed(program: Program, text: str, conversation: Conversation) -> bool:
    names = [tool.name for tool in conversation.tools]
    catalogue = program.catalogue
    return all(
        any(is_named(name, step) for name in names)
        or (catalogue is not None and catalogue.format(step) in text)
        for step in STEPS
    )


def _is_once(result: str) -> bool:
    return result.count(FACT) == result.count("<recalled path=") == 1


def _result_bytes(result: str) -> int:
    """Without the reminders that Claude Code adds to a result, which are not ours."""
    return len(result.partition("\n\n<system-reminder>")[0].encode())


def _spec_bytes(conversation: Conversation) -> int:
    """Of all our tools, without spaces; 0 if they are in a catalogue."""
    ours = [one.spec for one in conversation.tools if "memory_" in one.name]
    return len(json.dumps(ours, ensure_ascii=False, separators=(",", ":")).encode()) if ours else 0


def _files_with(secret: str, *folders: Path) -> list[Path]:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [file for file in files if secret.encode() in file.read_bytes()]
