"""Where the time of a hybrid search goes: each stage as a share of the whole.

    python bench/stages.py FOLDER_OF_MARKDOWN [QUESTIONS_FILE]

The questions are lines of a file, or headings of the notes. CPU time of this process, so a busy
machine changes the figures little; the shares are what counts.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import ExtraPath, NotesSettings, Settings, open_memory
from notewell.core import ranking, text_query, useful_terms
from notewell.search import (
    Candidates,
    SearchContext,
    SearchOptions,
    make_hits,
    rank,
    search_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell import Memory

MAX_QUESTIONS = 200


class Stages:
    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.process_time_ns()
        yield
        self.spent[name] += time.process_time_ns() - started


def main() -> None:
    folder = Path(sys.argv[1])
    questions = _questions(folder, sys.argv[2:])[:MAX_QUESTIONS]
    with tempfile.TemporaryDirectory() as state:
        settings = Settings(notes=NotesSettings(extra_paths=(ExtraPath("."),)))
        with open_memory(folder, state_dir=state, settings=settings) as memory:
            memory.sync()
            memory.search(questions[0])  # Loads the model; starting is measured in start.py.
            stages = Stages()
            for question in questions:
                _search(memory, question, stages)
            chunks = memory.status().counts
    total = sum(stages.spent.values())
    print(f"{len(questions)} questions, {chunks.chunks if chunks else 0} chunks")
    print(f"{'whole search':<24}{total / len(questions) / 1e6:6.2f} ms of CPU a question")
    for name, spent in stages.spent.items():
        print(f"{name:<24}{spent / total:6.1%}")


def _search(memory: Memory, question: str, stages: Stages) -> None:
    """`search.hybrid.search`, step by step."""
    options = SearchOptions(today=date(2026, 11, 15))
    embedder = memory.indexer.embedder
    context = SearchContext(question, options, embedder.facts)
    with memory.indexer.store.view() as view:
        assert view is not None
        with stages.stage("question to terms"):
            query = text_query(question)
            query = useful_terms(query, view.having(query.terms))
        candidates = Candidates(query, mode="hybrid")
        with stages.stage("words: FTS5 and scores"):
            search_words(view, options, candidates)
        with stages.stage("question to vector"):
            vector = embedder.embed([question], "query")[0]
        with stages.stage("vectors: nearest"):
            near = view.nearest(vector, options.sources, options.candidates)
        with stages.stage("vectors: exact cosines"):
            candidates.cosines = view.cosines(vector, [*near, *candidates.texts])
            candidates.vectors = {
                chunk_id: ranking.vector_score(cosine, embedder.facts)
                for chunk_id, cosine in candidates.cosines.items()
            }
        with stages.stage("fusion, time, order"):
            ranked = rank(view, context, candidates)
        with stages.stage("passages"):
            hits = make_hits(view, ranked[: options.chunks_shown], candidates, context)
        with stages.stage("lines that are shown"):
            _ = [hit.shown_text for hit in hits]


def _questions(folder: Path, given: list[str]) -> list[str]:
    if given:
        return Path(given[0]).read_text(encoding="utf-8").split("\n")
    lines = (line for note in sorted(folder.rglob("*.md")) for line in note.open(encoding="utf-8"))
    return [line.strip("# \n") for line in lines if line.startswith("#") and len(line) > 12]


if __name__ == "__main__":
    main()
