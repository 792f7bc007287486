"""A server that misbehaves: what is asked of it is answered by a command, or fails in time."""

from __future__ import annotations

import os
import signal
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.qmd.conftest import MakeQmd
from tests.qmd.processes import await_end_of, group_of
from tests.qmd.test_failures import failure_of, promptly, search_failure

from notewell.qmd import Qmd, QmdFailed, QmdHome
from notewell.qmd.daemon import Daemon
from notewell.qmd.failures import backoff_s
from notewell.qmd.process import Program

FOUND = '[{"file": "qmd://memory-root-main/MEMORY.md", "line": 2, "snippet": "by command"}]'

SERVER = """
if "mcp" not in args:
    print({found!r})
    sys.exit()
import socket, threading
port = int(args[args.index("--port") + 1])
listener = socket.create_server(("127.0.0.1", port))

def body(text, status="200 OK"):
    head = f"HTTP/1.1 {{status}}\\r\\nContent-Length: {{len(text)}}\\r\\n\\r\\n"
    return (head + text).encode()

def found(text):
    row = {{"file": "qmd://memory-root-main/MEMORY.md", "line": 2, "snippet": "2: " + text}}
    return body(json.dumps({{"results": [row]}}))

def answer(line, request):
{answer}

def serve(line):
    with line:
        request = line.recv(100_000)
        if b"/health" in request and {is_well!r}:
            line.sendall(body("{{}}"))
        else:
            answer(line, request)

print(f"QMD MCP server listening on http://127.0.0.1:{{port}}/mcp", file=sys.stderr, flush=True)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1]).start()
"""


def server(answer: str, *, is_well: bool = True) -> str:
    lines = textwrap.indent(textwrap.dedent(answer), "    ")
    return SERVER.format(found=FOUND, answer=lines, is_well=is_well)


def first_snippet(qmd: object) -> str:
    snippet = qmd.search("router", 6)[0].snippet  # type: ignore[attr-defined]
    assert isinstance(snippet, str)
    return snippet


def test_a_server_that_answers_is_asked_again(make_fake: MakeQmd) -> None:
    qmd = make_fake(server("line.sendall(found(str(os.getpid())))"), daemon=True, timeout_s=60.0)
    assert first_snippet(qmd) == first_snippet(qmd)
    assert qmd.daemon_failure is None


def test_a_chunked_answer_is_read(make_fake: MakeQmd) -> None:
    answer = """
    text = found("by server").split(b"\\r\\n\\r\\n", 1)[1]
    line.sendall(b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
    for at in range(0, len(text), 7):
        piece = text[at:at + 7]
        line.sendall(b"%x\\r\\n%s\\r\\n" % (len(piece), piece))
    line.sendall(b"0\\r\\n\\r\\n")
    """
    qmd = make_fake(server(answer), daemon=True, timeout_s=60.0)
    assert first_snippet(qmd) == "by server"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("pass", "ended in the middle of a question"),
        ("line.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Le')", "cut off or no HTTP"),
        ("line.sendall(body('x' * 90)[:-50])", "cut off or no HTTP"),
        ("line.sendall(b'Go away.\\n')", "cut off or no HTTP"),
        ("line.sendall(body('Internal Server Error', '500 Oh'))", "HTTP 500: Internal Server"),
        ("os._exit(1)", "ended in the middle of a question"),
        ("os.kill(os.getpid(), 9)", "ended in the middle of a question"),
        ("line.sendall(b'x' * 3_000_000)", "more than 2000000 bytes"),
    ],
    ids=["hangs up", "half a head", "half a body", "no HTTP", "500", "exits", "killed", "huge"],
)
def test_a_command_answers_where_the_server_does_not(
    make_fake: MakeQmd, answer: str, why: str
) -> None:
    qmd = make_fake(server(answer), daemon=True, timeout_s=60.0)
    with promptly(10.0):
        assert first_snippet(qmd) == "by command"
    assert qmd.daemon_failure is not None
    assert why in qmd.daemon_failure.why


def test_garbage_from_the_server_is_not_believed(make_fake: MakeQmd) -> None:
    qmd = make_fake(server("line.sendall(body('[1, 2]'))"), daemon=True, timeout_s=60.0)
    assert first_snippet(qmd) == "by command"


def listening(qmd: Qmd) -> Qmd:
    """Its server runs: how long a busy machine takes for that must not count below."""
    assert qmd._daemon
    qmd._daemon._ready(60.0)
    return qmd


DRIP = """
line.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000000\\r\\n\\r\\n")
while True:
    line.sendall(b" ")
    time.sleep(0.02)
"""


@pytest.mark.parametrize(
    "answer",
    ["time.sleep(600)", DRIP, DRIP.replace("Content-Length: 1000000\\r\\n\\r\\n", "X: ")],
    ids=["silent", "dripping body", "dripping head"],
)
def test_a_slow_server_is_a_timeout_and_stays_if_it_is_well(
    make_fake: MakeQmd, answer: str
) -> None:
    """It may be loading a model: to kill it would mean to begin again, every time."""
    qmd = listening(make_fake(server(answer), daemon=True, timeout_s=3.0))
    told = search_failure(qmd)
    assert told.kind == "timeout"
    assert told.why == "the qmd server gave no answer within 3 s"
    assert qmd.daemon_pid is not None


def test_a_server_that_hears_nothing_is_ended(make_fake: MakeQmd) -> None:
    hangs = server("time.sleep(600)", is_well=False)
    qmd = listening(make_fake(hangs, daemon=True, timeout_s=3.0))
    told = search_failure(qmd)
    assert told.kind == "timeout"
    assert qmd.daemon_pid is None


def test_a_server_that_is_slow_to_start_goes_on_for_the_next_question(make_fake: MakeQmd) -> None:
    """The command answers meanwhile; `gate` holds the server back until then."""
    slow = server("line.sendall(found('by server'))").replace(
        "listener =", 'open(os.environ["XDG_CACHE_HOME"] + "/gate").close()\nlistener =', 1
    )
    qmd = make_fake(slow, daemon=True, timeout_s=12.0)
    qmd.check()
    gate = qmd.home.path / "xdg-cache" / "gate"
    os.mkfifo(gate)
    assert first_snippet(qmd) == "by command"
    pid = qmd.daemon_pid
    gate.open("w", encoding="utf-8").close()
    assert first_snippet(listening(qmd)) == "by server"
    assert qmd.daemon_pid == pid


def test_one_that_logs_much_is_not_stopped_by_it(make_fake: MakeQmd) -> None:
    answer = "sys.stderr.write('noise\\n' * 50_000); line.sendall(found('by server'))"
    qmd = make_fake(server(answer), daemon=True, timeout_s=60.0)
    assert [first_snippet(qmd) for _ in range(3)] == ["by server"] * 3


class Hand:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def make_daemon(
    fake_qmd: Callable[[str], Path], home: QmdHome
) -> Iterator[Callable[..., tuple[Daemon, Hand]]]:
    made: list[Daemon] = []

    def make(script: str, start_s: float = 10.0) -> tuple[Daemon, Hand]:
        home.path.mkdir(parents=True, exist_ok=True)
        hand = Hand()
        program = Program(str(fake_qmd(script)), home.path, dict(os.environ))
        made.append(Daemon(program, start_s=start_s, monotonic_s=hand))
        return made[-1], hand

    yield make
    for one in made:
        one.close()


def test_a_server_that_cannot_start_is_left_alone_for_a_while(
    make_daemon: Callable[..., tuple[Daemon, Hand]], tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    script = f"open({str(starts)!r}, 'a').write('x'); sys.exit('Error: Port 1 already in use')"
    daemon, clock = make_daemon(script)
    for failures in (1, 2, 3):
        told = failure_of(lambda: daemon.ask({}, 60.0), 60.0)
        assert told.kind == "exit"
        assert "Port 1 already in use" in told.why
        clock.now += backoff_s(failures) - 1
        told = failure_of(lambda: daemon.ask({}, 60.0))
        assert told.kind == "spawn-failed"
        assert "tried again in 1 s" in told.why
        assert starts.read_text("utf-8") == "x" * failures
        clock.now += 1


def test_a_server_that_never_listens_is_ended_when_its_time_is_up(
    make_daemon: Callable[..., tuple[Daemon, Hand]],
) -> None:
    daemon, clock = make_daemon("time.sleep(600)", start_s=10.0)
    told = failure_of(lambda: daemon.ask({}, 0.3), 0.3)
    assert "still starting" in told.why
    pid = daemon.pid
    assert pid is not None
    clock.now = 10.0
    told = failure_of(lambda: daemon.ask({}, 0.3), 0.3)
    assert told.kind == "spawn-failed"
    assert "not ready within 10 s" in told.why
    await_end_of(group_of(pid))
    assert group_of(pid) == []


def test_a_server_that_was_killed_is_started_again_by_the_next_question(
    make_daemon: Callable[..., tuple[Daemon, Hand]],
) -> None:
    daemon, _ = make_daemon(server("line.sendall(found('hi'))"))
    assert b"hi" in daemon.ask({}, 60.0)
    pid = daemon.pid
    assert pid is not None
    members = group_of(pid)
    os.killpg(pid, signal.SIGKILL)
    await_end_of(members)
    try:
        answer = daemon.ask({}, 60.0)  # It may not have been noticed yet,
    except QmdFailed:
        answer = daemon.ask({}, 60.0)  # but then it is by the next one.
    assert b"hi" in answer
    assert daemon.pid not in (None, pid)
