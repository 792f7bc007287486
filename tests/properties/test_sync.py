"""The promise under everything: after any edits, an index that was kept up to date answers exactly
like one that was built from scratch."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from notewell import Answer, SearchSettings, Settings, SyncSettings, open_memory
from notewell.testing import HashEmbedder

NAMES = st.sampled_from(
    [
        "MEMORY.md",
        "memory/2026-11-14.md",
        "memory/2026-11-15.md",
        "memory/topics.md",
        "memory/deep/er/notes.md",
        "memory/项目.md",
    ]
)
WORDS = st.sampled_from(
    (
        *(
            "router",
            "password",
            "heron",
            "robin",
            "decided",
            "sqlite",
            "index",
            "vector",
            "the",
            "of",
        ),
        *("索引", "数据库", "ERR_FOO", "a828e60", "café", "memorySearch.query", "running", "ran"),
    )
)
LINES = st.lists(WORDS, max_size=12).map(" ".join)
TEXTS = st.lists(
    st.one_of(
        LINES, st.just(""), LINES.map("# {}".format), LINES.map("- {}".format), st.just("```")
    ),
    max_size=30,
).map("\n".join)
QUESTIONS = (
    "what did heron decide about the router password?",
    "a828e60",
    "索引 数据库",
    "ERR_FOO in memorySearch.query",
    "who ran the index of vectors?",
)
SMALL_CHUNKS = Settings(
    sync=SyncSettings(chunk_tokens=24, chunk_overlap=6),
    search=SearchSettings(min_score=0.0, max_results=50),
)


class EditsAndSyncs(RuleBasedStateMachine):
    """A workspace that is edited as people and agents do, synced now and then."""

    texts = Bundle("texts")

    @initialize()
    def open(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="notewell-property-"))
        self.workspace = self.home / "workspace"
        self.workspace.mkdir()
        self.memory = open_memory(
            self.workspace,
            state_dir=self.home / "kept",
            settings=SMALL_CHUNKS,
            embedder=HashEmbedder(),
        )
        self.synced = False

    def teardown(self) -> None:
        if hasattr(self, "home"):
            self.memory.close()
            shutil.rmtree(self.home)

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.synced = False

    @rule(name=NAMES, line=LINES)
    def append(self, name: str, line: str) -> None:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{line}")
        self.synced = False

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        (self.workspace / name).unlink(missing_ok=True)
        self.synced = False

    @rule(name=NAMES, other=NAMES)
    def rename(self, name: str, other: str) -> None:
        if (self.workspace / name).exists():
            target = self.workspace / other
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / name).replace(target)
            self.synced = False

    @rule(name=NAMES)
    def touch(self, name: str) -> None:
        if (self.workspace / name).exists():
            (self.workspace / name).touch()

    @rule()
    def sync(self) -> None:
        self.memory.sync()
        self.synced = True

    @rule()
    def sync_text_then_vectors(self) -> None:
        self.memory.sync(vectors=False)
        self.sync()

    @rule()
    def rebuild(self) -> None:
        self.memory.sync(force=True)
        self.synced = True

    @invariant()
    def answers_like_an_index_built_from_scratch(self) -> None:
        if not getattr(self, "synced", False):
            return
        with open_memory(
            self.workspace,
            state_dir=self.home / "fresh",
            settings=SMALL_CHUNKS,
            embedder=HashEmbedder(),
        ) as fresh:
            fresh.sync()
            for question in QUESTIONS:
                assert self._asked(self.memory.search(question)) == self._asked(
                    fresh.search(question)
                )
            assert self.memory.status().counts == fresh.status().counts
        shutil.rmtree(self.home / "fresh")
        self.synced = False

    @staticmethod
    def _asked(answer: Answer) -> object:
        return answer.hits, answer.mode, answer.reason


TestEditsAndSyncs = EditsAndSyncs.TestCase
TestEditsAndSyncs.settings = settings(
    max_examples=80,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
