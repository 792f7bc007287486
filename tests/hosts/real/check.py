"""`python -m tests.hosts.real.check`: run real hosts against Notewell, and print a table.

`scripts/hosts.sh` installs the hosts and runs this. Exit code 1: a host is missing, or failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.hosts.real.programs import PROGRAMS
from tests.hosts.real.trial import Observed, is_installed, try_host

COLUMNS = (
    "host version runs listed instructed called cited once recalled prompted captured kept masked "
    "specs result seconds"
)
_BUSY = "while True: pass"
LOOPS = 2


def main() -> int:
    arguments = _arguments()
    hosts = arguments.host
    missing = [host for host in hosts if not is_installed(host, arguments.hosts)]
    for host in missing:
        _say(f"{host} could not be installed, and was not tried")
    failed = False
    with _load(arguments.load):
        _say("\t".join(COLUMNS.split()))
        for host in hosts:
            if host not in missing:
                runs = list(_runs(host, arguments))
                _say("\t".join(_row(runs)))
                failed = _complain(runs) or failed
    _say("load average: {:.1f} {:.1f} {:.1f}".format(*os.getloadavg()))
    return 1 if failed or missing else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="hosts.sh")
    parser.add_argument("host", nargs="+", choices=tuple(PROGRAMS))
    parser.add_argument("--hosts", type=Path, required=True, help="where they are installed")
    parser.add_argument(
        "--homes", type=Path, required=True, help="for their home folders; emptied"
    )
    parser.add_argument("--runs", type=int, default=1, help="of each host (default: 1)")
    parser.add_argument("--load", action="store_true", help=f"{LOOPS} busy loops beside it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every run here")
    return parser.parse_args()


def _runs(host: str, arguments: argparse.Namespace) -> Iterator[Observed]:
    for number in range(arguments.runs):
        home = arguments.homes.absolute() / f"{host}-{number + 1}"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        observed = try_host(host, arguments.hosts.absolute(), home)
        if arguments.json:
            with arguments.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(observed._asdict()) + "\n")
        yield observed


def _row(runs: list[Observed]) -> list[str]:
    first, count = runs[0], len(runs)
    flags = "listed instructed cited once recalled prompted captured kept masked"
    shown = {flag: f"{sum(getattr(run, flag) for run in runs)}/{count}" for flag in flags.split()}
    shown |= {
        "host": first.host,
        "version": first.version,
        "runs": str(count),
        "called": f"{sum(run.called for run in runs)}/{3 * count}",
        "specs": f"{first.spec_bytes} B",
        "result": f"{first.result_bytes} B",
        "seconds": " ".join(f"{run.seconds:.1f}" for run in runs),
    }
    return [shown[column] for column in COLUMNS.split()]


def _complain(runs: list[Observed]) -> bool:
    failed = [run for run in runs if run.failures]
    for run in failed:
        _say(f"{run.host} failed: {', '.join(run.failures)}; its last words:")
        _say(run.output[-800:])
    return bool(failed)


@contextmanager
def _load(wanted: bool) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(LOOPS * wanted)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
