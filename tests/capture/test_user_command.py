"""A program of the user is asked without a shell, within its time, and ended with its children."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from notewell.capture import CommandFailed, ask_program, slug_namer

if TYPE_CHECKING:
    from pathlib import Path


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_a_program_gets_the_text_and_its_output_comes_back() -> None:
    echo = python("import sys; print(sys.stdin.read().upper(), end='')")
    assert ask_program(echo, "grüße \ud800", timeout_s=30) == "GRÜSSE ?"


def test_no_shell_sees_the_words() -> None:
    words = [*python("import sys; print(sys.argv[1:])"), "$HOME", "; touch x", "a b"]
    assert ask_program(words, "", timeout_s=30) == "['$HOME', '; touch x', 'a b']\n"


def test_without_a_program_there_is_nobody_to_ask() -> None:
    assert slug_namer(()) is None


@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in folders")
def test_a_program_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    hang = python(
        f"import os, time; pipe = os.open({str(pipe)!r}, os.O_WRONLY); os.fork(); "
        "os.write(pipe, b'x'); time.sleep(600)"
    )
    with pytest.raises(CommandFailed, match="took too long"):
        ask_program(hang, "", timeout_s=2)
    os.set_blocking(reader, True)
    # The end of the pipe: no process has it open for writing any more. It would block for minutes.
    while os.read(reader, 10):
        pass
    os.close(reader)
