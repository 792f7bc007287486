"""QMD as the engine of a memory: through `open_memory`, as its users see it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.qmd.conftest import NO_MODELS, with_node

from notewell import Memory, open_memory
from notewell.config import Settings
from notewell.core import ConversationScope
from notewell.engines.qmd import QmdEngine
from notewell.errors import BackendFailed, ConversationDenied, NotANote
from notewell.qmd import ExtraFolder, QmdSettings, home_of
from notewell.testing import HashEmbedder
from notewell.tools import SearchInput, memory_search

NOW_NS = 1_794_700_000_000_000_000  # 15 November 2026

Open = Callable[..., Memory]


@pytest.fixture
def notes(workspace: Path) -> Path:
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe router ships on Friday.\n", "utf-8")
    (workspace / "memory" / "2026-11-01.md").write_text("# Day\n\nThe okapi slept.\n", "utf-8")
    return workspace


@pytest.fixture
def open_with(notes: Path, tmp_path: Path) -> Iterator[Open]:
    """A memory with QMD as its engine: `command` is the program."""
    with ExitStack() as stack:

        def opened(
            command: Path,
            fallback: str = "builtin",
            scope: ConversationScope | None = None,
            **told: Any,
        ) -> Memory:
            fixed: dict[str, Any] = {"models": NO_MODELS, "timeout_s": 30.0, "daemon": False}
            qmd = QmdSettings(**fixed | {"command": str(command)} | told)
            settings = Settings(
                qmd=qmd,
                scope=scope,
                fallback_engine="none" if fallback == "none" else "builtin",
            )
            memory = open_memory(
                notes,
                state_dir=tmp_path / "state",
                settings=settings,
                embedder=HashEmbedder(),
                environment=with_node(command),
                now_ns=lambda: NOW_NS,
            )
            return stack.enter_context(memory)

        yield opened


def transcript(state: Path, name: str, said: str, at: str) -> Path:
    folder = state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"type": "session", "id": f"id-{name}", "timestamp": at},
        {"type": "message", "timestamp": at, "message": {"role": "user", "content": said}},
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


# -- with the real program -----------------------------------------------------------------------


def test_what_is_synced_is_found_cited_and_read(open_with: Open, real_qmd: Path) -> None:
    memory = open_with(real_qmd, fallback="none")
    report = memory.sync()
    assert (report.written, report.forgotten, report.trouble) == (2, 0, None)
    answer = memory.search("When does the router ship?")
    assert (answer.mode, answer.provider, answer.notice) == ("keyword", "qmd", None)
    [hit] = answer.hits
    assert (hit.citation, hit.snippet) == ("MEMORY.md#L3-L3", "The router ships on Friday.")
    assert (hit.score, hit.source, hit.parts.text_rank) == (1.0, "memory", 1)
    assert memory.get(hit.path).text == "# Memory\n\nThe router ships on Friday."


def test_an_empty_answer_says_so_and_is_no_failure(open_with: Open, real_qmd: Path) -> None:
    memory = open_with(real_qmd)
    memory.sync()
    answer = memory.search("unobtainium")
    assert answer.hits == ()
    assert answer.provider == "qmd"
    assert answer.reason == "QMD found nothing for these words"


def test_filters_hold_for_what_qmd_finds_and_the_answer_says_how(
    open_with: Open, real_qmd: Path, notes: Path
) -> None:
    text = "---\ntags: [network]\n---\nThe router is new.\n"
    (notes / "memory" / "2026-11-02.md").write_text(text, "utf-8")
    memory = open_with(real_qmd, fallback="none")
    memory.sync()
    assert {hit.path for hit in memory.search("router").hits} == {
        "MEMORY.md",
        "memory/2026-11-02.md",
    }
    for filters in ("tag:network", "after:2026-11 before:2026-12", "path:memory/2026"):
        answer = memory.search(f"router {filters}")
        assert [hit.path for hit in answer.hits] == ["memory/2026-11-02.md"]
        assert answer.notice is not None
        assert "QMD knows no filters" in answer.notice
    assert memory.search("router tag:none").reason == (
        "QMD found nothing that fits tag:none for these words"
    )
    assert memory.search("tag:network").reason == (
        "QMD cannot list notes by filters alone: add words to look for"
    )


def test_hits_outside_the_workspace_are_read_back_by_their_name(
    open_with: Open, real_qmd: Path, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "deep" / "a.md").write_text("A tapir.\n", "utf-8")
    memory = open_with(real_qmd, paths=(ExtraFolder(str(docs), None, "docs"),))
    memory.sync()
    [hit] = memory.search("tapir").hits
    assert hit.path == "qmd/docs-main/deep/a.md"
    assert memory.get(hit.path).text == "A tapir."
    (docs / "deep" / "a.md").unlink()
    (docs / "deep" / "a.md").symlink_to("/etc/hostname")
    assert memory.search("tapir").hits == ()
    for path in (hit.path, "qmd/docs-main/../../x.md", "qmd/nobody/a.md"):
        with pytest.raises(NotANote):
            memory.get(path)


def test_sessions_are_exported_redacted_and_found(
    open_with: Open, real_qmd: Path, tmp_path: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"[:16]
    state = tmp_path / "state"
    transcript(state, "new", f"My token is {secret}, said the quagga.", "2026-11-14T08:00:00Z")
    old = transcript(state, "old", "An old quagga.", "2026-01-01T08:00:00Z")
    memory = open_with(real_qmd, export_sessions=True, retention_days=30)
    memory.sync()
    [hit] = memory.search("quagga").hits
    assert (hit.source, hit.path.split("/")[:2]) == ("sessions", ["qmd", "sessions-main"])
    text = memory.get(hit.path).text
    assert text.startswith("# Session id-new\n")
    assert secret not in text
    assert "said the quagga" in text
    assert old.exists()
    pages = home_of(state, "main", memory.workspace).sessions
    before = {page: page.stat().st_ino for page in pages.iterdir()}
    memory.sync()
    assert {page: page.stat().st_ino for page in pages.iterdir()} == before


def test_the_conversation_that_asks_is_left_out(
    open_with: Open, real_qmd: Path, tmp_path: Path
) -> None:
    running = transcript(tmp_path / "state", "running", "One quagga.", "2026-11-14T08:00:00Z")
    transcript(tmp_path / "state", "other", "Another quagga.", "2026-11-14T08:00:00Z")
    memory = open_with(real_qmd, export_sessions=True)
    memory.sync()
    assert len(memory.search("quagga").hits) == 2
    [hit] = memory.search("quagga", running_session=running.as_posix()).hits
    assert "Another quagga" in hit.snippet


def test_sessions_are_exported_to_the_folder_of_the_settings(
    open_with: Open, real_qmd: Path, tmp_path: Path
) -> None:
    transcript(tmp_path / "state", "new", "A quagga.", "2026-11-14T08:00:00Z")
    exports = tmp_path / "exports"
    memory = open_with(real_qmd, export_sessions=True, export_dir=str(exports))
    memory.sync()
    assert "A quagga." in "".join(page.read_text("utf-8") for page in exports.rglob("*.md"))


def test_transcripts_do_not_crowd_notes_out(
    open_with: Open, real_qmd: Path, tmp_path: Path, notes: Path
) -> None:
    for number in range(8):
        text = f"The quagga of talk {number}."
        transcript(tmp_path / "state", f"t{number}", text, "2026-11-14T08:00:00Z")
        if number < 3:
            (notes / "memory" / f"n{number}.md").write_text(f"Quagga {number}.\n", "utf-8")
    memory = open_with(real_qmd, export_sessions=True)
    memory.sync()
    sources = [hit.source for hit in memory.search("quagga", max_results=6).hits]
    assert sorted(sources) == ["memory"] * 3 + ["sessions"] * 3
    assert len(memory.search("quagga", max_results=10).hits) == 10


def test_the_limits_cut_what_an_agent_is_shown(
    open_with: Open, real_qmd: Path, notes: Path
) -> None:
    for number in range(5):
        text = f"zebra {number} " + "and so on " * 25
        (notes / "memory" / f"z{number}.md").write_text(f"{text}\n", "utf-8")
    memory = open_with(real_qmd, max_snippet_chars=100, max_injected_chars=250, max_results=4)
    memory.sync()
    lengths = [len(hit.snippet) for hit in memory.search("zebra").hits]
    assert lengths == [100, 100, 50]


def test_a_second_question_starts_what_stays_and_close_ends_it(
    open_with: Open, real_qmd: Path, notes: Path
) -> None:
    memory = open_with(real_qmd, daemon=True, debounce_s=0.0)
    memory.sync()
    (notes / "memory" / "later.md").write_text("A gnu.\n", "utf-8")
    first = memory.search("gnu")
    assert [hit.path for hit in first.hits] == ["memory/later.md"]
    assert first.notice is None
    facts = dict(memory.status().answering.facts)
    assert facts["server"] == "not started"
    assert memory.search("router").notice is None
    assert dict(memory.status().answering.facts)["server"].startswith("process ")
    assert keepers() == 1
    memory.close()
    assert keepers() == 0


def test_the_status_is_that_of_qmd(open_with: Open, real_qmd: Path) -> None:
    memory = open_with(real_qmd, fallback="none")
    before = memory.status()
    assert before.state == "missing"
    assert before.problem is not None
    assert "no-index" in before.problem
    memory.sync()
    status = memory.status()
    assert (status.state, status.problem, status.provider, status.dirty) == (
        "ready", None, "qmd", 0,
    )  # fmt: skip
    assert status.counts is not None
    assert status.counts.files == 2
    assert (status.answering.backend, status.answering.wanted) == ("qmd", "qmd")
    facts = dict(status.answering.facts)
    assert facts["collections"] == (
        "memory-root-main, memory-alt-main, memory-user-main, memory-dir-main"
    )
    assert facts["scores"].startswith("by rank alone")


def test_a_forced_sync_begins_anew(open_with: Open, real_qmd: Path, tmp_path: Path) -> None:
    memory = open_with(real_qmd, fallback="none")
    memory.sync()
    home = home_of(tmp_path / "state", "main", memory.workspace)
    home.index.write_bytes(b"no database" * 1000)
    with pytest.raises(BackendFailed):
        memory.search("router")
    assert memory.sync(force=True).rebuilt
    assert len(memory.search("router").hits) == 1


def test_words_alone_can_be_asked_for_in_every_mode(open_with: Open, real_qmd: Path) -> None:
    memory = open_with(real_qmd, fallback="none", search_mode="vsearch")
    report = memory.sync()
    assert isinstance(report.trouble, BackendFailed)
    assert report.trouble.kind == "no-models"
    with pytest.raises(BackendFailed, match="no-vectors"):
        memory.search("router")
    assert memory.search("router", mode="keyword").hits[0].path == "MEMORY.md"


def test_two_workspaces_of_one_agent_do_not_meet(
    open_with: Open, real_qmd: Path, tmp_path: Path
) -> None:
    memory = open_with(real_qmd)
    memory.sync()
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "MEMORY.md").write_text("Another router.\n", "utf-8")
    settings = Settings(qmd=QmdSettings(command=str(real_qmd), models=NO_MODELS, timeout_s=30.0))
    with open_memory(
        other,
        state_dir=tmp_path / "state",
        settings=settings,
        embedder=HashEmbedder(),
        environment=with_node(real_qmd),
    ) as second:
        second.sync()
        assert [hit.snippet for hit in second.search("router").hits] == ["Another router."]
    snippets = [hit.snippet for hit in memory.search("router").hits]
    assert snippets == ["The router ships on Friday."]


def test_a_curated_note_may_be_called_memory_md(
    open_with: Open, real_qmd: Path, notes: Path
) -> None:
    (notes / "MEMORY.md").rename(notes / "memory.md")
    (notes / "other.md").write_text("The router is a secret.\n", "utf-8")
    memory = open_with(real_qmd, fallback="none")
    memory.sync()
    assert [hit.path for hit in memory.search("router").hits] == ["memory.md"]
    assert "Friday" in memory.get("memory.md").text
    with pytest.raises(NotANote):
        memory.get("other.md")


def test_a_group_does_not_find_the_curated_note_with_qmd(
    open_with: Open, real_qmd: Path, notes: Path
) -> None:
    day = notes / "memory" / "2026-11-02.md"
    day.write_text("# Day\n\nThe router is blue.\n", encoding="utf-8")
    (notes / "USER.md").write_text("# User\n\nAda likes the router.\n", encoding="utf-8")
    memory = open_with(real_qmd, fallback="none", scope=ConversationScope("allow", ()))
    memory.sync()
    group = "agent:main:telegram:group:-100"
    assert {hit.path for hit in memory.search("router").hits} == {
        "MEMORY.md",
        "USER.md",
        "memory/2026-11-02.md",
    }
    assert "Ada" in memory.get("USER.md").text
    with pytest.raises(ConversationDenied, match=r"USER\.md is for private"):
        memory.get("USER.md", session_key=group)
    answer = memory.search("router", session_key=group)
    assert answer.provider == "qmd"
    assert [hit.path for hit in answer.hits] == ["memory/2026-11-02.md"]


def test_a_group_finds_and_reads_no_exported_transcript(
    open_with: Open, real_qmd: Path, notes: Path, tmp_path: Path
) -> None:
    for number in range(9):
        text = f"The quagga of talk {number}."
        transcript(tmp_path / "state", f"t{number}", text, "2026-11-14T08:00:00Z")
    (notes / "memory" / "late.md").write_text("Much later came a quagga.\n", "utf-8")
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("Ada has a quagga.\n", "utf-8")
    memory = open_with(
        real_qmd,
        fallback="none",
        export_sessions=True,
        paths=(ExtraFolder(str(other), None, "ada"),),
        scope=ConversationScope("allow", ()),
    )
    memory.sync()
    own = {hit.path: hit.source for hit in memory.search("quagga", max_results=12).hits}
    assert list(own.values()).count("sessions") == 9
    assert "qmd/ada-main/MEMORY.md" in own
    group = "agent:main:telegram:group:-100"
    answer = memory.search("quagga", max_results=2, session_key=group)
    assert answer.provider == "qmd"
    assert [hit.path for hit in answer.hits] == ["memory/late.md"]
    for path in set(own) - {"memory/late.md"}:
        assert memory.get(path).text
        with pytest.raises(ConversationDenied):
            memory.get(path, session_key=group)


def test_a_group_reads_the_curated_note_by_no_other_path(
    open_with: Open, notes: Path, tmp_path: Path
) -> None:
    """An extra folder may contain the workspace; QMD's path of such a file is no second door."""
    group = "agent:main:telegram:group:-100"
    for folder, path in ((notes, "MEMORY.md"), (notes.parent, f"{notes.name}/MEMORY.md")):
        memory = open_with(
            tmp_path / "no-such-qmd",
            paths=(ExtraFolder(str(folder), None, "all"),),
            scope=ConversationScope("allow", ()),
        )
        assert "Friday" in memory.get("MEMORY.md").text
        with pytest.raises(ConversationDenied):
            memory.get("MEMORY.md", session_key=group)
        with pytest.raises(ConversationDenied):
            memory.get(f"qmd/all-main/{path}", session_key=group)


# -- with a scripted one -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("time.sleep(600)", "timeout"),
        ("sys.exit('Error: oh')", "exit"),
        ("print('nonsense')", "bad-json"),
        ("while True: print('x' * 10_000)", "output-too-large"),
    ],
)
def test_our_own_engine_answers_where_qmd_does_not(
    open_with: Open, fake_qmd: Callable[[str], Path], script: str, kind: str
) -> None:
    good_update = "if 'update' in args: open(os.environ['XDG_CACHE_HOME'] + '/qmd/index.sqlite', "
    program = fake_qmd(f"{good_update}'w').close(); print('1 collection'); sys.exit()\n{script}")
    # A short time where it must pass, an ample one where a loaded machine must not use it up.
    memory = open_with(program, timeout_s=1.0 if kind == "timeout" else 30.0)
    memory.sync()
    answer = memory.search("router")
    assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
    assert answer.degraded
    assert answer.notice is not None
    assert f"({kind})" in answer.notice
    answering = memory.status().answering
    assert (answering.backend, answering.wanted) == ("builtin", "qmd")
    assert kind in (answering.reason or "")


def test_without_a_fallback_the_failure_is_the_answer(open_with: Open, tmp_path: Path) -> None:
    memory = open_with(tmp_path / "no-such-qmd", fallback="none")
    for call in (lambda: memory.search("router"), memory.sync):
        with pytest.raises(BackendFailed, match="binary-missing"):
            call()
    status = memory.status()
    assert "binary-missing" in (status.problem or "")


def test_a_missing_program_costs_nobody_their_memory(open_with: Open, tmp_path: Path) -> None:
    memory = open_with(tmp_path / "no-such-qmd")
    report = memory.sync()
    assert isinstance(report.trouble, BackendFailed)
    assert report.is_degraded
    answer = memory.search("router")
    assert answer.hits[0].path == "MEMORY.md"
    assert "install it" in (answer.notice or "")


UPDATES = "index = os.environ['XDG_CACHE_HOME'] + '/qmd/index.sqlite'\n"


def test_the_first_failure_is_named_by_the_next_process(
    open_with: Open, fake_qmd: Callable[[str], Path]
) -> None:
    """Not only that nothing is indexed: the advice to index would lead to the same failure."""
    program = fake_qmd("sys.exit('Error: no space left')")
    open_with(program).sync()
    memory = open_with(program)
    answer = memory.search("router")
    assert answer.degraded
    assert "no space left" in (answer.notice or "")
    assert "no space left" in (memory.status().answering.reason or "")
    assert "no space left" not in (answer.public_notice or "")
    fake_qmd(
        f"{UPDATES}open(index, 'w').close()\nprint('1 collection' if 'update' in args else '[]')"
    )
    assert memory.sync().trouble is None
    again = open_with(program)
    assert again.search("router").notice is None
    assert again.status().answering.reason is None


def test_an_update_that_fails_before_a_search_is_said_in_the_answer(
    open_with: Open, fake_qmd: Callable[[str], Path], notes: Path
) -> None:
    good = (
        f"{UPDATES}open(index, 'a').close()\nprint('1 collection' if 'update' in args else '[]')"
    )
    program = fake_qmd(good)
    memory = open_with(program)
    memory.sync()
    (notes / "memory" / "new.md").write_text("A newt.\n", "utf-8")
    fake_qmd("'update' in args and sys.exit('Error: a full disk')\nprint('[]')")
    for _ in range(2):  # With the second question a background thread updates.
        answer = memory.search("newt")
        assert "QMD's index is not up to date" in (answer.notice or "")
        assert "a full disk" in (answer.notice or "")


def test_both_engines_fail_and_both_are_named(open_with: Open, tmp_path: Path) -> None:
    memory = open_with(tmp_path / "no-such-qmd")
    memory.sync()
    memory.close()
    for file in (tmp_path / "state").rglob("index-*.sqlite"):
        file.write_bytes(b"x" * 5000)
    with pytest.raises(BackendFailed, match=r"binary-missing.*builtin.*failed too"):
        open_with(tmp_path / "no-such-qmd").search("router")


def test_the_limit_of_characters_holds_for_the_engine_that_replaces_qmd(
    open_with: Open, notes: Path, tmp_path: Path
) -> None:
    for number in range(8):
        text = f"# Day {number}\n\n" + f"The router number {number} hums. " * 40
        (notes / "memory" / f"2026-10-0{number + 1}.md").write_text(text, "utf-8")

    def characters(**limits: int) -> int:
        with open_with(tmp_path / "no-such-qmd", **limits) as memory:
            memory.sync()
            answer = memory_search(memory, SearchInput("router", 20))
            results = answer.to_json()["results"]
            return sum(len(hit["snippet"].partition("\n\nSource:")[0]) for hit in results)

    assert characters(max_injected_chars=500) <= 500
    assert characters(max_injected_chars=5000) > 4000  # More than the default of the tools.


def test_a_group_sees_nothing_unless_it_is_allowed_to(open_with: Open, tmp_path: Path) -> None:
    memory = open_with(tmp_path / "no-such-qmd")
    with pytest.raises(ConversationDenied, match="group"):
        memory.search("router", session_key="agent:main:telegram:group:-100")
    assert memory.search("router", session_key="agent:main:telegram:dm:7").provider != "qmd"


def test_waiting_for_the_first_update_is_a_setting(
    open_with: Open, fake_qmd: Callable[[str], Path], tmp_path: Path
) -> None:
    program = fake_qmd(
        "open(os.environ['XDG_CACHE_HOME'] + '/qmd/index.sqlite', 'a').close()\n"
        f"open({str(tmp_path / 'calls')!r}, 'a').write(args[2] + ' ')\n"
        "print('1 collection' if args[2] == 'update' else '[]')"
    )
    memory = open_with(program, wait_for_boot=True)
    memory.search("router")
    assert (tmp_path / "calls").read_text("utf-8") == "update search "


def test_an_engine_is_what_the_protocol_says() -> None:
    from notewell.engines import Engine

    engine: type[Engine] = QmdEngine
    assert engine.name == "qmd"  # type: ignore[comparison-overlap]


def keepers() -> int:
    return sum(one.name == "notewell-qmd-updater" for one in threading.enumerate())
