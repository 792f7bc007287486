"""A provider's bad days as a user lives them: index, search, and index again when it is well.

    python bench/faults.py > table.md

Real sockets, the whole of `Memory`; short time limits, so that it ends soon. For each fault: what
`notewell index` said and how long it took, what was lost once the provider was well again, and
what a search says when the fault comes back.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from notewell import Settings, open_memory
from notewell.core import Secret
from notewell.embedders import EmbedderSettings, RemoteSettings

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.embedders.fake_server import ANSWERS, BROKEN, FakeProvider

NOTES = 6


def main() -> None:
    print("| fault | index says | s | search says | s | afterwards |")
    print("|---|---|---|---|---|---|")
    for fault in (*ANSWERS, *BROKEN):
        print(f"| {fault} | " + " | ".join(lived(fault)) + " |", flush=True)


def lived(fault: str) -> list[str]:
    with FakeProvider(dims=1536) as server, tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch) / "workspace"
        (workspace / "memory").mkdir(parents=True)
        for number in range(NOTES):
            text = f"The boat number {number} is green.\n"
            (workspace / "memory" / f"n{number}.md").write_text(text, encoding="utf-8")
        remote = RemoteSettings(
            base_url=server.url("openai"),
            api_key=Secret("sk-canary"),
        )
        embedder = EmbedderSettings(
            provider="openai", remote=remote, query_timeout_s=1.5, document_timeout_s=3.0
        )
        settings = Settings(embedder=embedder)
        state = Path(scratch) / "state"
        server.always(fault)
        with open_memory(workspace, state_dir=state, settings=settings, environment={}) as memory:
            started = time.monotonic()
            report = memory.sync()
            index_s = time.monotonic() - started
        server.always(None)
        with open_memory(workspace, state_dir=state, settings=settings, environment={}) as memory:
            after = memory.sync()
            whole = memory.search("which boat is green?")
            server.always(fault)
            started = time.monotonic()
            answer = memory.search("which boat is green?")
            search_s = time.monotonic() - started
        assert "sk-canary" not in f"{report} {answer}"
    lost = NOTES - len(whole.hits) + after.vectors_waiting
    return [
        _said(str(report.trouble) if report.trouble else "done"),
        f"{index_s:.1f}",
        _said(f"{answer.mode}, {len(answer.hits)} hits: {answer.notice}"),
        f"{search_s:.1f}",
        f"{whole.mode}, {lost} lost",
    ]


def _said(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")[:150]


if __name__ == "__main__":
    main()
