"""Tiny sets in the forms we read, made anew for each test."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Path]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def as_lines(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


@pytest.fixture
def workspaces(tmp_path: Path) -> Path:
    """Two answerable questions of two kinds and one without evidence, in two workspaces."""
    folder = tmp_path / "diary"
    write(folder / "north" / "MEMORY.md", "# Facts\n\nThe router's password is hunter2.\n")
    write(folder / "north" / "memory" / "2026-11-15.md", "# Today\n\n- frost tonight\n- bread\n")
    write(folder / "south" / "memory" / "温室.md", "# 温室\n\n柠檬树怕霜冻。\n")
    queries = [
        {
            "query_id": "q1",
            "text": "what is the password of the router?",
            "workspace": "north",
            "meta": {"category": "facts"},
            "evidence": [{"path": "MEMORY.md", "start": 3, "end": 3}],
        },
        {
            "query_id": "q2",
            "text": "柠檬树怕霜冻吗？",
            "workspace": "south",
            "meta": {"category": "garden"},
            "evidence": [{"path": "memory/温室.md", "start": 3, "end": 3}],
        },
        {"query_id": "q3", "text": "who won?", "workspace": "north", "evidence": []},
    ]
    write(folder / "evidence.json", json.dumps({"queries": queries}))
    return folder


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    """Three passages, two questions; one of them has two passages of different worth."""
    folder = tmp_path / "facts"
    corpus = as_lines(
        {"_id": "https://x.org/a#1", "title": "Apples", "text": "Apples are red."},
        {"_id": "b", "title": "", "text": "Pears are green, and some apples are green too."},
        {"_id": 3, "text": "Plums are blue."},
    )
    write(folder / "corpus.jsonl", corpus)
    queries = as_lines(
        {"_id": "q1", "text": "what colour do apples have?", "meta": {"category": "colour"}},
        {"_id": "q2", "text": "plums"},
        {"_id": "q3", "text": "nobody knows"},
    )
    write(folder / "queries.jsonl", queries)
    qrels = "query-id\tcorpus-id\tscore\nq1\thttps://x.org/a#1\t2\nq1\tb\t1\nq1\t3\t0\nq2\t3\t1\n"
    write(folder / "qrels.tsv", qrels)
    return folder
