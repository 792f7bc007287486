"""Every way in which QMD can fail: what the user is told, and how long that takes."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.qmd.conftest import MakeQmd
from tests.qmd.processes import await_end_of, group_of

from notewell.errors import BackendFailed
from notewell.qmd import Qmd, QmdFailed, QmdHome, QmdModels, QmdSettings, collections_of
from notewell.qmd.driver import update_lock
from notewell.qmd.failures import error_line

TIMEOUT_S = 0.6
LOADED_S = 30.0
"""What a loaded machine may add."""
HANG = "time.sleep(600)"


@contextmanager
def promptly(timeout_s: float = TIMEOUT_S) -> Iterator[None]:
    """A failure comes when its deadline does; what hangs here hangs for `HANG`, ten minutes."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < timeout_s + LOADED_S


def failure_of(call: Callable[[], object], timeout_s: float = TIMEOUT_S) -> QmdFailed:
    with promptly(timeout_s), pytest.raises(QmdFailed) as failed:
        call()
    told = failed.value
    assert isinstance(told, BackendFailed)
    assert str(told) == f"qmd did not answer ({told.kind}): {told.why}; {told.action}"
    return told


def search_failure(qmd: Qmd) -> QmdFailed:
    return failure_of(lambda: qmd.search("router", 6), qmd.settings.timeout_s)


def test_a_program_that_is_not_there(workspace: Path, home: QmdHome) -> None:
    settings = QmdSettings(command="no-such-qmd")
    qmd = Qmd(settings, home, collections_of(workspace, "main", settings, home.sessions))
    calls = (lambda: qmd.search("router", 6), qmd.update, qmd.embed, qmd.check)
    for call in calls:
        told = failure_of(call)
        assert told.kind == "binary-missing"
        assert "no program 'no-such-qmd'" in told.why
        assert "memory.qmd.command" in told.action


@pytest.mark.parametrize(
    ("first_line", "said"),
    [
        ("this is no program", "Exec format error"),
        ("#!/nonexistent/node", "No such file or directory"),
        ("#!/usr/bin/env no-such-node", "no-such-node"),
    ],
)
def test_a_program_that_does_not_start(
    make_fake: MakeQmd, tmp_path: Path, first_line: str, said: str
) -> None:
    qmd = make_fake("", timeout_s=30.0)
    program = tmp_path / "fake-qmd"
    program.write_text(f"{first_line}\n", "utf-8")
    told = search_failure(qmd)
    assert told.kind == "spawn-failed"
    assert said in told.why
    assert "node 22" in told.action


@pytest.mark.parametrize(
    "script",
    [
        HANG,
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {HANG}",
        f"print('[', flush=True); {HANG}",
        f"os.close(1); os.close(2); {HANG}",
        f"os.fork(); {HANG}",
        f"if os.fork(): os._exit(0)\n{HANG}",
    ],
    ids=["silent", "deaf", "half an answer", "closed pipes", "two", "an orphan"],
)
def test_a_program_that_hangs_is_ended_with_all_it_started(
    make_fake: MakeQmd, tmp_path: Path, script: str
) -> None:
    note = tmp_path / "group"
    begin = f"open({str(note)!r}, 'w').write(str(os.getpgrp()))"
    for timeout_s in (1.0, 8.0, 64.0):
        told = search_failure(make_fake(f"{begin}\n{script}", timeout_s=timeout_s))
        assert told.kind == "timeout"
        assert "no answer within" in told.why
        if note.exists() and note.read_text("utf-8"):
            break  # Otherwise the program did not begin in time: the machine is busy.
    leader = int(note.read_text("utf-8"))
    await_end_of(group_of(leader))
    assert group_of(leader) == []


@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("command_timeout_s", lambda qmd: qmd.version()),
        ("update_timeout_s", lambda qmd: qmd.update()),
        ("embed_timeout_s", lambda qmd: qmd.embed()),
    ],
)
def test_each_kind_of_command_has_the_timeout_of_its_setting(
    make_fake: MakeQmd, home: QmdHome, field: str, call: Callable[[Qmd], object]
) -> None:
    home.models.mkdir()
    (home.models / "hf_ggml-org_Some-Model-Q8_0.gguf").touch()
    models = QmdModels(embed="hf:ggml-org/Some-GGUF/some-model-Q8_0.gguf")
    long_s = dict.fromkeys(("command_timeout_s", "update_timeout_s", "embed_timeout_s"), 500.0)
    qmd = make_fake(HANG, models=models, **long_s | {field: TIMEOUT_S})
    assert failure_of(lambda: call(qmd)).kind == "timeout"


def test_an_exit_code_comes_with_the_line_that_says_why(make_fake: MakeQmd) -> None:
    script = """
    print("Warning: 2 documents need embeddings", file=sys.stderr)
    print("file:///x/getLlama.js:293\\n  throw new X();\\n", file=sys.stderr)
    print("\\x1b[?25lNoBinaryFoundError: no binary\\n    at getLlama (x:1:2)", file=sys.stderr)
    sys.exit(3)
    """
    told = search_failure(make_fake(script))
    assert (told.kind, told.code) == ("exit", 3)
    assert told.why == "`qmd search` ended with exit code 3: NoBinaryFoundError: no binary"


def test_a_program_that_is_killed_is_an_exit_by_signal(make_fake: MakeQmd) -> None:
    told = search_failure(make_fake("os.kill(os.getpid(), 9)"))
    assert told.kind == "exit"
    assert "signal 9" in told.why


@pytest.mark.parametrize(
    "script",
    [
        "print('Searching...')",
        "pass",
        "print('[{\"file\":')",
        "print('{}')",
        "print('[1]')",
        "print('[{\"line\": 3}]')",
        "print('[' * 200_000)",
        "sys.stdout.buffer.write(bytes(range(256)))",
    ],
    ids=["text", "nothing", "cut off", "object", "number", "no file", "deep", "bytes"],
)
def test_an_answer_that_is_none(make_fake: MakeQmd, script: str) -> None:
    told = search_failure(make_fake(script, timeout_s=30.0))
    assert told.kind == "bad-json"
    assert "2.8" in told.action


def test_an_endless_answer_is_cut_and_its_program_ended(make_fake: MakeQmd) -> None:
    told = search_failure(make_fake("while True: print('x' * 10_000)", timeout_s=30.0))
    assert told.kind == "output-too-large"
    assert "800000 bytes" in told.why


def test_much_noise_beside_a_good_answer_does_no_harm(make_fake: MakeQmd) -> None:
    script = "sys.stderr.write('noise\\n' * 2_000_000); print('[]')"
    assert make_fake(script, timeout_s=20.0).search("router", 6) == ()


def test_an_empty_answer_is_no_failure(make_fake: MakeQmd) -> None:
    assert make_fake("print('[]')", timeout_s=30.0).search("router", 6) == ()


@pytest.mark.parametrize(
    "said", ["SqliteError: database is locked", "SQLITE_CONSTRAINT_PRIMARYKEY: UNIQUE failed"]
)
def test_an_index_in_use_is_busy(make_fake: MakeQmd, said: str) -> None:
    qmd = make_fake(f"sys.exit({said!r})")
    told = failure_of(qmd.update)
    assert told.kind == "busy"
    assert "another process" in told.why


def test_a_second_update_waits_its_turn_and_then_says_so(home: QmdHome) -> None:
    home.prepare((), QmdModels(), None)
    with update_lock(home.lock, wait_s=0):
        told = failure_of(lambda: update_lock(home.lock, wait_s=0.1).__enter__())
        assert told.kind == "busy"
    with update_lock(home.lock, wait_s=0):
        pass


def test_a_failed_update_frees_the_lock(make_fake: MakeQmd, home: QmdHome) -> None:
    failure_of(make_fake("sys.exit(1)").update)
    with update_lock(home.lock, wait_s=0):
        pass


def test_a_search_before_the_first_update(make_fake: MakeQmd, home: QmdHome) -> None:
    qmd = make_fake(HANG)
    home.index.unlink()
    told = search_failure(qmd)
    assert told.kind == "no-index"
    assert "notewell index" in told.action


def index_with(home: QmdHome, vectors: int) -> None:
    home.prepare((), QmdModels(), None)
    connection = apsw.Connection(str(home.index))
    connection.execute("CREATE TABLE content_vectors (hash TEXT)")
    connection.executemany("INSERT INTO content_vectors VALUES (?)", [("x",)] * vectors)
    connection.close()


@pytest.mark.parametrize("mode", ["vsearch", "query"])
def test_no_vectors_is_told_without_starting_anything(
    make_fake: MakeQmd, home: QmdHome, mode: str
) -> None:
    index_with(home, 0)
    told = search_failure(make_fake(HANG, search_mode=mode))
    assert told.kind == "no-vectors"
    assert "searchMode: search" in told.action


@pytest.mark.parametrize("mode", ["vsearch", "query"])
def test_no_models_is_told_without_starting_anything(
    make_fake: MakeQmd, home: QmdHome, mode: str
) -> None:
    index_with(home, 1)
    told = search_failure(make_fake(HANG, search_mode=mode))
    assert told.kind == "no-models"
    assert "'/nonexistent/e.gguf'" in told.why
    assert "qmd pull" in told.action


def test_with_vectors_and_models_the_question_is_asked(
    make_fake: MakeQmd, home: QmdHome, tmp_path: Path
) -> None:
    index_with(home, 1)
    home.models.mkdir()
    (home.models / "hf_ggml-org_Some-Model-Q8_0.gguf").touch()
    models = QmdModels(embed="hf:ggml-org/Some-GGUF/some-model-Q8_0.gguf")
    asked = tmp_path / "asked"
    script = f"json.dump(args, open({str(asked)!r}, 'w')); print('[]')"
    qmd = make_fake(script, search_mode="vsearch", models=models, timeout_s=30.0)
    assert qmd.search("where is --help\nit?", 3) == ()
    assert asked.read_text("utf-8").endswith('"--", "where is help it?"]')


def test_a_home_that_cannot_be_written_names_itself(make_fake: MakeQmd, home: QmdHome) -> None:
    qmd = make_fake("print('[]')")
    shutil.rmtree(home.path)
    home.path.write_text("a file where a folder should be", "utf-8")
    told = search_failure(qmd)
    assert told.kind == "not-writable"
    assert told.why == f"cannot write to {str(home.path)!r}: file exists"
    assert "--state-dir" in told.action


def test_a_caller_who_gives_up_leaves_nothing_behind(make_fake: MakeQmd, tmp_path: Path) -> None:
    """And it is no failure of QMD: what interrupted us is what the caller sees."""
    note = tmp_path / "group"
    script = f"open({str(note)!r}, 'w').write(str(os.getpgrp())); os.kill({os.getpid()}, 10)"
    qmd = make_fake(f"{script}\n{HANG}", timeout_s=30.0)

    def give_up(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, give_up)
    try:
        with promptly(2.0), pytest.raises(KeyboardInterrupt):
            qmd.search("router", 6)
    finally:
        signal.signal(signal.SIGUSR1, before)
    leader = int(note.read_text("utf-8"))
    await_end_of(group_of(leader))
    assert group_of(leader) == []


def test_the_program_sees_no_secret_and_no_terminal(make_fake: MakeQmd, tmp_path: Path) -> None:
    note = tmp_path / "seen"
    script = f"""
    seen = [os.environ, sys.stdin.read(), os.getcwd()]
    json.dump([dict(seen[0]), *seen[1:]], open({str(note)!r}, "w")); print("[]")
    """
    secrets = {
        "OPENAI_API_KEY": "sk-1",
        "QMD_HOST": "0.0.0.0",
        "INDEX_PATH": "/x",
        "HF_TOKEN": "h",
    }
    os.environ.update(secrets)
    try:
        qmd = make_fake(script, timeout_s=30.0)
        qmd.search("router", 6)
    finally:
        for name in secrets:
            del os.environ[name]
    text = note.read_text("utf-8")
    assert "sk-1" not in text
    assert "0.0.0.0" not in text
    assert '"INDEX_PATH"' not in text
    assert '"HF_TOKEN": "h"' in text
    assert text.endswith(f'"", "{qmd.home.path}"]')


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("", ""),
        ("Collection not found: x\n", "Collection not found: x"),
        ("Warning: a\nError: b\nError: c\n", "Error: b"),
        ("x\x07y\x1b[31m red\n", "xy red"),
        ("a" * 1000, "a" * 300),
    ],
)
def test_the_line_that_is_shown(stderr: str, line: str) -> None:
    assert error_line(stderr) == line
