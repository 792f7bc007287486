"""The prompts that a model was trained to see before a query and before a passage.

Most small open models find noticeably less without them. A hosted provider adds its own
(`input_type`, `taskType`), so this table is for models that are known only by name.
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
"""gemini-embedding-2 uses these too, in place of a task type."""

# Keyed by the name of the model family. The longest matching name wins: `bge-m3` needs no prompt
# although the other `bge-` models do.
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
    """By the last part of the name: `library/nomic-embed-text:v1.5` is a `nomic-embed`."""
    name = model.lower().rsplit("/", 1)[-1]
    for family in sorted(_FAMILIES, key=len, reverse=True):
        if name.startswith(family):
            return _FAMILIES[family]
    return Prompts()
