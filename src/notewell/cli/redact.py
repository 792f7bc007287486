"""`notewell redact`: a filter that masks secrets, so that anybody can see what is masked.

It reads files or standard input, writes to standard output, and needs no memory. Its masks have no
digits: those need the key of a state folder, and a filter creates none.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, write_bytes
from notewell.errors import NoteUnreadable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

FOUND = 5
STDIN = "-"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="*", default=[STDIN], help="text files; `-`, or none, is standard input"
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print file, line and kind of each secret instead of the text; exit code 5 if "
        "there is one",
    )


def run(arguments: argparse.Namespace) -> int:
    from notewell.redaction import Redactor, locate_secrets

    if arguments.json:
        findings = [
            {"file": name, "line": secret.line, "kind": secret.kind}
            for name, text in _texts(arguments.file)
            for secret in locate_secrets(text)
        ]
        _print_findings(findings)
        return FOUND if findings else 0
    redact = Redactor()
    for _, text in _texts(arguments.file):
        write_bytes(redact(text).encode("utf-8", "surrogateescape"))
    return 0


def _print_findings(findings: list[dict[str, Any]]) -> None:
    print_json({"ok": not findings, "findings": findings})


def _texts(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        except OSError as error:
            raise NoteUnreadable(name, (error.strerror or "unknown error").lower()) from error
        # Bytes that are no UTF-8 come out as they went in.
        yield name, data.decode("utf-8", "surrogateescape")
