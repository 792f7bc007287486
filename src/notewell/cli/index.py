"""`notewell index`: indexes text first, then vectors, and reports what it could not do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from notewell.cli.output import ProgressBar, can_ask, print_json, say, tell, tell_ignored
from notewell.cli.place import memory_of
from notewell.errors import IndexBusy
from notewell.tools import report_json
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.memory import Memory
    from notewell.sync import SyncReport
    from notewell.types import Ignored

DEGRADED = 5
SHOWN = 20  # A list longer than this is for --json.


def run(arguments: argparse.Namespace) -> int:
    # Without a terminal, folders outside the workspace stay refused, and the command says so.
    if can_ask():
        from notewell.cli.outside import ask_about_outside

        ask_about_outside(arguments)
    bar = ProgressBar()
    started = time.monotonic()
    with memory_of(arguments) as memory:
        try:
            report = memory.sync(
                force=arguments.force,
                vectors=not arguments.text_only,
                # A key that is refused is reported although there is nothing to embed.
                ask_embedder=not arguments.text_only,
                progress=bar.update,
            )
        finally:
            # Also after an error: its message must not continue the line of the bar.
            bar.done()
        if arguments.json:
            print_json(report_json(report))
        else:
            _show(report, time.monotonic() - started, memory)
    # Busy has an exit code of its own: a script can simply try again.
    if isinstance(report.trouble, IndexBusy):
        return report.trouble.exit_code
    return DEGRADED if report.is_degraded or memory.settings.workspace_errors else 0


def _show(report: SyncReport, took_s: float, memory: Memory) -> None:
    # A first index is no news; a later one was rebuilt for a reason that the user should know.
    if report.rebuilt and report.rebuilt.kind != "first":
        tell(f"built a new index: {report.rebuilt}")
    say(
        f"{counted(report.notes, 'note')}, {counted(report.chunks, 'chunk')}: "
        f"{report.written} written, {report.forgotten} forgotten, {report.unchanged} unchanged, "
        f"{counted(report.vectors_added, 'vector')} added ({took_s:.1f} s)"
    )
    tell_ignored(memory.settings)
    _show_list("left out", report.ignored)
    _show_list("could not be read", report.unreadable)
    _show_list("read with a repair, the file stays as it is", report.repaired)
    if report.batch_failure:
        tell(f"batch jobs failed, and vectors cost the full price: {report.batch_failure}")
    if report.fallback:
        tell(report.fallback.notice.text)
    if report.vectors_waiting:
        tell(f"{counted(report.vectors_waiting, 'chunk')} without a vector, found by keyword only")
    if isinstance(report.trouble, IndexBusy):
        tell(f"vectors are being computed by another process ({report.trouble.holder})")
    elif report.trouble:
        tell(str(report.trouble))
    if not report.notes:
        tell(_advice(memory))


def _show_list(title: str, files: tuple[Ignored, ...] | list[Ignored]) -> None:
    for file in files[:SHOWN]:
        tell(f"{title}: {file.path}: {file.why}")
    if len(files) > SHOWN:
        tell(f"{title}: {len(files) - SHOWN} more (--json lists them)")


def _advice(memory: Memory) -> str:
    return (
        f"no notes in {memory.notes.location}: Notewell reads MEMORY.md and memory/**/*.md there. "
        "`notewell init` makes a start, or takes in the Markdown that is already in the folder"
    )
