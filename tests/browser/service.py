"""`notewell serve` as a process of its own, as its owner starts it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from notewell.http_service import LoginLinks, Scope, TokenRequest, TokenStore
from notewell.http_service.tokens import LINKS_FILE as LINKS
from notewell.http_service.tokens import TOKENS_FILE as TOKENS

PYTHON = sys.executable


class Service:
    """Runs from `with` to its end; `log` is all that it said on standard error."""

    def __init__(self, folder: Path, workspace: str = "") -> None:
        """`workspace` is `folder/workspace`, or `postgres:`."""
        self.folder = folder
        self._workspace = workspace or str(folder / "workspace")
        self.url = ""
        self.first_link = ""
        self._book = TokenStore(folder / "state" / TOKENS)
        self._links = LoginLinks(folder / "state" / LINKS)

    @property
    def log(self) -> str:
        return (self.folder / "serve.log").read_text(encoding="utf-8")

    def __enter__(self) -> Service:
        place = ["-w", self._workspace, "--state-dir", str(self.folder / "state")]
        limits = ["--requests-a-minute", "6000"]  # All tests together are quicker than a person.
        with (self.folder / "serve.log").open("wb") as log:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "notewell", "serve", *place, *limits, "--port", "0", "--json"],
                env={**os.environ, "NOTEWELL_CONFIG": str(self.folder / "config.json")},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout
        told = ""
        for line in self._process.stdout:
            told += line.decode()
            if line == b"}\n":
                break
        assert told, self.log
        start = json.loads(told)
        self.url, self.first_link = start["url"], start["page"]
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdout
        self._process.terminate()
        self._process.wait(60)
        self._process.stdout.close()

    @property
    def cookie_name(self) -> str:
        return f"notewell-{self.url.rpartition(':')[2]}"

    # -- who may come in -------------------------------------------------------------------------

    def link(self) -> str:
        """What `notewell token link` prints."""
        return f"{self.url}/open?code={self._links.make()}"

    def token(self, name: str, *scopes: Scope) -> str:
        return self._book.create(TokenRequest(name, ("main",), scopes))[1]

    def cookie(self, *scopes: Scope) -> str:
        """A browser that was let in with these scopes."""
        return self._book.create(TokenRequest("browser", ("main",), scopes, 1, "page"))[1]

    # -- another client --------------------------------------------------------------------------

    def ask(self, method: str, path: str, token: str, body: object = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        link = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        try:
            link.request(method, path, None if body is None else json.dumps(body), headers)
            answer = link.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            link.close()

    def append(self, text: str) -> str:
        """Another client writes an entry; the note it stands in now."""
        if not hasattr(self, "_writer"):
            self._writer = self.token("another client", "append")
        status, told = self.ask("POST", "/v1/append", self._writer, {"text": text})
        assert status == 201, told
        path: str = told["path"]
        return path
