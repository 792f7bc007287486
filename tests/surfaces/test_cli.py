"""The command line: data to standard output, the rest to standard error, codes with a meaning."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notewell.cli import main
from notewell.cli.parser import build_parser
from notewell.errors import IndexBusy
from notewell.index.sqlite import SqliteStore
from notewell.memory import Memory
from notewell.stores import index_dir
from notewell.sync import SyncReport

CLOSED = "http://127.0.0.1:9"
"""The discard port: nothing listens there."""


class Cli:
    """Runs a command in this process, in a workspace of its own."""

    def __init__(self, workspace: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.workspace = workspace
        self.state = state
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, command: str, *arguments: str) -> int:
        place = ["-w", str(self.workspace), "--state-dir", str(self.state)]
        code = main([command, *place, *arguments])
        self.out, self.err = self.capsys.readouterr()
        return code

    def json(self, command: str, *arguments: str) -> dict[str, Any]:
        self(command, "--json", *arguments)
        told: dict[str, Any] = json.loads(self.out)
        assert told.pop("version") == 1
        return told


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    text = "# Decisions\n\nWe store readings in SQLite.\n"
    (workspace / "MEMORY.md").write_text(text, encoding="utf-8")
    (workspace / "memory" / "2026-11-15.md").write_text("- frost tonight\n", encoding="utf-8")
    return Cli(workspace, tmp_path / "state", capsys)


def test_index_then_search_shows_the_lines(cli: Cli) -> None:
    assert cli("index") == 0
    assert cli.out.startswith("2 notes, 2 chunks: 2 written, 0 forgotten, 0 unchanged, 2 vectors")
    assert cli("search", "where", "are", "readings", "stored?") == 0
    assert cli.out.startswith("MEMORY.md#L1-L3  0.")
    assert "    We store readings in SQLite." in cli.out
    assert cli.err == ""


def test_one_note_is_counted_as_one_note(cli: Cli) -> None:
    (cli.workspace / "memory" / "2026-11-15.md").unlink()
    said = ""
    for command in (("search", "readings"), ("index",), ("status",), ("doctor",)):
        assert cli(*command) == 0
        said += cli.out + cli.err
    assert "1 note, 1 chunk" in said
    assert re.findall(r"\b1 (?:notes|chunks|vectors|folders)\b", said) == []


def test_search_as_json_has_the_promised_shape(cli: Cli) -> None:
    cli("index")
    told = cli.json("search", "readings")
    hit = told["results"][0]
    assert (hit["path"], hit["startLine"], hit["endLine"]) == ("MEMORY.md", 1, 3)
    assert hit["source"] == "memory"
    assert 0 < hit["score"] <= 1
    assert "SQLite" in hit["snippet"]
    assert (told["mode"], told["provider"]) == ("hybrid", "embedded")
    assert told["model"] == "notewell-embed-1"
    assert "parts" not in hit
    assert "parts" in cli.json("search", "--explain", "readings")["results"][0]


def test_explain_says_what_each_leg_thought(cli: Cli) -> None:
    cli("index")
    cli("search", "--explain", "readings")
    assert "words 0." in cli.out
    assert "meaning 0." in cli.out
    cli("search", "--explain", "--mode", "keyword", "readings")
    assert "meaning –" in cli.out


def test_explain_names_the_lines_that_are_nearest(cli: Cli) -> None:
    lines = [f"- Day {day}: bread, milk, and a walk along the river." for day in range(12)]
    lines.insert(7, "- The boiler man comes on the ninth of March, before noon.")
    note = cli.workspace / "memory" / "long.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("\n".join(lines), encoding="utf-8")
    cli("index")
    told = cli.json("search", "--explain", "when does the boiler man come?")
    (hit,) = [one for one in told["results"] if one["path"] == "memory/long.md"]
    window = hit["parts"]["window"]
    assert window["startLine"] <= 8 <= window["endLine"] < 12
    assert 0 < window["vector"] <= 1
    cli("search", "--explain", "when does the boiler man come?")
    assert f"nearest lines L{window['startLine']}-L{window['endLine']} 0." in cli.out


def test_a_first_search_answers_by_words_and_the_next_one_by_meaning_too(cli: Cli) -> None:
    assert cli("search", "readings") == 0
    assert "MEMORY.md" in cli.out
    assert cli.err.startswith("keyword: the notes were indexed just now; vectors are computed")
    assert "computing vectors for the next search" in cli.err
    # It is done here, so the user has nothing to run.
    assert "run `notewell index`" not in cli.err
    assert cli.json("search", "readings")["mode"] == "hybrid"


def test_a_first_search_without_hits_is_3(cli: Cli) -> None:
    assert cli("search", "zebra") == 3
    assert "nothing found" in cli.err


def test_a_first_search_whose_vectors_cannot_be_computed_is_degraded(cli: Cli) -> None:
    settings = {"memorySearch": {"provider": "ollama", "remote": {"baseUrl": CLOSED}}}
    (cli.state / "config").mkdir(parents=True)
    file = cli.state / "config" / "notewell.json"
    file.write_text(json.dumps({"agents": {"defaults": settings}}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NOTEWELL_CONFIG", str(file))
        assert cli("search", "readings") == 5
    assert "MEMORY.md" in cli.out
    assert "ollama" in cli.err


def test_a_first_search_keeps_its_answer_if_another_process_writes_the_index(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = Memory.sync

    def busy_with_vectors(self: Memory, *, vectors: bool = True, **options: Any) -> SyncReport:
        if vectors:
            raise IndexBusy("the index", "process 7", 10.0)
        return sync(self, vectors=False, **options)

    monkeypatch.setattr(Memory, "sync", busy_with_vectors)
    assert cli("search", "readings") == 5
    assert "MEMORY.md" in cli.out
    assert "process 7" in cli.err


def test_a_first_search_by_keyword_computes_no_vectors(cli: Cli) -> None:
    assert cli("search", "--mode", "keyword", "readings") == 0
    assert cli.err == ""
    assert cli.json("search", "readings")["mode"] == "keyword"


def test_nothing_found_is_3_and_says_why(cli: Cli) -> None:
    cli("index")
    assert cli("search", "--mode", "keyword", "zebra") == 3
    assert cli.out == ""
    assert cli.json("search", "--mode", "keyword", "zebra")["reason"] == (
        "no chunk contains any of these words"
    )


def test_degraded_is_5_and_says_why(cli: Cli) -> None:
    assert cli("index", "--text-only") == 0
    assert "2 chunks without a vector" in cli.err
    assert cli("search", "readings") == 5
    assert "MEMORY.md" in cli.out
    assert cli.err.startswith("keyword: none of 2 chunks has a vector yet")


def test_russian_is_asked_by_keyword_without_being_degraded(cli: Cli) -> None:
    (cli.workspace / "memory" / "сад.md").write_text("Лимон боится мороза.", encoding="utf-8")
    cli("index")
    assert cli("search", "что делать в мороз") == 0
    assert "memory/сад.md" in cli.out
    assert "reads Latin and Chinese scripts only" in cli.err


def test_chinese_and_english_find_each_other(cli: Cli) -> None:
    (cli.workspace / "memory" / "温室.md").write_text("柠檬树怕霜冻。", encoding="utf-8")
    (cli.workspace / "memory" / "server.md").write_text(
        "The backup of the database runs every night at three.", encoding="utf-8"
    )
    cli("index")
    assert cli("search", "数据库什么时候备份？") == 0
    assert cli.out.startswith("memory/server.md")
    assert cli("search", "Are lemon trees afraid of frost?") == 0
    assert cli.out.startswith("memory/温室.md")
    assert cli.err == ""


def test_get_reads_lines_and_citations(cli: Cli) -> None:
    assert cli("get", "MEMORY.md") == 0
    assert cli.out == "# Decisions\n\nWe store readings in SQLite.\n"
    assert cli("get", "MEMORY.md#L3-L3") == 0
    assert cli.out == "We store readings in SQLite.\n"
    assert cli("get", "MEMORY.md", "--from", "3", "--lines", "1") == 0
    assert cli.out == "We store readings in SQLite.\n"
    assert cli.json("get", "MEMORY.md#L1")["nextFrom"] == 2


def test_get_beyond_the_end_says_so(cli: Cli) -> None:
    assert cli("get", "MEMORY.md", "--from", "9") == 3
    assert (cli.out, cli.err) == ("", "MEMORY.md has 3 lines; there is no line 9\n")
    assert cli("get", "MEMORY.md#L5-L2") == 2
    assert "ends before it begins" in cli.err


def test_get_of_a_long_note_says_where_to_go_on(cli: Cli) -> None:
    (cli.workspace / "MEMORY.md").write_text("x\n" * 200, encoding="utf-8")
    cli("get", "MEMORY.md")
    assert cli.err == "read on with --from 121 (200 lines in all)\n"
    (cli.workspace / "MEMORY.md").write_text("x" * 20_000, encoding="utf-8")
    cli("get", "MEMORY.md")
    place = "MEMORY.md#L1C12001"
    assert cli.err == f"line 1 is too long to show whole: read on with {place!r}\n"
    cli("get", place)
    assert cli.out == "x" * 8000 + "\n"


def test_errors_are_one_line_and_json_carries_their_kind(cli: Cli) -> None:
    assert cli("get", "../secret.md") == 1
    assert cli.out == ""
    assert cli.err.startswith("notewell: '../secret.md' is not a note of this memory")
    told = cli.json("get", "../secret.md")
    assert told["error"]["kind"] == "NotANote"


def test_a_missing_workspace_is_1(cli: Cli) -> None:
    cli.workspace = cli.workspace / "nowhere"
    assert cli("search", "x") == 1
    assert "no such folder" in cli.err


def test_a_busy_index_is_75_and_says_who_is_at_work(cli: Cli) -> None:
    cli("index", "--text-only")
    index = SqliteStore(index_dir(cli.state, "main", cli.workspace), "segments")
    with index.writing(wait_s=0):
        assert cli("index", "--wait", "0") == 75
        assert f"(process {os.getpid()}, since" in cli.err
        assert cli("search", "--mode", "keyword", "readings") == 0


def test_wrong_usage_is_2(cli: Cli) -> None:
    for arguments in (["nonsense"], ["search"], ["search", "-n", "many", "x"]):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2


def test_status_tells_and_as_json_too(cli: Cli) -> None:
    assert cli("status") == 0
    assert "notes       2 on disk, none indexed" in cli.out
    cli("index")
    assert cli("status") == 0
    assert "notes       2 indexed, 2 on disk" in cli.out
    told = cli.json("status")
    assert (told["state"], told["files"], told["chunks"], told["dirty"]) == ("ready", 2, 2, 0)
    assert told["sources"] == ["memory"]
    assert told["sourceCounts"] == [{"source": "memory", "eligible": 2, "files": 2, "chunks": 2}]


def test_status_of_a_damaged_index_is_5(cli: Cli) -> None:
    cli("index")
    for file in cli.state.rglob("index-*.sqlite"):
        file.write_bytes(b"x" * 5000)
    assert cli("status") == 5
    assert "problem" in cli.out
    assert cli("index") == 0
    assert "the old index was damaged" in cli.err


def test_status_names_what_is_left_out_and_what_comes_next(cli: Cli) -> None:
    (cli.workspace / "memory" / "link.md").symlink_to(cli.workspace / "MEMORY.md")
    config = '{"agents": {"defaults": {"memorySearch": {"extraPaths": ["docs"]}}}}'
    (cli.workspace / "notewell.json").write_text(config, encoding="utf-8")
    cli("index", "--text-only")
    (cli.workspace / "MEMORY.md").write_text("changed to something longer", encoding="utf-8")
    cli("status")
    assert "next sync   1 note to catch up with" in cli.out
    assert "left out    memory/link.md: " in cli.out
    assert "extra path  docs" in cli.out
    config = '{"agents": {"defaults": {"memorySearch": {"chunking": {"tokens": 99}}}}}'
    (cli.workspace / "notewell.json").write_text(config, encoding="utf-8")
    cli("status")
    assert "next sync   builds a new index: chunk tokens changed from 200 to 99" in cli.out


def test_index_lists_what_it_could_not_take(cli: Cli) -> None:
    for number in range(30):
        (cli.workspace / "memory" / f"l{number}.md").symlink_to("/nowhere")
    (cli.workspace / "memory" / "broken.md").write_bytes(b"caf\xe9")
    assert cli("index", "--text-only") == 0
    assert cli.err.count("left out: memory/l") == 20
    assert "left out: 10 more (--json lists them)" in cli.err
    assert (
        "read with a repair, the file stays as it is: memory/broken.md: 1 byte was not valid UTF-8"
        in cli.err
    )
    assert len(cli.json("index", "--text-only")["ignored"]) == 30


def test_init_takes_in_the_markdown_that_is_there(cli: Cli, tmp_path: Path) -> None:
    cli.workspace = tmp_path / "docs"
    (cli.workspace / "guide").mkdir(parents=True)
    (cli.workspace / "guide" / "a.md").write_text("zebra", encoding="utf-8")
    assert cli("init") == 0
    assert "1 note in" in cli.out
    before = (cli.workspace / "notewell.json").read_bytes()
    cli("index")
    cli("search", "zebra")
    assert cli.out.startswith("guide/a.md#L1-L1")
    assert cli("init") == 0
    assert cli("init", "--extra", "guide") == 2
    assert "is already there" in cli.err
    assert cli("init", "--extra", "nowhere") == 2
    assert "there is no 'nowhere' to take in" in cli.err
    assert (cli.workspace / "notewell.json").read_bytes() == before


def test_init_starts_an_empty_folder_and_leaves_a_full_one_alone(cli: Cli, tmp_path: Path) -> None:
    cli.workspace = tmp_path / "empty"
    cli.workspace.mkdir()
    assert cli("index") == 0
    assert "no notes in" in cli.err
    assert cli.json("init")["notes"] == 1
    assert sorted(path.name for path in cli.workspace.iterdir()) == ["MEMORY.md", "memory"]
    before = (cli.workspace / "MEMORY.md").read_bytes()
    assert cli("init") == 0
    assert (cli.workspace / "MEMORY.md").read_bytes() == before


@pytest.mark.parametrize("torn", ["", '{"agents": {"defa'])
def test_a_torn_settings_file_of_the_workspace_is_told_and_stops_nothing(
    cli: Cli, tmp_path: Path, torn: str
) -> None:
    for note in cli.workspace.rglob("*.md"):
        note.unlink()
    (cli.workspace / "docs").mkdir()
    (cli.workspace / "docs" / "plan.md").write_text("We ship on Friday.\n", encoding="utf-8")
    (cli.workspace / "notewell.json").write_text(torn, encoding="utf-8")
    ignored = "ignored: 1 mistake in the workspace's settings file"
    assert cli("init") == 5
    assert ignored in cli.err
    assert cli("append", "The router is red.") == 0
    assert ignored in cli.err
    assert cli("search", "router") == 5
    assert ignored in cli.err
    assert "The router is red." in cli.out
    assert (cli("index"), cli("status")) == (5, 5)
    assert cli("search", "router") == 5
    assert cli("get", "docs/plan.md") == 1
    assert ignored in cli.err
    assert (cli.workspace / "notewell.json").read_text(encoding="utf-8") == torn


def test_an_answer_without_the_last_change_has_the_code_of_a_degraded_one(cli: Cli) -> None:
    assert cli("index") == 0
    (lock,) = cli.state.glob("memory/*/writer.lock")
    lock.unlink()
    lock.mkdir()
    assert cli("search", "frost") == 0
    (cli.workspace / "memory" / "2026-11-16.md").write_text("- thaw\n", encoding="utf-8")
    assert cli("search", "frost") == 5
    assert "could not be indexed" in cli.err


def test_init_takes_the_folder_as_an_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    state = ["--state-dir", str(tmp_path / "state")]
    assert main(["init", "~/notes", *state]) == 0
    assert (tmp_path / "notes" / "MEMORY.md").is_file()
    # As a host or a quoted word has it: no shell has expanded it.
    assert main(["get", "MEMORY.md", "-w", "~/notes", *state]) == 0
    assert "# Memory" in capsys.readouterr().out
    assert main(["init", "~/notes", "-w", "~/notes", *state]) == 2
    assert "name the folder once" in capsys.readouterr().err


def test_no_fallback_of_the_embedder_is_null(cli: Cli) -> None:
    embedder = cli.json("status")["embedder"]
    assert (embedder["used"], embedder["fallback"]) == ("embedded", None)


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in ("init", "index", "search", "get", "status", "model", "completion"):
        assert command in script


def test_a_reader_that_goes_away_is_no_error(cli: Cli) -> None:
    cli("index", "--text-only")
    place = ["-w", str(cli.workspace), "--state-dir", str(cli.state)]
    command = [sys.executable, "-m", "notewell", "get", *place, "MEMORY.md"]
    (cli.workspace / "MEMORY.md").write_text("x" * 10_000 + "\n" * 5, encoding="utf-8")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_answer_that_cannot_be_written_is_said_to_be(cli: Cli) -> None:
    place = ["-w", str(cli.workspace), "--state-dir", str(cli.state)]
    command = [sys.executable, "-m", "notewell", "get", *place, "MEMORY.md"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert told.returncode == 1
    assert told.stderr.startswith(b"notewell: cannot write the answer: No space left")


def test_a_closed_output_is_no_traceback(cli: Cli) -> None:
    shell = f'exec "$0" -m notewell get -w "{cli.workspace}" MEMORY.md >&-'
    told = subprocess.run(["sh", "-c", shell, sys.executable], capture_output=True, check=False)
    assert (told.returncode, told.stderr) == (0, b"")


def test_a_state_folder_below_a_file_is_told_not_raised(cli: Cli) -> None:
    cli.state = cli.workspace / "MEMORY.md" / "state"
    assert cli("status") == 5
    assert "MEMORY.md is not a folder" in cli.out
    assert cli("index") == 1
    assert "cannot write to" in cli.err


def test_a_folder_that_cannot_be_written_stops_init(cli: Cli, tmp_path: Path) -> None:
    cli.workspace = tmp_path / "empty"
    cli.workspace.mkdir()
    (cli.workspace / "memory").write_text("a file in the way", encoding="utf-8")
    assert cli("init") == 2
    assert "cannot write in" in cli.err


def test_an_empty_state_folder_is_refused(cli: Cli) -> None:
    assert main(["status", "-w", str(cli.workspace), "--state-dir", ""]) == 2


def test_a_model_that_is_there_is_not_fetched_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", "pull", "--state-dir", str(tmp_path)]) == 0
    assert "already there and sound" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_the_model_tells_nobody_that_it_runs(tmp_path: Path) -> None:
    program = "from notewell.embedders import open_embedded\n"
    program += "open_embedded().embed(['x'], 'query')\n"
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "c")}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_an_interrupt_says_that_nothing_is_lost(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("notewell.cli.search.run", interrupted)
    assert cli("search", "x") == 130
    assert "the last index are as they were" in cli.err


def test_every_command_can_be_asked_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("init", "index", "search", "get", "status", "model", "completion"):
        with pytest.raises(SystemExit) as stopped:
            build_parser(command).parse_args([command, "--help"])
        assert stopped.value.code == 0
    assert "which memory" in capsys.readouterr().out


def test_a_progress_bar_is_drawn_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from notewell import Progress
    from notewell.cli.output import ProgressBar

    quiet = ProgressBar()
    quiet.update(Progress(1, 2, "notes"))
    quiet.done()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = ProgressBar()
    bar.update(Progress(1, 2, "notes"))
    bar.done()
    assert "1/2 notes" in capsys.readouterr().err
