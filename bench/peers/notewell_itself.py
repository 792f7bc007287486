"""Notewell, installed from this checkout, as its defaults are: MCP, and the command line."""

from __future__ import annotations

import html
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.installs import venv
from bench.peers.peer import MAX_RESULTS, PeerAnswer, PeerHit
from bench.peers.processes import Command, McpProcess, run, started
from bench.peers.service import ROOT
from bench.peers.settings import NotesUnchanged, environ

from notewell import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.peers.peer import PeerHome, Serving


# "path#L3-L9", or "path#L3" for a single line.
_MARK = re.compile(r'<recalled path="(?P<path>[^"]+)#L(?P<start>\d+)(?:-L(?P<last>\d+))?"')


COMMIT = "NOTEWELL_BENCH_COMMIT"
"""What is measured, also in the process without a network: a commit that somebody makes during the
run would be installed there, which fails, and the row would say that it does not work offline."""


class Notewell(NotesUnchanged):
    name = "Notewell"
    about = "defaults; the embedded model runs in its own process; asked over MCP"
    has_own_vectors = True

    def __init__(self) -> None:
        self.packages = {"notewell": __version__}
        self._bin = Path()

    def install(self, cache: Path) -> tuple[Path, ...]:
        if COMMIT not in os.environ:
            os.environ[COMMIT] = run(["git", "rev-parse", "HEAD"], os.environ, ROOT).strip()
        self._bin = venv(cache / "notewell", f"{ROOT}[mcp]", mark=os.environ[COMMIT])
        return (cache / "notewell",)

    def index(self, home: PeerHome) -> None:
        run([self._bin / "notewell", "index", "-w", home.notes], self._environ(home), home.state)

    @contextmanager
    def serve(self, home: PeerHome) -> Iterator[Serving]:
        command: Command = [self._bin / "notewell", "mcp", "serve", "-w", home.notes]
        with started(command, self._environ(home), home.state, lines=True) as process:
            yield _Asked(McpProcess(process))

    def ask_once(self, home: PeerHome, question: str) -> None:
        search: Command = [self._bin / "notewell", "search", "-w", home.notes, "--json"]
        json.loads(run([*search, "--", question], self._environ(home), home.state))

    def _environ(self, home: PeerHome) -> dict[str, str]:
        return environ(home, self._bin)


class _Asked:
    def __init__(self, mcp: McpProcess) -> None:
        self._mcp = mcp
        self.pid = mcp.pid

    def ask(self, question: str) -> PeerAnswer:
        arguments = {"query": question, "maxResults": MAX_RESULTS}
        text, _ = self._mcp.call("memory_search", arguments)
        hits = (
            PeerHit(
                html.unescape(mark["path"]),
                "",
                int(mark["start"]),
                int(mark["last"] or mark["start"]),
            )
            for mark in _MARK.finditer(text)
        )
        return PeerAnswer(tuple(hits), text)
