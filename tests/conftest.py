"""Shared fixtures, and the Hypothesis profiles.

The same examples in each run: a landing must not fail by chance on what it has not changed.
`HYPOTHESIS_PROFILE=thorough` runs each property with ten times as many, and others each time.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer

    from notewell.postgres import Database, Scope

# A shell without job control starts background commands with interrupts ignored, and programs that
# the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadlines: on a loaded machine one example can take longer than any limit we could name.
settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile(
    "thorough", settings.get_profile("default"), derandomize=False, max_examples=1000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

NOBODY = 65534

UNMEASURED = (
    "tests/browser/",
    "tests/evals/",
    "tests/hardening/attacks/test_patterns.py",
    "tests/hardening/faults/",
    "tests/hardening/powerloss/",
    "tests/hosts/",
    "tests/http_service/test_openapi.py",
    "tests/plugins/",
    "tests/redaction/",
    "tests/sessions/test_growth.py",
)
"""Tests that try the same lines many times, or lines of packages whose coverage `check` does not
require."""


class _Measuring:
    """Coverage, except of the tests in UNMEASURED: tracing doubles the time that a test takes.

    Programs that tests start are not measured at all: each start would take .2 s longer.
    `NOTEWELL_TEST_COVERAGE=all` measures all tests.
    """

    def __init__(self) -> None:
        os.environ.pop("COVERAGE_PROCESS_START", None)
        coverage = sys.modules.get("coverage")
        self._coverage = coverage.Coverage.current() if coverage else None
        self._takes_all = os.environ.get("NOTEWELL_TEST_COVERAGE") == "all"
        self._is_on = True

    def before(self, test: str) -> None:
        is_wanted = self._takes_all or not test.startswith(UNMEASURED)
        if self._coverage is None or is_wanted == self._is_on:
            return
        if is_wanted:
            self._coverage.start()
        else:
            self._coverage.stop()
        self._is_on = is_wanted


_measuring = _Measuring()


def pytest_runtest_logstart(nodeid: str) -> None:
    _measuring.before(nodeid)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """After each file, give back what models needed for their weights: glibc keeps it, and a
    worker grows to more than 1 GB."""
    is_last = nextitem is None or nextitem.path != item.path
    if is_last and sys.platform == "linux":
        # musl has no such function.
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of this process; `notewell` is a database with our tables."""
    from tests.postgres_server import running_server

    with running_server() as server:
        server.create_database("notewell")
        yield server


@pytest.fixture(scope="session")
def postgres(postgres_server: PostgresServer) -> Iterator[Database]:
    """As a user who owns nothing."""
    database = postgres_server.as_login("notewell")
    yield database
    database.close()


@pytest.fixture
def postgres_scope() -> Scope:
    """An agent that no other test has."""
    from notewell.postgres import Scope

    return Scope("tests", f"agent-{uuid.uuid4()}")


@pytest.fixture
def shared_path() -> Iterator[Path]:
    """A folder that another user may enter; those above `tmp_path` are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="notewell-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for parent, names, _ in os.walk(folder):
            for name in names:
                Path(parent, name).chmod(0o755)  # before the walk goes on into it
        shutil.rmtree(folder)


@pytest.fixture
def unprivileged() -> Callable[[], AbstractContextManager[None]]:
    """Permission bits do not bind root, so root becomes somebody else for a while."""

    @contextmanager
    def for_a_while() -> Iterator[None]:
        before = os.geteuid()
        if before == 0:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(before)

    return for_a_while
