"""Every example of the page runs, with a script in place of the model."""

from __future__ import annotations

import asyncio
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from agents import set_tracing_disabled
from anthropic import Anthropic
from pydantic_ai.models.test import TestModel
from tests.adapters.scripted import ScriptedModel
from tests.adapters.test_claude import Claude

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/frameworks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ADAPTERS = ["openai_agents", "langchain", "pydantic_ai", "claude"]


@pytest.fixture(autouse=True)
def own_loop() -> Iterator[None]:
    """Each `run_sync` takes the thread's loop for its own, and not all leave it as it was."""
    made: list[asyncio.AbstractEventLoop] = []
    policy = asyncio.get_event_loop_policy()
    new_event_loop = policy.new_event_loop

    def remembered() -> asyncio.AbstractEventLoop:
        made.append(new_event_loop())
        return made[-1]

    policy.new_event_loop = remembered  # type: ignore[method-assign]
    asyncio.set_event_loop(asyncio.new_event_loop())
    yield
    policy.new_event_loop = new_event_loop  # type: ignore[method-assign]
    asyncio.set_event_loop(None)
    for loop in made:
        loop.close()


def example(adapter: str, tmp_path: Path, *, client: tuple[str, str] = ("", "")) -> str:
    """The example as it is, but for its client: (what the page has, what stands in for it)."""
    found: str
    (found,) = [text for text in EXAMPLES if f"notewell.adapters.{adapter} " in text]
    (tmp_path / "workspace").mkdir()
    for shown, real in (
        ("examples/workspace", ROOT / "examples/workspace"),
        ("workspace", tmp_path / "workspace"),
    ):
        found = found.replace(
            f'open_memory("{shown}")',
            f"open_memory({str(real)!r}, state_dir={str(tmp_path / 'state')!r})",
        )
    assert client[0] in found
    return found.replace(*client, 1)


def test_the_example_for_openai_agents_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_tracing_disabled(disabled=True)  # traces would be sent to OpenAI
    model = ScriptedModel(("memory_search", '{"query": "deploys"}'))
    client = ('name="assistant",', 'name="assistant", model=model,')
    exec(example("openai_agents", tmp_path, client=client), {"model": model})
    assert capsys.readouterr().out == "done\n"
    assert "<recalled" in model.answers[0]


def test_the_example_for_langchain_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(example("langchain", tmp_path), {})
    assert "<recalled" in capsys.readouterr().out


def test_the_example_for_pydantic_ai_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = TestModel(call_tools=["memory_search"])
    client = ('"anthropic:claude-sonnet-5-5"', "model")
    exec(example("pydantic_ai", tmp_path, client=client), {"model": model})
    assert "memory_search" in capsys.readouterr().out


def test_the_example_for_claude_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claude = Claude({"command": "view", "path": "/memories"})
    with (
        httpx2.Client(transport=httpx2.MockTransport(claude)) as http,
        Anthropic(api_key="none", http_client=http) as client,
    ):
        ours = ("client = Anthropic()\n", "")
        exec(example("claude", tmp_path, client=ours), {"client": client})
    assert capsys.readouterr().out.split("\n")[-2] == "done"
    assert "/memories/tea.md" in str(claude.answers)
    assert (tmp_path / "workspace/memory/claude/tea.md").exists()


def test_the_page_has_an_example_for_each_adapter() -> None:
    assert len(EXAMPLES) == len(ADAPTERS)
    for adapter in ADAPTERS:
        assert f"`notewell.adapters.{adapter}." in PAGE


# -- frameworks are nobody's dependency ----------------------------------------------------------

FRAMEWORKS = ["agents", "openai", "langchain_core", "langgraph", "pydantic_ai", "anthropic"]


def test_importing_every_adapter_imports_no_framework() -> None:
    script = "import sys\n" + "".join(f"import notewell.adapters.{name}\n" for name in ADAPTERS)
    script += f"assert not sys.modules.keys() & set({FRAMEWORKS!r})"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(
    ("adapter", "function", "module", "package"),
    [
        ("openai_agents", "tools", "agents", "openai-agents"),
        ("langchain", "tools", "langchain_core.tools", "langchain-core"),
        ("pydantic_ai", "toolset", "pydantic_ai", "pydantic-ai-slim"),
        ("claude", "memory_tool", "anthropic.lib.tools", "anthropic"),
        ("claude", "async_memory_tool", "anthropic.lib.tools", "anthropic"),
    ],
)
def test_a_framework_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch,
    memory: Any,
    adapter: str,
    function: str,
    module: str,
    package: str,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    make = getattr(importlib.import_module(f"notewell.adapters.{adapter}"), function)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {package}"):
        make(memory)
