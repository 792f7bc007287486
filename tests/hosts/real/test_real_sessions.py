"""Several sessions of a real host, each of several turns with a compaction between them: every
message is kept once, in order, and questions about them are answered."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from tests.hosts.real.dialects import Conversation, Move
from tests.hosts.real.model import Script, scripted_model
from tests.hosts.real.programs import PROGRAMS
from tests.hosts.real.test_real_hosts import folder
from tests.hosts.real.trial import NOTEWELL, environ_of, is_installed, run_command, write_notes

__all__ = ["folder"]
pytestmark = pytest.mark.timeout(1500)

DOORS = (("oak", "green", "barn"), ("iron", "blue", "cellar"))
COLOURS = (("amber", "teal", "ochre"), ("violet", "coral", "indigo"))
PROMPT = "(prompt)"
COMPACTIONS = {"claude": "compact_boundary", "codex": '"type":"compacted"'}
"""What each host leaves in its transcript."""


def said(session: int, turn: int) -> str:
    return f"Remember: the {DOORS[session][turn]} door is painted {COLOURS[session][turn]}."


class Talk(Script):
    """Repeats what it was told last; asked for a summary, it gives one without the facts."""

    def move(self, conversation: Conversation) -> Move:
        told = [one for one in conversation.prompts if "Remember: " in one]
        if not conversation.tools or not told:
            return Move("They talked about doors.")
        return Move(f"Noted. {told[-1].rpartition('Remember: ')[2]}")


def turns(host: str, command: list[str], session: int) -> list[list[str]]:
    """The commands of a session: three turns, the later ones after a compaction."""
    prompts = [said(session, turn) for turn in range(3)]
    if host == "claude":
        id_ = str(uuid.uuid4())
        first, *later = ([one if word == PROMPT else word for word in command] for one in prompts)
        resumed = [[*words, "--resume", id_] for words in later]
        compaction = ["claude", "-p", "/compact", "--resume", id_]
        return [[*first, "--session-id", id_], resumed[0], compaction, resumed[1]]
    # `codex exec OPTIONS PROMPT`; the limit of tokens in its settings makes it compact.
    resume = [*command[:2], "resume", "--last", *command[2:-1]]
    return [[*command[:-1], prompts[0]], *([*resume, prompt] for prompt in prompts[1:])]


def kept_messages(state: Path) -> list[list[tuple[str, str]]]:
    """Of each conversation, in the order of their beginnings."""
    found = []
    for file in state.rglob("agents/main/sessions/*/*.jsonl"):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        messages = [line["message"] for line in lines if line["type"] == "message"]
        pairs = [(message["role"], message["content"]) for message in messages]
        found.append((lines[0]["timestamp"], pairs))
    return [pairs for _, pairs in sorted(found)]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_sessions_with_compactions_are_kept_whole_and_found(
    host: str, folder: Path, tmp_path: Path
) -> None:
    if not is_installed(host, folder):
        pytest.skip(f"npm could not install {host} in time")
    notes, project = write_notes(tmp_path / "notes"), tmp_path / "project"
    project.mkdir()
    environ = environ_of(host, folder, tmp_path)
    with scripted_model(None, Talk(None)) as model:
        started = PROGRAMS[host].start(tmp_path, model.url, PROMPT)
        environ |= started.environ
        if host == "codex":
            file = tmp_path / ".codex" / "config.toml"
            # The model reports 20 tokens for each answer.
            limit = "model_auto_compact_token_limit = 15\n"
            file.write_text(limit + file.read_text("utf-8"), encoding="utf-8")
        install = [str(NOTEWELL), "install", host, "-w", str(notes)]
        # On a slow machine, a server that a host starts may have made some of the vectors.
        index = [str(NOTEWELL), "index", "-w", str(notes)]
        for command in [
            install,
            *turns(host, started.command, 0),
            *turns(host, started.command, 1),
            index,
        ]:
            done = run_command(command, environ, project)
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    transcripts = [file.read_text("utf-8") for file in tmp_path.glob(".c[lo]*/**/*.jsonl")]
    assert sum(COMPACTIONS[host] in text for text in transcripts) == 2
    assert kept_messages(tmp_path / ".local" / "state") == [
        [
            pair
            for turn in range(3)
            for pair in (
                ("user", said(session, turn)),
                ("assistant", f"Noted. {said(session, turn).removeprefix('Remember: ')}"),
            )
        ]
        for session in range(2)
    ]
    for session in range(2):
        for turn in range(3):
            question = f"Which colour does the {DOORS[session][turn]} door have?"
            search = [str(NOTEWELL), "search", question, "--json", "-w", str(notes)]
            answer = json.loads(run_command(search, environ, project).stdout)
            first = answer["results"][0]
            assert first["path"].startswith("sessions/kept/"), first
            assert COLOURS[session][turn] in first["snippet"]
