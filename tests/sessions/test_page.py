"""The example on the page about sessions runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.sessions.made_up import openclaw

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "sessions.md"


def test_the_example_prints_what_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (text, _) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    said = [line.split(": ", 1) for line in text.splitlines()]
    (tmp_path / "sessions").mkdir()
    lines = openclaw([(speaker.lower(), words) for speaker, words in said])
    (tmp_path / "sessions" / "ab12.jsonl").write_bytes(b"".join(lines))
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == (
        f"sessions/ab12.jsonl 2026-10-02 /somewhere\n{text}line 2 came from line 3\n"
    )
