"""`scripts/hosts.sh` says in plain words which host it could not install."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def install(folder: Path, npm: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a folder of the test, with a program in place of npm."""
    (folder / "scripts").mkdir()
    for name in ("hosts.sh", "setup.sh"):
        shutil.copy(SCRIPTS / name, folder / "scripts")
    program = folder / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{npm}\n", encoding="utf-8")
    program.chmod(0o755)
    return subprocess.run(
        [folder / "scripts" / "hosts.sh", "--install-only", *words],
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize("npm", ["sleep 90", "trap '' TERM; while :; do sleep 1; done"])
def test_an_npm_that_hangs_is_ended_and_named(tmp_path: Path, npm: str) -> None:
    ended = install(tmp_path, npm, "--limit", "5", "claude", "codex")
    assert ended.returncode == 1
    assert "node: npm did not finish node@" in ended.stderr
    assert "and was ended" in ended.stderr
    assert "not installed: claude codex" in " ".join(ended.stderr.split())


def test_what_the_time_does_not_suffice_for_is_named(tmp_path: Path) -> None:
    npm = 'case "$*" in *claude*) sleep 90 ;; esac'
    ended = install(tmp_path, npm, "--limit", "8", "claude", "codex")
    assert ended.returncode == 1
    assert "claude: npm did not finish @anthropic-ai/claude-code@" in ended.stderr
    assert "was not tried: the time for all installations, 8 s, is over" in ended.stderr


def test_a_failure_of_npm_is_told_in_its_own_words(tmp_path: Path) -> None:
    npm = 'case "$*" in *claude*) echo no such package; exit 3 ;; esac'
    ended = install(tmp_path, npm, "claude", "codex")
    assert ended.returncode == 1
    assert "claude: npm could not install @anthropic-ai/claude-code@" in ended.stderr
    assert "(code 3):\nno such package\n" in ended.stderr
    assert "codex: installed @openai/codex@" in ended.stderr
    assert "not installed: claude" in ended.stderr
