"""The files of training texts: what goes into them, in what shape."""

from __future__ import annotations

import json
from pathlib import Path

from model.documents import Document, Section
from model.pairs import Pair
from model.parallel import Parallel
from model.readings import Readings
from model.sources import File

from model import texts

FUNCTION = 'def size(graph):\n    """Return the number of edges."""\n    return len(graph.edges)\n'
READINGS = Readings(
    english={"mdn": [Document("a", "Containers", (Section("", 0, "A container runs. " * 10),))]},
    chinese={"vue": [Document("a", "容器说明", (Section("", 0, "这个容器运行程序。" * 20),))]},
    parallel=[Parallel("The friend of my friend.", "我朋友的朋友。", "tatoeba", "tatoeba")],
    code=[File("graph.py", FUNCTION)],
    meetings=[],
    dialogues=[],
    orders=[],
    articles=[
        " = Lobster = \n A lobster lives in the sea and it is seldom seen by day , they say . "
    ],
    entries=[],
)


def test_pairs_come_from_pages_and_code() -> None:
    assert {pair.source for pair in texts.english_pairs(READINGS)} == {"mdn", "code"}
    assert {pair.source for pair in texts.chinese_pairs(READINGS)} == {"vue"}
    assert texts.english_pairs(READINGS) == texts.english_pairs(READINGS)


def test_sentences_queries_and_passages_are_switched_and_kept_if_some_is_chinese() -> None:
    asked = [Pair("what a friend is", "A lobster is no friend of yours. " * 20, "mdn")] * 8
    found = texts.code_switched(READINGS, asked, {"friend": ["朋友"]})
    assert all("friend" in line.en and "朋友" in line.zh for line in found)
    assert all(len(line.en) <= texts.PIECE_CHARS for line in found)
    words = {word: ["词"] for word in ("lobster", "live", "sea", "seen", "day", "say")}
    english = texts.code_switched(READINGS, asked, words)
    assert any(line.en.startswith("A lobster lives in the sea") for line in english)


def test_a_record_is_one_line_and_names_a_negative_only_if_it_has_one(tmp_path: Path) -> None:
    pairs = [Pair("q", "p\n", "mdn"), Pair("问", "p", "mdn", "n")]
    texts.write_records(tmp_path / "pairs.jsonl", pairs)
    lines = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"query": "q", "passage": "p\n", "source": "mdn"},
        {"query": "问", "passage": "p", "source": "mdn", "negative": "n"},
    ]
    assert "问" in lines[1]
