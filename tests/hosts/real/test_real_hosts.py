"""Notewell inside real hosts: the model finds the tools in its first request and uses them.

`./check` installs these hosts from npm (`scripts/hosts.sh`) and sets NOTEWELL_TEST_HOSTS; the
model is a script on loopback. `scripts/hosts.sh` tries the other hosts, too.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.hosts.real.trial import is_installed, try_host

VARIABLE = "NOTEWELL_TEST_HOSTS"
IN_CI = ("claude", "codex", "openclaw")

# A host takes seconds; on a busy machine, minutes. The trial has limits of its own.
pytestmark = pytest.mark.timeout(1500)


@pytest.fixture(scope="session")
def folder() -> Path:
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder with hosts; `./check` installs some and sets it")
    return Path(named).absolute()


@pytest.mark.parametrize("host", IN_CI)
def test_a_model_in_a_real_host_searches_reads_appends_and_cites(
    host: str, folder: Path, tmp_path: Path
) -> None:
    if not is_installed(host, folder):
        pytest.skip(f"npm could not install {host} in time")
    observed = try_host(host, folder, tmp_path)
    assert observed.failures == [], f"{observed.version}:\n{observed.output[-4000:]}"
