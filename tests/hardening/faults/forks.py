"""A process that has everything imported and forks a child for each thing to do.

Started with the shim, its children can be armed; without, they are fresh processes that look at
what is left. Starting Python anew for each of some thousand points would take an hour.

    driver ── one line of JSON ──▶ server ── fork ──▶ child: prepare | act | aftermath
           ◀── one line of JSON ──        ◀── pipe, exit status ──
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[3]
CHILD_S = 60.0
"""A child takes a fraction of a second; one that waits for ever is killed and reported."""

Report = dict[str, Any]


class ForkServer:
    """The driver's end."""

    def __init__(self, library: Path | None) -> None:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("COV")
        }
        # One thread: a process with more than one cannot be forked safely.
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
        if library is not None:
            environment["LD_PRELOAD"] = str(library)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hardening.faults.forks", "shim" if library else "plain"],
            cwd=REPOSITORY,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, **job: Any) -> Report:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the fork server ended with {self._process.wait()}")
        report: Report = json.loads(line)
        return report

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(CHILD_S)
        self._process.stdout.close()


# -- the server's end ----------------------------------------------------------------------------


def serve() -> None:
    from tests.hardening.faults.jobs import warm_up

    os.environ.pop("LD_PRELOAD", None)  # Nothing that a child might start shall have it.
    with tempfile.TemporaryDirectory() as folder:
        warm_up(Path(folder))
    gc.collect()
    gc.freeze()  # What is here stays; a child that does not touch it does not copy it.
    for line in sys.stdin.buffer:
        report = _in_child(json.loads(line))
        sys.stdout.buffer.write(json.dumps(report).encode() + b"\n")
        sys.stdout.buffer.flush()


def _in_child(job: dict[str, Any]) -> Report:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _be_child(job, writing)
    os.close(writing)
    data = _read_all(reading, child)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if data is None:
        return {"ended": "hung"}
    if os.WIFSIGNALED(status):
        return {"ended": "killed", "signal": os.WTERMSIG(status)}
    report: Report = json.loads(data) if data else {"ended": "silent", "status": status}
    return report


def _be_child(job: dict[str, Any], writing: int) -> None:
    try:
        report = _report(job)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(report).encode())
    finally:
        os._exit(0)


def _report(job: dict[str, Any]) -> Report:
    from tests.hardening.faults.jobs import JOBS

    from notewell.errors import NotewellError

    try:
        return {"ended": "done", "value": JOBS[job.pop("do")](**job)}
    except BaseException as error:  # noqa: BLE001 - the root of a process, which tells everything
        return {
            "ended": "raised",
            "type": type(error).__name__,
            "ours": isinstance(error, NotewellError),
            "message": str(error),
            "trace": traceback.format_exc(limit=-6),
        }


def _read_all(pipe: int, child: int) -> bytes | None:
    data = b""
    while True:
        ready, _, _ = select.select([pipe], [], [], CHILD_S)
        if not ready:
            os.kill(child, signal.SIGKILL)
            return None
        got = os.read(pipe, 1 << 16)
        if not got:
            return data
        data += got


if __name__ == "__main__":
    serve()
