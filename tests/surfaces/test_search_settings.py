"""Settings of the index and the search do what they say, from a settings file to an answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from notewell import Settings, StoreSettings, open_memory
from notewell.cli import main
from notewell.errors import BadSetting
from notewell.search import SearchSettings
from notewell.testing import HashEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from notewell.ports import Kind, Vectors

SESSION = {"type": "message", "message": {"role": "user", "content": "The zebra is called Ada."}}


class Scene:
    """A workspace, a state folder, and a file with the user's settings."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.state = root / "state"
        self._capsys = capsys

    def note(self, text: str, workspace: str = "workspace") -> None:
        (self.root / workspace).mkdir(exist_ok=True)
        (self.root / workspace / "MEMORY.md").write_text(text, encoding="utf-8")

    def set(self, **memory_search: object) -> None:
        whole = {"agents": {"defaults": {"memorySearch": memory_search}}}
        (self.root / "own.json").write_text(json.dumps(whole), encoding="utf-8")

    def output(self) -> str:
        return self._capsys.readouterr().out

    def run(self, command: str, *arguments: str, workspace: str = "workspace") -> dict[str, Any]:
        place = ["-w", str(self.root / workspace), "--state-dir", str(self.state), "--json"]
        main([command, *place, *arguments])
        answer: dict[str, Any] = json.loads(self.output())
        return answer


@pytest.fixture
def scene(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Scene:
    monkeypatch.setenv("NOTEWELL_CONFIG", str(tmp_path / "own.json"))
    scene = Scene(tmp_path, capsys)
    scene.note("The boat is green.\n")
    scene.set()
    return scene


def paths(answer: dict[str, Any]) -> list[str]:
    return [hit["path"] for hit in answer["results"]]


# -- sources -------------------------------------------------------------------------------------


def test_sessions_alone_are_searched_if_they_alone_are_named(scene: Scene) -> None:
    folder = scene.state / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text(json.dumps(SESSION) + "\n", encoding="utf-8")
    scene.set(sources=["sessions"], experimental={"sessionMemory": True})
    scene.run("index")
    assert paths(scene.run("search", "zebra")) == ["sessions/a.jsonl"]
    assert paths(scene.run("search", "green boat", "--min-score", "0")) == ["sessions/a.jsonl"]
    assert scene.run("get", "MEMORY.md")["text"] == "The boat is green."
    scene.set(sources=["memory", "sessions"], experimental={"sessionMemory": True})
    scene.run("index")
    assert "MEMORY.md" in paths(scene.run("search", "green boat"))


# -- vectors alone -------------------------------------------------------------------------------


def test_without_hybrid_vectors_alone_decide_and_the_threshold_holds(scene: Scene) -> None:
    scene.run("index")
    # Every word of the question is in the note: with keywords no threshold hides it.
    assert paths(scene.run("search", "green boat", "--min-score", "0.99")) == ["MEMORY.md"]
    scene.set(query={"hybrid": {"enabled": False}})
    answer = scene.run("search", "--explain", "green boat")
    assert (answer["mode"], paths(answer)) == ("vector", ["MEMORY.md"])
    assert answer["results"][0]["parts"]["text"] is None
    answer = scene.run("search", "green boat", "--min-score", "0.99")
    assert paths(answer) == []
    assert "below the minimum 0.99" in answer["reason"]


def test_without_hybrid_and_without_vectors_keywords_answer_and_say_so(scene: Scene) -> None:
    settings = Settings(search=SearchSettings(hybrid=False))
    with open_memory(
        scene.root / "workspace",
        state_dir=scene.state,
        settings=settings,
        embedder=HashEmbedder(),
    ) as memory:
        memory.sync(vectors=False)
        memory.indexer.looks._again_at = float("inf")
        answer = memory.search("boat")
        assert [hit.path for hit in answer.hits] == ["MEMORY.md"]
        assert (answer.mode, answer.degraded) == ("keyword", True)
        assert answer.notice == (
            "the only chunk has no vector yet: run `notewell index`; keywords answer, although "
            "`query.hybrid.enabled` is false"
        )
        # A caller that asks for words gets them without a remark.
        asked = memory.search("boat", mode="keyword")
        assert (asked.notice, asked.degraded) == (None, False)


def test_without_hybrid_and_without_an_embedder_keywords_answer_and_say_so(scene: Scene) -> None:
    scene.set(provider="none", query={"hybrid": {"enabled": False}})
    scene.run("index")
    answer = scene.run("search", "boat")
    assert paths(answer) == ["MEMORY.md"]
    assert "`query.hybrid.enabled` is false" in answer["notice"]


# -- the place of the index ----------------------------------------------------------------------


def test_two_workspaces_with_one_store_path_have_two_indexes(scene: Scene) -> None:
    scene.note("The zebra is called Ada.\n", workspace="other")
    scene.set(store={"path": str(scene.root / "indexes")})
    scene.run("index")
    scene.run("index", workspace="other")
    assert "green" in scene.run("search", "boat")["results"][0]["snippet"]
    hits = scene.run("search", "boat or zebra", "--min-score", "0", workspace="other")["results"]
    assert ["Ada" in hit["snippet"] for hit in hits] == [True]
    assert len(list((scene.root / "indexes").iterdir())) == 2
    assert not (scene.state / "memory").exists()


# -- sqlite-vec ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        ({"driver": "sqlite-vec", "enabled": False}, "store.vector.enabled is false"),
        ({"extensionPath": "/nowhere/vec0.so"}, "there is no file /nowhere/vec0.so: check"),
        ({"extensionPath": __file__}, "it is no library of sqlite-vec for this system"),
        ({"driver": "sqlite-vec", "extensionPath": "/nowhere/vec0"}, "/nowhere/vec0"),
    ],
)
def test_without_sqlite_vec_vectors_are_searched_all_the_same_and_a_notice_says_so(
    scene: Scene, vector: dict[str, object], reason: str
) -> None:
    scene.set(store={"vector": vector})
    assert scene.run("index")["vectorsWaiting"] == 0
    answer = scene.run("search", "boat")
    assert (answer["mode"], paths(answer)) == ("hybrid", ["MEMORY.md"])
    assert "sqlite-vec is not used, `segments` is" in answer["notice"]
    assert reason in answer["notice"]
    status = scene.run("status")["vector"]
    assert (status["available"], status["driver"]) == (True, "segments")
    assert reason in status["loadError"]


def test_a_switch_that_changes_nothing_gives_no_notice(scene: Scene) -> None:
    scene.set(store={"vector": {"enabled": False}})
    scene.run("index")
    answer = scene.run("search", "boat")
    assert (answer["mode"], answer.get("notice")) == ("hybrid", None)


def test_the_named_library_of_sqlite_vec_is_used(scene: Scene) -> None:
    import sqlite_vec

    scene.set(store={"vector": {"extensionPath": sqlite_vec.loadable_path()}})
    scene.run("index")
    answer = scene.run("search", "boat")
    assert (answer["mode"], answer.get("notice")) == ("hybrid", None)
    assert scene.run("status")["vector"]["driver"] == "sqlite-vec"


def test_an_index_of_sqlite_vec_is_searched_by_words_where_the_package_is_missing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.set(store={"vector": {"driver": "sqlite-vec"}})
    scene.run("index")
    monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    answer = scene.run("search", "boat")
    assert (answer["mode"], paths(answer)) == ("keyword", ["MEMORY.md"])
    assert "the index holds vectors of sqlite-vec: run `notewell index`" in answer["notice"]
    assert "pip install" in answer["notice"]
    scene.run("index")
    assert scene.run("search", "boat")["mode"] == "hybrid"


def test_an_unknown_storage_engine_is_refused(scene: Scene) -> None:
    scene.set(store={"driver": "mysql"})
    assert main(["config", "check"]) != 0
    assert "memorySearch.store.driver: expected 'sqlite' or 'postgres'" in scene.output()
    with pytest.raises(BadSetting, match="'mysql' is unknown; choose 'sqlite' or 'postgres'"):
        open_memory(
            scene.root / "workspace", settings=Settings(store=StoreSettings(driver="mysql"))
        )


# -- the text that is embedded -------------------------------------------------------------------


class ListeningEmbedder(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.documents: list[str] = []

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        if kind == "document":
            self.documents += texts
        return super().embed(texts, kind)


@pytest.mark.parametrize(
    "note",
    ["# Tea\n\nGreen tea.", "Tea\n===\n\nGreen tea.", "##  Tea   time ##\n\nAt five."],
)
def test_a_heading_that_begins_a_chunk_is_embedded_once(scene: Scene, note: str) -> None:
    assert embedded(scene, note) == [note]


def test_a_chunk_gets_the_headings_that_it_does_not_have_itself(scene: Scene) -> None:
    paragraphs = "\n\n".join(f"{number} " + "word " * 90 for number in range(3))
    texts = embedded(scene, f"# Drinks\n\n## Tea\n\n{paragraphs}\n\n## Mate\n\n{paragraphs}\n")
    firsts = [text.partition("\n\nword")[0].partition(" word")[0] for text in texts]
    assert firsts == [
        "# Drinks\n\n## Tea\n\n0",
        "# Drinks › ## Tea\n\n1",
        "# Drinks › ## Tea\n\n2",
        "# Drinks\n\n## Mate\n\n0",
        "# Drinks › ## Mate\n\n1",
        "# Drinks › ## Mate\n\n2",
    ]


def embedded(scene: Scene, note: str) -> list[str]:
    scene.note(note)
    embedder = ListeningEmbedder()
    with open_memory(scene.root / "workspace", state_dir=scene.state, embedder=embedder) as memory:
        memory.sync()
    return embedder.documents
