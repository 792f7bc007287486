"""A child process that obeys the permissions of files, also where the tests run as root."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

import pytest

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


def _drop() -> None:
    """Root without these two capabilities may do what the owner of a file may. They are gone with
    the next program that the process executes."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "the capability cannot be dropped")


def run_unprivileged(
    words: Sequence[str], *, typed: str = "", environ: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run `notewell`; skips the test where the system cannot take the rights of root away."""
    is_root = os.name == "posix" and os.geteuid() == 0
    if is_root and sys.platform != "linux":
        pytest.skip("root may write everywhere")
    drop: Callable[[], None] | None = _drop if is_root else None
    return subprocess.run(
        [sys.executable, "-m", "notewell", *words],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        env=dict(environ),
        timeout=120,
        preexec_fn=drop,
        check=False,
    )
