"""`notewell watch`: calm for people, lines for programs, and an end when it is asked to."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from notewell import SearchSettings, Settings, open_memory
from notewell.cli import watch
from notewell.cli.parser import build_parser
from notewell.cli.watch import JsonView, LiveView
from notewell.errors import BadSetting, EmbedderUnreachable, WorkspaceMissing
from notewell.sync import (
    Failed,
    Heard,
    Listening,
    NoNotifier,
    Progress,
    Scanning,
    Synced,
    SyncReport,
)
from notewell.sync.apply import NOTES_AT_ONCE

WORKSPACE = Path("/somewhere/notes")
NOTE = str(WORKSPACE / "memory" / "a.md")
BOUND_S = 60.0


def noon() -> datetime:
    return datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def changed(*paths: str, **counts: int) -> Synced:
    report = SyncReport(unchanged=3, chunks=9)
    for name, count in counts.items():
        setattr(report, name, count)
    return Synced("change", report, 0.42, paths)


BEGUN = (Listening(2), Synced("start", SyncReport(unchanged=3, chunks=9), 1.0, ()))


def test_one_line_says_when_what_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(WORKSPACE, noon)
    for event in (
        *BEGUN,
        Heard((NOTE,)),
        changed(NOTE, written=1, vectors_added=2),
        changed(),
        changed(NOTE, "/mnt/b.md", written=2),
        changed(NOTE, NOTE + "2", NOTE + "3", written=3, forgotten=1),
    ):
        view.on_event(event)
    view.done()
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "12:00:00  watching 2 folders: 3 notes, 9 chunks (1.0 s)",
        "12:00:00  memory/a.md: 1 written, 2 vectors added (0.4 s)",
        "12:00:00  memory/a.md, /mnt/b.md: 2 written (0.4 s)",
        "12:00:00  3 written, 1 forgotten (0.4 s)",
    ]
    assert err == ""


def test_trouble_is_told_once_and_so_is_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(WORKSPACE, noon)
    waiting = changed()
    waiting.report.trouble = EmbedderUnreachable("openai", "no answer")
    gone = Failed("change", WorkspaceMissing("/somewhere/notes"), 5.0)
    for event in (*BEGUN, waiting, waiting, changed(), gone, changed()):
        view.on_event(event)
    assert capsys.readouterr().err.splitlines() == [
        "12:00:00  the 'openai' embedder failed: no answer",
        "12:00:00  all is well again",
        "12:00:00  cannot use the workspace '/somewhere/notes': no such folder; "
        "trying again in 5 s",
        "12:00:00  all is well again",
    ]


def test_who_cannot_listen_says_what_is_done_instead(capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(WORKSPACE, noon)
    for event in (Scanning("no watches left", 5.0), BEGUN[1], Listening(2)):
        view.on_event(event)
    out, err = capsys.readouterr()
    assert out == "12:00:00  looking every 5 s: 3 notes, 9 chunks (1.0 s)\n"
    assert err.splitlines() == [
        "12:00:00  not listening for changes, looking every 5 s instead: no watches left",
        "12:00:00  listening for changes again",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_line_about_now(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    view = LiveView(WORKSPACE, noon)
    for event in (*BEGUN, Heard((NOTE,))):
        view.on_event(event)
    view.progress(Progress(3, 9, "vectors"))
    view.done()
    assert terminal.getvalue().split("\r") == [
        "",
        "\x1b[K",
        "watching 2 folders, 3 notes, 9 chunks, looked at 12:00:00\x1b[K",
        "a change: waiting until the writing stops\x1b[K",
        "vectors 3/9\x1b[K",
        "\x1b[K",
    ]
    assert capsys.readouterr().out.count("\n") == 1


def test_a_name_cannot_write_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(WORKSPACE, noon)
    for event in (*BEGUN, changed(str(WORKSPACE / "\x1b[2J.md"), written=1)):
        view.on_event(event)
    assert "\x1b" not in capsys.readouterr().out


def test_json_lines_tell_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    view = JsonView(WORKSPACE, noon)
    for event in (
        *BEGUN,
        Heard((NOTE,)),
        changed(),
        changed(NOTE, written=1),
        Scanning("no watches left", 5.0),
        Failed("change", WorkspaceMissing("/somewhere/notes"), 5.0),
    ):
        view.on_event(event)
    view.progress(Progress(3, 9, "vectors"))
    view.done()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == [
        "listening",
        "synced",
        "synced",
        "scanning",
        "failed",
    ]
    assert all(line["version"] == 1 for line in lines)
    assert lines[0] == {
        "version": 1,
        "event": "listening",
        "time": "2026-11-15T12:00:00+00:00",
        "folders": 2,
    }
    assert (lines[2]["why"], lines[2]["paths"], lines[2]["written"]) == (
        "change",
        ["memory/a.md"],
        1,
    )
    assert lines[4]["error"]["kind"] == "WorkspaceMissing"


@pytest.mark.parametrize(
    "wrong", [["--every", "0"], ["--every", "-1"], ["--debounce", "-1"], ["--debounce", "nan"]]
)
def test_an_impossible_wait_is_refused(wrong: list[str]) -> None:
    with pytest.raises(BadSetting, match=wrong[0]):
        watch.run(build_parser("watch").parse_args(["watch", *wrong]))


class StopsAtOnce(JsonView):
    """Asks for the end as soon as a sync has done a little."""

    def __init__(self, workspace: Path, stop: threading.Event) -> None:
        super().__init__(workspace)
        self._stop = stop

    def progress(self, progress: Progress) -> None:
        self._stop.set()


def test_a_long_sync_ends_between_two_batches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "memory").mkdir()
    for number in range(NOTES_AT_ONCE + 1):
        (tmp_path / "memory" / f"{number}.md").write_text("a zebra\n", encoding="utf-8")
    settings, stop = Settings(search=SearchSettings(keyword_only=True)), threading.Event()
    with open_memory(
        tmp_path, state_dir=tmp_path / "state", settings=settings, environment={}
    ) as memory:
        view = StopsAtOnce(tmp_path, stop)
        memory.watch(stop, on_event=view.on_event, notifier=NoNotifier(), progress=view.progress)
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()] == [
        "scanning"
    ]


def test_a_thread_of_its_own_leaves_the_signals_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    seen = list[object]()

    def run() -> None:
        with watch._ended_by_signals(threading.Event()):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(BOUND_S)
    assert seen == [before]


# -- the whole command ---------------------------------------------------------------------------

PROGRAM = """
import sys
from notewell.cli import main
sys.exit(main(["watch", *sys.argv[1:]]))
"""


@contextmanager
def running(tmp_path: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("The boat is green.\n", encoding="utf-8")
    settings = {"agents": {"defaults": {"memorySearch": {"provider": "none"}}}}
    config = tmp_path / "config.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    place = ["-w", str(workspace), "--state-dir", str(tmp_path / "state")]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *place, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "NOTEWELL_CONFIG": str(config)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()  # pytest's own limit bounds this wait.


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_shows_a_change_and_ends_cleanly(tmp_path: Path, ending: signal.Signals) -> None:
    with running(tmp_path, "--debounce", "0.1") as process:
        # The third is the one in which the folder of kept conversations will appear.
        assert "watching 3 folders: 1 note, 1 chunk (" in next_line(process)
        # In one step: on a busy machine an empty file would be a change of its own.
        (tmp_path / "a.md").write_text("a zebra\n", encoding="utf-8")
        (tmp_path / "a.md").rename(tmp_path / "workspace" / "memory" / "a.md")
        assert "  memory/a.md: 1 written (" in next_line(process)
        process.send_signal(ending)
        out, err = process.communicate(timeout=BOUND_S)
    assert (process.returncode, out, err) == (0, "", "stopped; the index stays as it is\n")


def test_it_ends_while_it_only_waits(tmp_path: Path) -> None:
    with running(tmp_path, "--scan", "--json", "--every", "60") as process:
        assert json.loads(next_line(process))["event"] == "scanning"
        assert json.loads(next_line(process))["event"] == "synced"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=BOUND_S)
    assert (process.returncode, out, err) == (0, "", "")
