"""The words a model was trained to see before a question and before a passage.

Most small models that people run themselves find noticeably less without them. A hosted provider
adds its own (`input_type`, `taskType`), so these are for models that are known by name only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.ports import Kind


class Prompts(NamedTuple):
    query: str = ""
    document: str = ""

    def before(self, texts: Sequence[str], kind: Kind) -> list[str]:
        prompt = self.query if kind == "query" else self.document
        return [prompt + text for text in texts]


_PASSAGES = Prompts("Represent this sentence for searching relevant passages: ")
GEMMA = Prompts("task: search result | query: ", "title: none | text: ")
"""Also what gemini-embedding-2 wants in place of a task type."""

# By the name the makers gave the family; a longer name is looked for first.
_FAMILIES = {
    "nomic-embed": Prompts("search_query: ", "search_document: "),
    "embeddinggemma": GEMMA,
    "multilingual-e5": Prompts("query: ", "passage: "),
    "e5-": Prompts("query: ", "passage: "),
    "mxbai-embed": _PASSAGES,
    "snowflake-arctic-embed2": Prompts("query: "),
    "snowflake-arctic-embed": _PASSAGES,
    "bge-m3": Prompts(),
    "bge-": _PASSAGES,
    "qwen3-embedding": Prompts(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\n"
        "Query: "
    ),
}


def prompts_of(model: str) -> Prompts:
    """By the last part of the name: `library/nomic-embed-text:v1.5` is `nomic-embed`."""
    name = model.lower().rsplit("/", 1)[-1]
    for family in sorted(_FAMILIES, key=len, reverse=True):
        if name.startswith(family):
            return _FAMILIES[family]
    return Prompts()
