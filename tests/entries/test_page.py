"""The examples on the page about entries run, and print what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from notewell.cli.parser import build_parser

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "lancedb.md"


def blocks(*kinds: str) -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [text for kind, text in found if kind in kinds]


def test_the_examples_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code, shown in zip(blocks("python"), blocks("text"), strict=True):
        exec(code, names)
        assert capsys.readouterr().out == shown


def test_every_command_on_the_page_is_one_we_have() -> None:
    commands = [line for line in "".join(blocks("sh")).split("\n") if line.startswith("notewell")]
    assert len(commands) == 7
    for command in commands:
        words = shlex.split(command)[1:]
        build_parser(words[0]).parse_args(words)
