"""A real QMD where there is one, and a scripted one for what a real one seldom does."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from notewell.qmd import Qmd, QmdHome, QmdModels, QmdSettings, collections_of

VARIABLE = "NOTEWELL_TEST_QMD"
NO_MODELS = QmdModels("/nonexistent/e.gguf", "/nonexistent/r.gguf", "/nonexistent/g.gguf")
"""Paths, so that nothing is ever downloaded: QMD says at once that they are not there."""

MakeQmd = Callable[..., Qmd]


@pytest.fixture(scope="session")
def real_qmd() -> Path:
    """The program. Named and broken is a failure; not named at all is a reason to skip."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no qmd; `./check` installs one and sets it")
    program = Path(named).absolute()
    told = subprocess.run(
        [str(program), "--version"],
        env=with_node(program),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 0, f"{VARIABLE}={named} does not run: {told.stderr.decode()}"
    return program


def with_node(program: Path) -> dict[str, str]:
    """QMD is started by the node that was installed beside it."""
    return {**os.environ, "PATH": f"{program.parent}:{os.environ.get('PATH', '')}"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = (tmp_path / "workspace").resolve()
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> QmdHome:
    return QmdHome(tmp_path.resolve() / "state" / "agents" / "main" / "qmd")


@pytest.fixture
def make_real(real_qmd: Path, workspace: Path, home: QmdHome) -> Iterator[MakeQmd]:
    """A driver of the real program, with settings by name."""
    with ExitStack() as stack:
        yield lambda **told: _made(
            stack, str(real_qmd), with_node(real_qmd), workspace, home, {"timeout_s": 30.0} | told
        )


@pytest.fixture
def make_fake(
    fake_qmd: Callable[[str], Path], workspace: Path, home: QmdHome
) -> Iterator[MakeQmd]:
    """A driver of a program that does what the given lines of Python say."""
    home.prepare((), NO_MODELS, None)
    home.index.touch()  # A search asks for no more before it asks the program.
    with ExitStack() as stack:
        yield lambda script, **told: _made(
            stack,
            str(fake_qmd(script)),
            dict(os.environ),
            workspace,
            home,
            {"timeout_s": 30.0} | told,
        )


@pytest.fixture
def fake_qmd(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a program: `args` are its arguments, `os`, `sys`, `time` and `json` are there."""

    def write(script: str) -> Path:
        program = tmp_path / "fake-qmd"
        head = f"#!{sys.executable} -IS\nimport json, os, sys, time\nargs = sys.argv[1:]\n"
        program.write_text(head + textwrap.dedent(script), encoding="utf-8")
        program.chmod(0o755)
        return program

    return write


def _made(
    stack: ExitStack,
    command: str,
    inherited: dict[str, str],
    workspace: Path,
    home: QmdHome,
    told: dict[str, Any],
) -> Qmd:
    fixed: dict[str, Any] = {"command": command, "models": NO_MODELS, "daemon": False}
    settings = QmdSettings(**fixed | told)
    collections = collections_of(workspace, "main", settings, home.sessions)
    driver = Qmd(settings, home, collections, inherited=inherited, server_from=1)
    stack.callback(driver.close)
    return driver
