"""A hit in a conversation says who said it, when and where, and a search can be narrowed to a
folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.talking_host import TalkingHost

from notewell import Memory, open_memory
from notewell.errors import BadRequest
from notewell.testing import HashEmbedder
from notewell.tools import SearchOutput, call
from notewell.types import Span

LONG = " ".join(f"Step {n} of the rollout moves shard {n}." for n in range(60))
SAID = {
    "s1": ("/code/shop", [("user", "which router did we choose?"),
                          ("assistant", "The Turris Omnia, said Marta.")]),
    "s2": ("/code/bakery/oven", [("user", "which router is in the bakery?"),
                                 ("assistant", "A FritzBox, behind the oven.")]),
    "s3": ("/code/shop", [("user", "how does the rollout go?"), ("assistant", LONG)]),
}  # fmt: skip


class Owner(TalkingHost):
    """Somebody whose conversations were kept, and who asks at the command line."""

    def talk(self, session: str, cwd: str, messages: list[tuple[str, str]]) -> None:
        records = [
            {
                "type": role, "uuid": f"{session}-{number}", "sessionId": session, "cwd": cwd,
                "timestamp": f"2026-11-0{session[1]}T14:0{number}:30Z",
                "message": {"role": role, "content": text},
            }
            for number, (role, text) in enumerate(messages, start=5)
        ]  # fmt: skip
        file = self.transcript(session)
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")
        self.hook("stop", session, cwd)

    def hits(self, capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = self.search(capsys, *words, "--mode", "keyword")["results"]
        return results


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    owner = Owner(tmp_path, monkeypatch)
    note = "# Facts\n\n- The router password is in the safe.\n"
    (owner.workspace / "MEMORY.md").write_text(note, encoding="utf-8")
    for session, (cwd, messages) in SAID.items():
        owner.talk(session, cwd, messages)
    return owner


@pytest.fixture
def memory(owner: Owner) -> Iterator[Memory]:
    with open_memory(owner.workspace, state_dir=owner.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        yield memory


def test_the_command_line_says_who_said_it_when_and_where(
    owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    hits = owner.hits(capsys, "router Turris Omnia")
    assert hits[0]["path"] == "sessions/kept/claude-s1.jsonl"
    assert hits[0]["said"] == {
        "speaker": "User", "at": "2026-11-01T14:05Z", "host": "claude", "folder": "/code/shop",
    }  # fmt: skip
    assert "said" not in next(hit for hit in hits if hit["path"] == "MEMORY.md")
    owner.run("search", "router Turris Omnia", "--mode", "keyword")
    first = capsys.readouterr().out.splitlines()[0]
    assert first.endswith("2026-11-01 14:05Z User, claude, /code/shop")


def test_a_part_of_a_long_message_names_its_speaker_and_its_question(
    owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    hits = owner.hits(capsys, "step 55 shard 55")
    assert not hits[0]["snippet"].startswith("Assistant:")
    assert hits[0]["said"]["speaker"] == "Assistant"
    assert hits[0]["said"]["at"] == "2026-11-03T14:06Z"
    assert hits[0]["heading"] == "User: how does the rollout go?"


def test_a_part_of_a_long_message_does_not_take_the_speaker_of_another_conversation(
    owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    # Its second line is as long as that of the other conversation, and the user's.
    pasted = LONG.replace("shard", "volume")
    owner.talk(
        "s4",
        "/code/shop",
        [("assistant", "What does the log of the rollout say?"), ("user", pasted)],
    )
    hits = owner.hits(capsys, "step 55 moves shard 55 volume 55")
    speakers = {hit["path"]: hit["said"]["speaker"] for hit in hits if hit.get("said")}
    assert speakers["sessions/kept/claude-s3.jsonl"] == "Assistant"
    assert speakers["sessions/kept/claude-s4.jsonl"] == "User"


def test_a_model_sees_it_in_the_mark_and_reads_on_by_the_same_lines(memory: Memory) -> None:
    answer = call(memory, "memory_search", {"query": "Turris Omnia"})
    assert isinstance(answer, SearchOutput)
    text = answer.to_text()
    assert 'said="2026-11-01 14:05Z User, claude, shop"' in text
    assert "/work" not in text  # A model needs the project, not the machine.
    assert answer.to_json()["results"][0]["said"] == "2026-11-01 14:05Z User, claude, shop"
    # One attribute of a mark: less than a line.
    without = text.replace(' said="2026-11-01 14:05Z User, claude, shop"', "")
    assert len(text) - len(without) < 60
    lines = call(memory, "memory_get", {"path": answer.hits[0].hit.citation}).to_text()
    assert "User: which router did we choose?\nAssistant: The Turris Omnia, said Marta." in lines


@pytest.mark.parametrize("folder", ["/code/shop", "/code/shop/", "shop", "SHOP"])
def test_a_search_can_be_narrowed_to_the_conversations_of_a_folder(
    memory: Memory, folder: str
) -> None:
    for mode in ("keyword", "hybrid"):
        paths = {hit.path for hit in memory.search("router", mode=mode, folder=folder).hits}
        assert paths >= {"MEMORY.md", "sessions/kept/claude-s1.jsonl"}
        assert "sessions/kept/claude-s2.jsonl" not in paths


def test_a_folder_contains_those_below_it_and_no_others(memory: Memory) -> None:
    below = memory.search("router", mode="keyword", folder="/code/bakery")
    assert {hit.path for hit in below.hits} == {"MEMORY.md", "sessions/kept/claude-s2.jsonl"}
    answer = memory.search("router", mode="keyword", folder="/code/bak")
    assert {hit.path for hit in answer.hits} == {"MEMORY.md"}
    assert answer.notice is not None
    assert "no conversation is from /code/bak" in answer.notice
    assert "/code/shop" in answer.notice
    assert answer.public_notice is not None
    assert "/work" not in answer.public_notice


def test_a_group_does_not_learn_which_folders_there_are(memory: Memory) -> None:
    (Path(memory.workspace) / "memory").mkdir()
    (Path(memory.workspace) / "memory" / "router.md").write_text("a router\n", encoding="utf-8")
    memory.sync()
    group = "agent:main:telegram:group:-100"
    answers = [
        memory.search("router", mode="keyword", folder=folder, session_key=group)
        for folder in ("bakery", "no such folder")
    ]
    assert [[hit.path for hit in one.hits] for one in answers] == [["memory/router.md"]] * 2
    assert answers[0].notice == answers[1].notice
    assert "the notes alone were searched" in str(answers[0].public_notice)


def test_other_folders_take_no_place_however_much_was_said_there(owner: Owner) -> None:
    # More chunks than a leg looks at, each of them a better match.
    noise = [("user", f"router router router {n} " * 20) for n in range(150)]
    owner.talk("s4", "/code/noise", noise)
    with open_memory(owner.workspace, state_dir=owner.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        for mode in ("keyword", "hybrid"):
            hits = memory.search("router", mode=mode, folder="bakery").hits
            assert "sessions/kept/claude-s2.jsonl" in {hit.path for hit in hits}


def test_this_folder_is_a_point(
    owner: Owner, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    owner.talk("s5", str(here.resolve()), [("user", "the router blinks"), ("assistant", "I see")])
    owner.monkeypatch.chdir(here)
    hits = owner.hits(capsys, "router", "--folder", ".")
    assert {hit["path"] for hit in hits} == {"MEMORY.md", "sessions/kept/claude-s5.jsonl"}
    why = ("search", "router", "--folder", ".", "--why", "sessions/kept/claude-s1.jsonl")
    assert owner.run(*why, "--mode", "keyword") == 0
    assert "is a conversation in another folder" in capsys.readouterr().out


def test_a_model_can_name_the_project(memory: Memory) -> None:
    answer = call(memory, "memory_search", {"query": "router", "folder": "bakery"})
    assert isinstance(answer, SearchOutput)
    assert {hit.path for hit in answer.hits} == {"MEMORY.md", "sessions/kept/claude-s2.jsonl"}


@pytest.mark.parametrize("folder", ["", "  ", "a\0b", "x" * 5000])
def test_a_folder_that_cannot_be_one_is_refused(memory: Memory, folder: str) -> None:
    with pytest.raises(BadRequest, match="folder"):
        memory.search("router", folder=folder)


def test_what_is_noted_comes_before_what_was_said_if_both_are_as_relevant(owner: Owner) -> None:
    notes = owner.workspace / "memory"
    notes.mkdir()
    words = " ".join(f"word{number}" for number in range(40))
    # One word longer, so that it has a little less of the words of the question.
    (notes / "facts.md").write_text(f"User: the lamp needs a fuse {words} too\n", encoding="utf-8")
    owner.talk("s6", "/code/shop", [("user", f"the lamp needs a fuse {words}")])
    day_s = int(datetime(2026, 11, 6, 15, tzinfo=UTC).timestamp())  # Age must not decide.
    with open_memory(
        owner.workspace,
        state_dir=owner.state,
        embedder=HashEmbedder(),
        now_ns=lambda: day_s * 10**9,
    ) as memory:
        memory.sync()
        noted, said = memory.search("lamp fuse", mode="keyword").hits
    assert (noted.path, said.path) == ("memory/facts.md", "sessions/kept/claude-s6.jsonl")
    assert noted.score < said.score < noted.score + 0.01


def test_a_session_note_is_left_out_only_if_its_transcript_is_shown(
    owner: Owner, capsys: pytest.CaptureFixture[str]
) -> None:
    # One word is in neither: the minimum never hides what has every word of a question.
    question = "depot keys red box garage"
    said = "The depot keys are in the red box."
    owner.talk("s6", "/code/shop", [("user", f"{said} {LONG[:100]}"), ("assistant", LONG[:300])])
    note = owner.workspace / "memory" / "2026-11-06-keys.md"
    note.parent.mkdir()
    note.write_text(f"# Session 2026-11-06 14:05\n\nUser: {said} {LONG[:100]}\n", encoding="utf-8")
    with open_memory(owner.workspace, state_dir=owner.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        for percent in range(0, 100, 2):
            asked: dict[str, Any] = {"mode": "keyword", "min_score": percent / 100}
            noted = memory.search(question, **asked, folder="nowhere").hits
            shown = memory.search(question, **asked).hits
            assert bool(noted) <= bool(shown), percent
    why = ("search", question, "--why", "memory/2026-11-06-keys.md")
    assert owner.run(*why, "--mode", "keyword") == 0
    assert "copied from" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("roles", "question"),
    [
        (("user", "assistant"), f"who repairs the harbour crane? {LONG[:300]}"),
        (("assistant", "user"), f"{LONG[:300]} Who repairs the harbour crane?"),
    ],
    ids=["the user asks", "the assistant asks"],
)
def test_a_hit_that_ends_with_a_question_has_its_answer(
    owner: Owner, roles: tuple[str, str], question: str
) -> None:
    asks, answers = roles
    # Neither the chunk nor the lines around it have room for the answer.
    talk = [
        (asks, LONG[:200]),
        (answers, LONG[:200]),
        (asks, question),
        (answers, f"{LONG[:700]} Lindqvist."),
        (asks, LONG[:1200]),
        (answers, LONG[:1200]),
    ]
    owner.talk("s7", "/code/shop", talk)
    with open_memory(owner.workspace, state_dir=owner.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        hit = memory.search("who repairs the harbour crane?", mode="keyword").hits[0]
        assert hit.span == Span(1, 4)
        assert "Lindqvist." in memory.get(hit.path, from_line=1, lines=4).text


def test_of_questions_without_an_answer_the_latest_is_shown(owner: Owner) -> None:
    question = "where is the ladder?"
    # The name of the latest comes first.
    for session, reply in (("a9", "I do not know."), ("m8", "Nothing is noted."), ("z7", "No.")):
        owner.talk(session, "/code/shop", [("user", question), ("assistant", reply)])
    with open_memory(owner.workspace, state_dir=owner.state, embedder=HashEmbedder()) as memory:
        memory.sync()
        hits = memory.search(question, mode="keyword").hits
    assert [hit.path for hit in hits] == ["sessions/kept/claude-a9.jsonl"]
