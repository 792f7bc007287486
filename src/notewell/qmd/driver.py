"""START HERE: one agent's QMD. Ask it, let it update, end it.

    search   server if it is to be had ── else ──▶ command, in what is left of the time
    update   our settings for it written anew, then `qmd update`, one process at a time
    embed    `qmd embed`, likewise

It starts no threads of its own and keeps no calendar: `cadence` says when, the caller does it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from notewell.qmd.daemon import Daemon
from notewell.qmd.failures import QmdFailed
from notewell.qmd.home import INDEX, user_models_of
from notewell.qmd.lock import updating
from notewell.qmd.preflight import models_for, require_index, require_models, require_vectors
from notewell.qmd.process import Program, run
from notewell.qmd.question import arguments, asked, body
from notewell.qmd.results import from_command, from_server, updated

if TYPE_CHECKING:
    from collections.abc import Collection as Some
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.qmd.collections import Collection
    from notewell.qmd.home import QmdHome
    from notewell.qmd.question import Asked
    from notewell.qmd.results import Found, Updated
    from notewell.qmd.settings import QmdSettings, SearchMode
    from notewell.types import Source

SERVER_FROM = 2
"""Who asks a second time will ask again; a program that asks once has no use for a server."""
START_SHARE = 0.5
"""Of a question's time, what the start of a server may take before the command is tried."""
LEAST_S = 0.2
"""With less time than this left a command is not even started."""
UPDATE_LOCK_S = 30.0
"""How long an update waits for that of another process; the original waits as long."""


class Qmd:
    """Safe for several threads: searches side by side, updates one after the other."""

    def __init__(
        self,
        settings: QmdSettings,
        home: QmdHome,
        collections: Sequence[Collection],
        *,
        inherited: Mapping[str, str] = os.environ,
        server_from: int = SERVER_FROM,
    ) -> None:
        """`server_from` is the number of the question that starts a server."""
        self.settings = settings
        self.home = home
        self.collections = tuple(collections)
        self._inherited = dict(inherited)
        self._program = Program(settings.command, home.path, home.environment(self._inherited))
        self._daemon = Daemon(self._program) if settings.daemon else None
        self._daemon_trouble: QmdFailed | None = None
        self._is_prepared = False
        self._server_from = server_from
        self._questions = 0

    @property
    def daemon_trouble(self) -> QmdFailed | None:
        """Why a command had to answer instead of the server; None while it does."""
        return self._daemon_trouble

    @property
    def daemon_pid(self) -> int | None:
        """The process group of the server, while one runs."""
        return self._daemon.pid if self._daemon else None

    def close(self) -> None:
        """End the server and every command under way; a search afterwards starts anew."""
        self._program.running.end_all()
        self._end_server()

    def _end_server(self) -> None:
        if self._daemon:
            self._daemon.close()

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        limit: int,
        sources: Some[Source] = ("memory", "sessions"),
        *,
        mode: SearchMode | None = None,
        probing: bool = False,
    ) -> tuple[Found, ...]:
        """Files with the lines that answer, best first, each once. Raises `QmdFailed`.

        `mode` is that of the settings where none is given. Who is only `probing` starts no server.
        """
        until = time.monotonic() + self.settings.timeout_s
        query = asked(question, mode or self.settings.search_mode)
        among = tuple(one for one in self._plain() if one.source in sources)
        # Without names the server would search everything it has.
        if query.is_empty or not among or limit < 1:
            return ()
        self.check(query.mode)
        if self._daemon is not None and self._is_worth_a_server(probing=probing):
            try:
                return self._by_server(self._daemon, query, among, limit)
            except QmdFailed as failure:
                self._daemon_trouble = failure
                if failure.kind == "timeout" or until - time.monotonic() < LEAST_S:
                    raise
        return self._by_command(query, among, limit, until - time.monotonic())

    def check(self, mode: SearchMode | None = None) -> None:
        """Raises what a search would raise before it asks anybody; starts nothing."""
        mode = mode or self.settings.search_mode
        self._program.found()
        if not self._is_prepared:
            self._prepare()
        require_index(self.home)
        if mode != "search":
            require_vectors(self.home)
            require_models(self.home, self._models(mode, by_server=self._daemon is not None))

    def version(self) -> str:
        """What `qmd --version` says."""
        if not self._is_prepared:
            self._prepare()
        output = run(self._program, ["--version"], self.settings.command_timeout_s)
        return output.stdout.decode("utf-8", "replace").strip()

    def _by_server(
        self, daemon: Daemon, query: Asked, among: Sequence[Collection], limit: int
    ) -> tuple[Found, ...]:
        timeout_s = self.settings.timeout_s
        content = body(query, [one.name for one in among], limit, self.settings.rerank)
        answer = daemon.ask(content, timeout_s, start_within_s=timeout_s * START_SHARE)
        found = from_server(answer, among)
        self._daemon_trouble = None
        return found

    def _by_command(
        self, query: Asked, among: Sequence[Collection], limit: int, timeout_s: float
    ) -> tuple[Found, ...]:
        require_models(self.home, self._models(query.mode, by_server=False))
        names = [one.name for one in among]
        output = run(
            self._program, arguments(query, names, limit, self.settings.rerank), timeout_s
        )
        return from_command(output.stdout, among)

    def _models(self, mode: SearchMode, *, by_server: bool) -> list[str]:
        told = self.settings
        return models_for(mode, told.models, told.rerank, by_server=by_server)

    def _is_worth_a_server(self, *, probing: bool) -> bool:
        """Without one, QMD would load its models for every question by meaning."""
        if probing:
            return self.daemon_pid is not None
        self._questions += 1
        return self._questions >= self._server_from or self.settings.search_mode != "search"

    # -- keeping up ------------------------------------------------------------------------------

    def update(self, *, anew: bool = False, within_s: float | None = None) -> Updated:
        """Take in what changed on disk; `anew` throws the index away first.

        `within_s` is as the settings have it, where it is not given.
        """
        timeout_s = within_s or self.settings.update_timeout_s
        self._program.found()
        if self._prepare() or anew:
            self._end_server()  # It would go on with the folders of before.
        with updating(self.home.lock, wait_s=min(UPDATE_LOCK_S, timeout_s)):
            if anew:
                self.home.forget_index()
            started_ns = time.time_ns()
            done = updated(self._run_update(timeout_s))
            self.home.note_update(started_ns)
        return done

    def _run_update(self, timeout_s: float) -> bytes:
        """An index that is damaged is a copy like ours: it is made anew."""
        command = ["--index", INDEX, "update"]
        try:
            return run(self._program, command, timeout_s).stdout
        except QmdFailed as failure:
            if not failure.is_damage:
                raise
        self._end_server()
        self.home.forget_index()
        return run(self._program, command, timeout_s).stdout

    def embed(self) -> None:
        """Compute the vectors that are missing."""
        self._program.found()
        require_models(self.home, [self.settings.models.embed])
        self._prepare()
        with updating(self.home.lock, wait_s=UPDATE_LOCK_S):
            run(self._program, ["--index", INDEX, "embed"], self.settings.embed_timeout_s)

    def _plain(self) -> Iterator[Collection]:
        """Without what has become a link: QMD skips links in a folder, but follows one to it."""
        return (one for one in self.collections if not one.root.is_symlink())

    def _prepare(self) -> bool:
        """A folder that is not there is named all the same: to QMD it is an empty one."""
        models = user_models_of(self._inherited)
        changed = self.home.prepare(self._plain(), self.settings.models, models)
        self._is_prepared = True
        return changed
