"""`notewell worker`: indexes and embeds what was written to a PostgreSQL database."""

from __future__ import annotations

import signal
import threading
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from notewell.cli.output import flush, print_json, say
from notewell.cli.place import add_database

if TYPE_CHECKING:
    import argparse
    from types import FrameType

    from notewell.http_service.sync_worker import WorkDone


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "It takes agents from the queue of the tenant, as every `notewell serve -w postgres:` "
        "does. Any number of workers may run; each agent is in work once. One that is killed "
        "loses nothing: another one takes its work."
    )
    add_database(parser, "the default")
    parser.add_argument(
        "--all",
        action="store_true",
        help="put every agent into the queue first, for example for another model",
    )
    parser.add_argument("--once", action="store_true", help="end when the queue is empty")
    parser.add_argument("--state-dir", metavar="DIR", help="where models and keys are kept")
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def run(arguments: argparse.Namespace) -> int:
    from notewell.cli.serve import state_dir_of
    from notewell.databases import tenant_database

    tenant = tenant_database()  # First: it says which package is missing.
    from notewell.http_service.sync_worker import MemoryOpener, SyncWorker
    from notewell.postgres import SyncQueue

    queue, stop = SyncQueue(*tenant), threading.Event()

    def end(_: int, __: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    if arguments.all:
        queue.add_all()
    opener = MemoryOpener(state_dir_of(arguments))
    worker = SyncWorker(queue, opener, on_done=partial(_print, as_json=arguments.json))
    if not arguments.once:
        # A program that starts it waits for this line.
        say(f"working for the agents of {tenant.tenant} in {tenant.database.address}")
        flush()
    try:
        while arguments.once and not stop.is_set() and worker.work(stop):
            pass
        if not arguments.once:
            worker.run(stop)
    finally:
        opener.close()
    return 0


def _print(done: WorkDone, *, as_json: bool) -> None:
    report, error = done.report, done.error
    if as_json:
        print_json(
            {
                "agent": done.agent,
                "tookS": round(done.took_s, 3),
                "chunks": report.chunks if report else None,
                "vectorsAdded": report.vectors_added if report else None,
                "error": str(error) if error else None,
            }
        )
    else:
        text = f"{report.chunks} chunks, {report.vectors_added} vectors added" if report else ""
        trouble = f"not finished: {error}" if error else ""
        what = "; ".join(part for part in (text, trouble) if part) or "continues later"
        say(f"{datetime.now().astimezone():%H:%M:%S}  {done.agent}: {what} ({done.took_s:.1f} s)")
    flush()
