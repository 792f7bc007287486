"""`notewell eval --replay`: conversations go through the hooks, then questions are asked.

The hooks are those that the installer writes for Claude Code. Their command lines are parsed and
run in this process, at the time at which the conversation took place.
"""

from __future__ import annotations

import io
import json
import shlex
import shutil
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.capture import capture_trouble
from notewell.cli.clients import hook_items
from notewell.cli.hook import handle
from notewell.cli.hook_setup import folder_of
from notewell.cli.output import ProgressBar, print_json, say
from notewell.cli.parser import build_parser
from notewell.errors import NotewellError, StateNotWritable
from notewell.evals import (
    FORMS,
    ReplayHost,
    load_replay_set,
    replay_json,
    replay_table,
    replay_title,
    run_replay,
    save_replays,
)

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from datetime import datetime

    from notewell.evals import HostHooks, ReplayFolders, ReplayRun, ReplaySet
    from notewell.ports import Embedder

DEGRADED = 5
HOST = "claude"


class ReplayPlace(NamedTuple):
    """Where a replay takes place, and where its results are saved."""

    state: Path
    out: Path | None


def replay_sets(
    arguments: argparse.Namespace, k: int, place: ReplayPlace, embedder: Embedder
) -> int:
    def install(folders: ReplayFolders) -> HostHooks:
        return InstalledHooks(folders, notes_only=arguments.notes_only)

    runs: list[ReplayRun] = []
    for folder in arguments.sets:
        replayed = load_replay_set(Path(folder), place.state / "evals", arguments.limit)
        forms = _replay(replayed, place.state, ReplayHost(embedder, install), k)
        runs += forms
        # Saved after each set: an interrupted evaluation keeps what it has measured.
        if place.out:
            save_replays(place.out, runs)
        if not arguments.json:
            say(replay_title(forms[0]))
            for line in replay_table(forms, by_category=arguments.by_category):
                say(line)
            say("")
    if arguments.json:
        by_category = arguments.by_category
        print_json({"replays": [replay_json(run, by_category=by_category) for run in runs]})
    return DEGRADED if any(run.is_degraded for run in runs) else 0


def _replay(replayed: ReplaySet, state: Path, host: ReplayHost, k: int) -> list[ReplayRun]:
    # Not removed afterwards: with --state-dir, one can look at what was kept.
    scratch = _emptied(state / "replay" / f"{replayed.name}-{replayed.digest}")
    bar = ProgressBar()
    try:
        return [run_replay(replayed, form, scratch, host, k, bar.update) for form in FORMS]
    finally:
        bar.done()


def _emptied(scratch: Path) -> Path:
    """What an earlier replay left there would be found too."""
    try:
        if scratch.exists():
            shutil.rmtree(scratch)
        scratch.mkdir(parents=True)
    except OSError as error:
        raise StateNotWritable(str(scratch), error.strerror or str(error)) from error
    return scratch


class InstalledHooks:
    """The hooks that `notewell hook install claude` would write for this memory."""

    def __init__(self, folders: ReplayFolders, *, notes_only: bool) -> None:
        words = ["hook", "install", HOST, "--workspace", str(folders.workspace)]
        words += ["--state-dir", str(folders.state), *(["--notes-only"] if notes_only else [])]
        parser = build_parser("hook")
        arguments = parser.parse_args(words)
        calls = [parser.parse_args(_words(item)) for item in hook_items(arguments).values()]
        self._calls = {call.action: call for call in calls}

    def fire(self, event: str, payload: Mapping[str, str], now: datetime) -> None:
        call = self._calls.get(event)
        if call is None:
            return
        # What a hook prints is for the host.
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            is_finished = handle(call, json.dumps(payload).encode(), now, UTC)
        trouble = capture_trouble(folder_of(call), event)
        # A start that could not bring the index up to date in time has lost nothing.
        if not is_finished or (trouble and event != "session-start"):
            why = trouble or "it took longer than the host allows"
            raise NotewellError(f"the {event} hook failed for {payload['session_id']!r}: {why}")


def _words(item: dict[str, Any]) -> list[str]:
    """The words of a hook's command line after the program, which may be several words."""
    words = shlex.split(item["hooks"][0]["command"])
    return words[words.index("hook") :]
