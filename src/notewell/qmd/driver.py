"""START HERE: one agent's QMD. Search with it, update its index, stop it.

    search   the server, if it runs ── else ──▶ a command, in the time that is left
    update   write QMD's configuration, then `qmd update`; one process at a time
    embed    `qmd embed`, likewise

The driver does not decide when to update: `background.py` does.
"""

from __future__ import annotations

import contextlib
import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.files import LockFailed, LockTimeout, file_lock
from notewell.qmd.daemon import Daemon
from notewell.qmd.export import export_sessions
from notewell.qmd.failures import QmdFailed, not_writable
from notewell.qmd.home import (
    INDEX,
    models_for,
    require_index,
    require_models,
    require_vectors,
    user_models_of,
)
from notewell.qmd.process import Program, run
from notewell.qmd.query import (
    arguments,
    body,
    from_command,
    from_server,
    qmd_query,
    update_counts,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence
    from pathlib import Path

    from notewell.qmd.collections import Collection
    from notewell.qmd.home import QmdHome
    from notewell.qmd.query import QmdQuery, QmdResult, UpdateCounts
    from notewell.qmd.settings import QmdSettings, SearchMode
    from notewell.types import Source

SERVER_FROM = 2
"""A client that asks twice is treated as long-lived; for one question a server does not pay."""
START_SHARE = 0.5
"""The share of a question's time that a server start may take before a command is tried."""
LEAST_S = 0.2
"""A command is not started if less time than this is left."""
UPDATE_LOCK_S = 30.0
"""How long an update waits for another process, as in OpenClaw."""


class Qmd:
    """Thread-safe: searches run in parallel, updates one after the other."""

    def __init__(
        self,
        settings: QmdSettings,
        home: QmdHome,
        collections: Sequence[Collection],
        *,
        inherited: Mapping[str, str] = os.environ,
        server_from: int = SERVER_FROM,
    ) -> None:
        """`server_from`: the server starts with this question, counted from 1."""
        self.settings = settings
        self.home = home
        self.collections = tuple(collections)
        self._inherited = dict(inherited)
        self._program = Program(settings.command, home.path, home.environment(self._inherited))
        self._daemon = Daemon(self._program) if settings.daemon else None
        self._daemon_failure: QmdFailed | None = None
        # Preparation writes files, so it waits for the first use.
        self._is_prepared = False
        self._server_from = server_from
        self._questions = 0

    @property
    def daemon_failure(self) -> QmdFailed | None:
        """Why a command answered instead of the server; None if the server did."""
        return self._daemon_failure

    @property
    def daemon_pid(self) -> int | None:
        """The process group of the server, while it runs."""
        return self._daemon.pid if self._daemon else None

    def close(self) -> None:
        """Stop the server and every running command; a later search starts them again."""
        self._program.children.end_all()
        self._end_server()

    def _end_server(self) -> None:
        if self._daemon:
            self._daemon.close()

    # -- asking ----------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        limit: int,
        sources: Container[Source] = ("memory", "sessions"),
        *,
        mode: SearchMode | None = None,
        probing: bool = False,
    ) -> tuple[QmdResult, ...]:
        """Files with the matching lines, best first, each file once. Raises `QmdFailed`.

        `mode` defaults to the one of the settings. `probing` starts no server.
        """
        until = time.monotonic() + self.settings.timeout_s
        query = qmd_query(question, mode or self.settings.search_mode)
        collections = tuple(
            collection for collection in self._not_links() if collection.source in sources
        )
        # Without names of collections the server would search all of them.
        if query.is_empty or not collections or limit < 1:
            return ()
        self.check(query.mode)
        if self._daemon is not None and self._is_worth_a_server(probing=probing):
            try:
                return self._by_server(self._daemon, query, collections, limit)
            except QmdFailed as failure:
                self._daemon_failure = failure
                # After a timeout a command would fail too, and the caller has waited enough.
                if failure.kind == "timeout" or until - time.monotonic() < LEAST_S:
                    raise
        return self._by_command(query, collections, limit, until - time.monotonic())

    def check(self, mode: SearchMode | None = None) -> None:
        """Raises what a search would raise before it starts QMD; starts nothing."""
        mode = mode or self.settings.search_mode
        self._program.executable()
        if not self._is_prepared:
            self._prepare()
        require_index(self.home)
        if mode != "search":
            require_vectors(self.home)
            require_models(self.home, self._models(mode, by_server=self._daemon is not None))

    def version(self) -> str:
        """The output of `qmd --version`."""
        if not self._is_prepared:
            self._prepare()
        output = run(self._program, ["--version"], self.settings.command_timeout_s)
        return output.stdout.decode("utf-8", "replace").strip()

    def _by_server(
        self, daemon: Daemon, query: QmdQuery, collections: Sequence[Collection], limit: int
    ) -> tuple[QmdResult, ...]:
        timeout_s = self.settings.timeout_s
        names = [collection.name for collection in collections]
        content = body(query, names, limit, self.settings.rerank)
        answer = daemon.ask(content, timeout_s, start_within_s=timeout_s * START_SHARE)
        results = from_server(answer, collections)
        self._daemon_failure = None
        return results

    def _by_command(
        self, query: QmdQuery, collections: Sequence[Collection], limit: int, timeout_s: float
    ) -> tuple[QmdResult, ...]:
        require_models(self.home, self._models(query.mode, by_server=False))
        names = [collection.name for collection in collections]
        output = run(
            self._program, arguments(query, names, limit, self.settings.rerank), timeout_s
        )
        return from_command(output.stdout, collections)

    def _models(self, mode: SearchMode, *, by_server: bool) -> list[str]:
        settings = self.settings
        return models_for(mode, settings.models, settings.rerank, by_server=by_server)

    def _is_worth_a_server(self, *, probing: bool) -> bool:
        if probing:
            return self.daemon_pid is not None
        self._questions += 1
        # Without a server QMD loads its models again for every vector search.
        return self._questions >= self._server_from or self.settings.search_mode != "search"

    # -- updating --------------------------------------------------------------------------------

    def update(self, *, anew: bool = False, within_s: float | None = None) -> UpdateCounts:
        """Index what changed on disk; `anew` deletes the index first.

        `within_s` defaults to the timeout of the settings.
        """
        timeout_s = within_s or self.settings.update_timeout_s
        self._program.executable()  # Fails before anything is written.
        if self._prepare() or anew:
            self._end_server()  # A running server would keep the old configuration.
        with update_lock(self.home.lock, wait_s=min(UPDATE_LOCK_S, timeout_s)):
            if anew:
                self.home.forget_index()
            # The start and not the end: a note that changes during the update counts as newer.
            started_ns = time.time_ns()
            try:
                counts = update_counts(self._run_update(timeout_s))
            except QmdFailed as failure:
                self.home.record_failure(failure)
                raise
            self.home.record_update(started_ns)
        return counts

    def _run_update(self, timeout_s: float) -> bytes:
        """A damaged index is rebuilt: like ours it is only a copy of the notes."""
        command = ["--index", INDEX, "update"]
        try:
            return run(self._program, command, timeout_s).stdout
        except QmdFailed as failure:
            if not failure.is_index_damaged:
                raise
        self._end_server()
        self.home.forget_index()
        return run(self._program, command, timeout_s).stdout

    def embed(self) -> None:
        """Compute the vectors that are missing."""
        self._program.executable()
        require_models(self.home, [self.settings.models.embed])
        self._prepare()
        with update_lock(self.home.lock, wait_s=UPDATE_LOCK_S):
            run(self._program, ["--index", INDEX, "embed"], self.settings.embed_timeout_s)

    def _not_links(self) -> Iterator[Collection]:
        # QMD skips links inside a folder, but follows one that replaced the folder itself.
        return (collection for collection in self.collections if not collection.root.is_symlink())

    def _prepare(self) -> bool:
        """Write QMD's configuration; returns whether it changed. QMD treats a missing folder as
        empty, so folders are not checked."""
        models = user_models_of(self._inherited)
        changed = self.home.prepare(self._not_links(), self.settings.models, models)
        self._is_prepared = True
        return changed


def clear_home(home: QmdHome) -> None:
    """Remove the exported transcripts and the index; the next update makes both anew."""
    with update_lock(home.lock, wait_s=UPDATE_LOCK_S):
        for folder in dict.fromkeys([home.sessions, *home.export_folders()]):
            if folder.is_dir():
                export_sessions(folder, (), now=datetime.now(UTC), retention_days=None)
        home.forget_index()


@contextlib.contextmanager
def update_lock(lock: Path, *, wait_s: float) -> Iterator[None]:
    """One update of an index at a time, across processes; raises `busy` after `wait_s` seconds.

    Of four updates of an empty index at once, three failed with a constraint error. Searches do
    not need the lock.
    """
    try:
        with file_lock(lock, wait_s=wait_s):
            yield
    except LockTimeout:
        why = f"another process updates this index; waited {wait_s:g} s"
        raise QmdFailed("busy", why) from None
    except LockFailed as failed:
        raise not_writable(lock.parent, failed.error) from failed.error
