"""`notewell redact`, as it is typed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from notewell.cli import main

TEXT = "one\nthe password is Sommer2024!\nPGPASSWORD=kaffee42 psql\n"


def test_a_file_comes_out_without_its_secrets(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    note = tmp_path / "note.md"
    note.write_bytes(TEXT.encode() + b"caf\xe9\n")
    assert main(["redact", str(note)]) == 0
    assert capfdbinary.readouterr().out == (
        b"one\nthe password is [redacted:password]\nPGPASSWORD=[redacted:password] psql\ncaf\xe9\n"
    )
    assert note.read_bytes().startswith(TEXT.encode())


def test_standard_input_is_filtered(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"token: string\n")))
    assert main(["redact"]) == 0
    assert capfdbinary.readouterr().out == b"token: string\n"


def test_findings_name_file_line_and_kind_and_no_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = tmp_path / "note.md"
    note.write_text(TEXT, encoding="utf-8")
    assert main(["redact", "--json", str(note)]) == 5
    out = capsys.readouterr().out
    findings = json.loads(out)["findings"]
    assert [(found["line"], found["kind"]) for found in findings] == [
        (2, "password"),
        (3, "password"),
    ]
    assert "Sommer" not in out
    assert "kaffee" not in out
    note.write_text("nothing\n", encoding="utf-8")
    assert main(["redact", "--json", str(note)]) == 0


def test_a_file_that_is_not_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["redact", str(tmp_path / "none.md")]) == 1
    assert "none.md" in capsys.readouterr().err
