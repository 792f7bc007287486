"""A real host whose folder of notes is missing at its start: it runs, the model is told why, and
the next conversation has all tools when the folder is back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.hosts.real.dialects import Conversation, Move
from tests.hosts.real.model import QUESTION, STEPS, Script, is_named, scripted_model
from tests.hosts.real.programs import PROGRAMS
from tests.hosts.real.test_real_hosts import folder
from tests.hosts.real.trial import (
    FACT,
    INSTRUCTION,
    NOTEWELL,
    environ_of,
    is_installed,
    run_command,
    write_notes,
)

__all__ = ["folder"]
pytestmark = pytest.mark.timeout(1500)

STATUS = "memory_status"


class Recovery(Script):
    """Asks for the status, lets somebody bring the folder back, and asks again. A conversation
    that has the tool for it searches."""

    def __init__(self, mend: Callable[[], object]) -> None:
        super().__init__(None)
        self._mend = mend

    def move(self, conversation: Conversation) -> Move:
        if not any(QUESTION in prompt for prompt in conversation.prompts):
            return Move("Nothing to do.")
        count = len(answers(conversation, STATUS))
        if count == 1:
            self._mend()
        names = {STATUS: count < 2, STEPS[0]: not answers(conversation, STEPS[0])}
        for tool in conversation.tools:
            for name, is_wanted in names.items():
                if is_wanted and is_named(tool.name, name):
                    arguments = {"query": QUESTION} if name == STEPS[0] else {}
                    return Move(tool=tool, arguments=arguments)
        return Move("That is all.")


def answers(conversation: Conversation, name: str) -> list[str]:
    return [one.result for one in conversation.exchanges if is_named(one.name, name)]


def offered(conversation: Conversation) -> set[str]:
    names = [tool.name for tool in conversation.tools]
    return {step for step in (STATUS, *STEPS) if any(is_named(name, step) for name in names)}


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_host_starts_without_the_folder_and_recovers(
    host: str, folder: Path, tmp_path: Path
) -> None:
    if not is_installed(host, folder):
        pytest.skip(f"{host} is not installed there")
    notes, away = write_notes(tmp_path / "notes"), tmp_path / "away"
    environ = environ_of(host, folder, tmp_path)
    project = tmp_path / "project"
    project.mkdir()

    def mend() -> None:
        if away.exists():
            away.rename(notes)

    with scripted_model(script=Recovery(mend)) as model:
        started = PROGRAMS[host].start(tmp_path, model.url, QUESTION)
        environ |= started.environ
        install = [str(NOTEWELL), "install", host, "-w", str(notes)]
        assert run_command(install, environ, project).returncode == 0
        notes.rename(away)
        ended = run_command(started.command, environ, project)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        first, last = model.session[0], model.session[-1]
        # It starts, and it says why there is no memory, before and after it is asked.
        assert offered(first.conversation) == {STATUS}
        assert "cannot be opened" in first.text
        why, *later = answers(last.conversation, STATUS)
        assert "cannot be opened" in why
        assert "The memory is open now" in later[0]
        assert INSTRUCTION in later[0]
        # Claude Code 2.1.325 reads the changed list and Codex 0.166.0 does not; neither gives new
        # tools to a conversation that has begun. The next one has them.
        model.asked.clear()
        again = run_command(started.command, environ, project)
        assert again.returncode == 0, again.stdout + again.stderr
        assert offered(model.session[0].conversation) == {STATUS, *STEPS}
        assert FACT in answers(model.session[-1].conversation, STEPS[0])[0]
