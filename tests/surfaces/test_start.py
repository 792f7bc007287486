"""What a command loads before it answers: start-up time without a clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = {
    "asyncio",
    "dataclasses",  # It imports `inspect` and compiles methods; `notewell.records` does not.
    "importlib.metadata",
    "inspect",
    "locale",  # argparse looks for translations of its words, unless it is told not to.
    "logging",
    "numpy",
    "onnxruntime",
    "shutil",  # It loads all compression formats; argparse imports it to learn a width.
    "socket",
    "statistics",  # It loads fractions, decimal and random.
    "string",  # It compiles a pattern.
    "subprocess",
    "tempfile",
}


# What every command needs. In some versions of Python these import a slow module themselves.
NEEDED = "argparse, datetime, json, pathlib, threading, typing"


def loaded_by(*words: str, needed: str = NEEDED, data: bytes = b"") -> set[str]:
    """The modules that a command adds to those of the interpreter and of `needed`."""
    code = (
        f"import sys, {needed}; before = set(sys.modules); "
        "import notewell.cli; notewell.cli.main(sys.argv[1:]); after = set(sys.modules); "
        "import json; print(json.dumps(list(after - before)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        input=data,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(done.stderr.decode().splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    [
        ("search", "--mode", "keyword", "frost"),
        ("get", "MEMORY.md"),
        ("index", "--text-only"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_loads_no_slow_module(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "MEMORY.md").write_text("# Garden\n\nfrost tonight\n", encoding="utf-8")
    place = ("-w", str(tmp_path / "notes"), "--state-dir", str(tmp_path / "state"))
    # The first run builds the index. The second one is the run of every day.
    loaded_by("index", "--text-only", *place)
    modules = loaded_by(words[0], *place, *words[1:])
    assert modules & SLOW == set()
    # OpenSSL. A search computes short digests alone; the others read whole notes.
    assert words[0] != "search" or "_hashlib" not in modules
    # No settings file, so no reader of settings files; no other command either.
    assert "notewell.config.resolve" not in modules
    always = {f"notewell.cli.{name}" for name in ("output", "parser", "place")}
    assert len({name for name in modules if name.startswith("notewell.cli.")} - always) == 1


@pytest.mark.parametrize("event", ["stop", "session-end", "pre-compact"])
def test_a_hook_that_saves_a_conversation_loads_no_search(tmp_path: Path, event: str) -> None:
    (tmp_path / "notes").mkdir()
    message = {"role": "user", "content": "we ship on Friday"}
    record = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": message}
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(json.dumps(record) + "\n", encoding="utf-8")
    call = {"session_id": "s1", "transcript_path": str(transcript)}
    place = ("-w", str(tmp_path / "notes"), "--state-dir", str(tmp_path / "state"))
    modules = loaded_by("hook", event, *place, "--keep", data=json.dumps(call).encode())
    assert "notewell.capture.keeping" in modules
    unwanted = {"apsw", "notewell.assembly", "notewell.search.hybrid", "notewell.index.sqlite"}
    assert modules & {*SLOW, *unwanted} == set()


def test_the_version_needs_no_parser() -> None:
    modules = loaded_by("--version", needed="typing")
    assert modules & {"argparse", "notewell.cli.parser", *SLOW} == set()


@pytest.mark.parametrize(("requested", "threads"), [(None, 1), ("2", 2)])
def test_a_command_runs_numpy_in_one_thread_unless_the_user_wants_more(
    tmp_path: Path, requested: str | None, threads: int
) -> None:
    (tmp_path / "MEMORY.md").write_text("# Garden\n\nfrost tonight\n", encoding="utf-8")
    code = (
        "import sys; from notewell.cli import main; code = main(); assert code == 0, code; "
        "import json, numpy, threadpoolctl; pools = threadpoolctl.threadpool_info(); "
        "print(json.dumps([p['num_threads'] for p in pools if p['internal_api'] == 'openblas']))"
    )
    words = ["search", "--mode", "keyword", "-w", str(tmp_path), "frost"]
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    if requested:
        environment["OPENBLAS_NUM_THREADS"] = requested
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--state-dir", str(tmp_path / "state")],
        capture_output=True,
        check=True,
        timeout=60,
        env=environment,
    )
    # Empty where numpy uses another library, as on macOS.
    assert set(json.loads(done.stdout.decode().splitlines()[-1])) <= {threads}


USUAL_END = (
    "import atexit, sys; {before}; atexit.register(print, 'the usual end'); "
    "from notewell.cli import command; command()"
)


@pytest.mark.parametrize(
    ("words", "before", "expected", "ends_early"),
    [
        (["get", "-w", "{folder}", "MEMORY.md"], "pass", (0, b"frost tonight"), True),
        (["get", "-w", "{folder}/absent", "--json", "x.md"], "pass", (1, b'"error"'), True),
        (["no-such-command"], "pass", (2, b""), False),
        (["--version"], "sys.setprofile(lambda *_: None)", (0, b"notewell"), False),
    ],
    ids=["done", "error", "wrong usage", "observed"],
)
def test_a_command_frees_nothing_at_its_end_and_keeps_its_output_and_exit_code(
    tmp_path: Path, words: list[str], before: str, expected: tuple[int, bytes], *, ends_early: bool
) -> None:
    (tmp_path / "MEMORY.md").write_text("# Garden\n\nfrost tonight\n", encoding="utf-8")
    # Coverage observes a process. Standard output is buffered, unless a variable forbids it.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "PYTHON"))}
    done = subprocess.run(
        [
            *(sys.executable, "-c", USUAL_END.format(before=before)),
            *(word.format(folder=tmp_path) for word in words),
        ],
        capture_output=True,
        check=False,
        timeout=60,
        env=kept | {"NOTEWELL_STATE_DIR": str(tmp_path / "state")},
    )
    code, output = expected
    assert done.returncode == code, done.stderr
    assert output in done.stdout
    assert (b"the usual end" not in done.stdout) == ends_early
