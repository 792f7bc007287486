"""Around a turn: each framework's own result says how full the window is and what was said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from agents import Agent, RunConfig, Runner
from anthropic.types.beta import BetaMessage, BetaUsage
from langchain_core.messages import AIMessage, HumanMessage
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage
from tests.adapters.scripted import ScriptedModel

from notewell import Memory, Settings, open_memory
from notewell.adapters import claude, langchain, openai_agents, pydantic_ai
from notewell.adapters.turns import AfterTurn, TurnFacts, Turns
from notewell.capture import CaptureSettings, KeepSettings
from notewell.core import ConversationScope
from notewell.entries import EntriesSettings, EntryStore
from notewell.redaction import Redactor
from notewell.testing import HashEmbedder
from notewell.tools import CallContext, Failure

WINDOW = 200_000
FULL = 180_000
SAID = "I prefer tea without milk"
GROUP = CallContext(session_key="agent:main:telegram:group:-100")


@pytest.fixture
def entries(tmp_path: Path) -> EntryStore:
    clock = count(1_767_225_600_000)
    embedder = HashEmbedder(256, model="hash-256")
    folder = tmp_path / "lancedb"
    return EntryStore(folder, "main", embedder, redact=Redactor(), now_ms=lambda: next(clock))


def remember(tmp_path: Path, settings: Settings) -> Memory:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("The router ships in May.\n", encoding="utf-8")
    return open_memory(
        workspace, state_dir=tmp_path / "state", settings=settings, embedder=HashEmbedder()
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    automatic = EntriesSettings(auto_capture=True, auto_recall=True)
    with remember(tmp_path, Settings(entries=automatic)) as opened:
        yield opened


def openai_turn(turns: Turns) -> AfterTurn:
    model = ScriptedModel(used_tokens=FULL)
    agent = Agent(name="a", model=model)
    done = asyncio.run(Runner.run(agent, SAID, run_config=RunConfig(tracing_disabled=True)))
    return openai_agents.after_turn(turns, done, compactions=0)


def langchain_turn(turns: Turns) -> AfterTurn:
    usage = {"input_tokens": FULL - 9, "output_tokens": 9, "total_tokens": FULL}
    messages = [
        HumanMessage("I live in Basel with two cats"),
        AIMessage("Nice."),
        HumanMessage(SAID),
        AIMessage("Noted.", usage_metadata=usage),
    ]
    return langchain.after_turn(turns, messages, compactions=0)


def pydantic_turn(turns: Turns) -> AfterTurn:
    def reply(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        usage = RequestUsage(input_tokens=FULL - 9, output_tokens=9)
        return ModelResponse(parts=[TextPart("done")], usage=usage)

    done = asyncio.run(PydanticAgent(FunctionModel(reply)).run(SAID))
    return pydantic_ai.after_turn(turns, done, compactions=0)


def claude_turn(turns: Turns) -> AfterTurn:
    usage = BetaUsage(input_tokens=9, output_tokens=9, cache_read_input_tokens=FULL - 18)
    message = BetaMessage(
        id="m", content=[], model="claude", role="assistant", type="message", usage=usage
    )
    return claude.after_turn(turns, message, SAID, compactions=0)


@pytest.mark.parametrize("turn", [openai_turn, langchain_turn, pydantic_turn, claude_turn])
def test_a_full_window_is_flushed_once_and_what_was_said_is_kept(
    memory: Memory, entries: EntryStore, turn: object
) -> None:
    assert callable(turn)
    turns = Turns(memory, context_window=WINDOW, entries=entries)
    done = turn(turns)
    assert isinstance(done, AfterTurn)
    assert done.flush is not None
    assert "memory_append" in done.flush.prompt
    assert str(FULL) in done.flush.why
    assert [one.entry.text for one in done.captured.stored] == [SAID]
    again = turn(turns)
    assert again.flush is None
    assert [one.added for one in again.captured.stored] == [False]
    assert SAID in turns.before("tea without milk, or how do I prefer it?")


@pytest.mark.parametrize(
    ("turn", "reply"),
    [
        (openai_turn, None),
        (langchain_turn, "Assistant: Noted."),
        (pydantic_turn, "Assistant: done"),
        (claude_turn, None),
    ],
)
def test_a_conversation_is_kept_if_the_settings_say_so(
    tmp_path: Path, turn: object, reply: str | None
) -> None:
    assert callable(turn)
    keeps = Settings(capture=CaptureSettings(keep=KeepSettings(enabled=True)))
    with remember(tmp_path, keeps) as memory:
        turns = Turns(memory, context_window=WINDOW, session="tea")
        assert turn(turns).kept >= 1
        turn(turns)
        memory.sync()
    with open_memory(
        tmp_path / "workspace",
        state_dir=tmp_path / "state",
        settings=keeps,
        embedder=HashEmbedder(),
    ) as memory:
        memory.sync()
        assert memory.search("tea without milk").hits[0].path == "sessions/kept/python-tea.jsonl"
        lines = memory.get("sessions/kept/python-tea.jsonl").text.splitlines()
    assert lines.count(f"User: {SAID}") == 2
    assert reply is None or lines.count(reply) == 2


def test_without_the_setting_no_conversation_is_kept(tmp_path: Path) -> None:
    with remember(tmp_path, Settings()) as memory:
        assert Turns(memory, context_window=WINDOW).after(TurnFacts((SAID,), 5)).kept == 0
    assert not (tmp_path / "state" / "agents").exists()


def test_a_session_begins_with_notes_and_a_failed_flush_comes_again(memory: Memory) -> None:
    turns = Turns(memory, context_window=WINDOW)
    assert "The router ships in May." in turns.start()
    assert turns.after(TurnFacts((), 5)).flush is None
    assert turns.after(TurnFacts((), FULL)).flush is not None
    assert turns.after(TurnFacts((), FULL)).flush is None
    assert turns.after(TurnFacts((), FULL), failed=True).flush is not None


def test_the_entries_of_the_settings_are_opened_by_the_turns(
    memory: Memory, tmp_path: Path
) -> None:
    turns = Turns(memory, context_window=WINDOW)
    assert not (tmp_path / "state" / "lancedb").exists()
    assert [one.added for one in turns.after(TurnFacts((SAID,), 5)).captured.stored] == [True]
    assert SAID in turns.before("tea without milk, or how do I prefer it?")
    assert memory.entries is not None
    assert [entry.text for entry in memory.entries.entries()] == [SAID]


def test_without_the_settings_there_are_no_entries(tmp_path: Path) -> None:
    with remember(tmp_path, Settings()) as memory:
        turns = Turns(memory, context_window=WINDOW)
        assert turns.after(TurnFacts((SAID,), 5)).captured.stored == ()
        assert turns.before("tea without milk") == ""
        assert memory.entries is None
    assert not (tmp_path / "state" / "lancedb").exists()


def test_nothing_is_recalled_or_stored_in_a_group(memory: Memory, entries: EntryStore) -> None:
    entries.store(SAID)
    turns = Turns(memory, GROUP, context_window=WINDOW, entries=entries)
    assert turns.start() == ""
    assert turns.before("tea without milk") == ""
    for said in (SAID, "I live in Basel with two cats"):
        assert turns.after(TurnFacts((said,), 5)).captured.stored == ()
    assert entries.count() == 1


def test_a_denied_conversation_neither_reads_nor_writes(
    tmp_path: Path, entries: EntryStore
) -> None:
    automatic = EntriesSettings(auto_capture=True, auto_recall=True)
    settings = Settings(entries=automatic, scope=ConversationScope("deny", ()))
    private = CallContext(session_key="agent:main:telegram:dm:ada")
    with remember(tmp_path, settings) as memory:
        turns = Turns(memory, private, context_window=WINDOW, entries=entries)
        done = turns.after(TurnFacts((SAID,), FULL))
        assert isinstance(done.answer, Failure)
        assert done.flush is None
        assert turns.start() == turns.before("tea without milk") == ""
        assert entries.count() == 0


def test_switched_off_nothing_is_captured(tmp_path: Path, entries: EntryStore) -> None:
    with remember(tmp_path, Settings(entries=EntriesSettings())) as memory:
        turns = Turns(memory, context_window=WINDOW, entries=entries)
        assert turns.after(TurnFacts((SAID,), 5)).captured.stored == ()
        assert turns.before(SAID) == ""


def test_a_model_that_counts_no_tokens_is_estimated(memory: Memory) -> None:
    turns = Turns(memory, context_window=WINDOW)
    messages = [HumanMessage("x" * 4 * FULL), AIMessage("y")]
    assert langchain.after_turn(turns, messages).flush is not None


def test_only_texts_of_the_last_message_count_for_openai(
    memory: Memory, entries: EntryStore
) -> None:
    model = ScriptedModel(used_tokens=5)
    content = [{"type": "input_text", "text": SAID}]
    asked = json.loads(json.dumps([{"role": "user", "content": content}]))
    turns = Turns(memory, context_window=WINDOW, entries=entries)
    config = RunConfig(tracing_disabled=True)
    done = asyncio.run(Runner.run(Agent(name="a", model=model), asked, run_config=config))
    assert len(openai_agents.after_turn(turns, done).captured.stored) == 1
