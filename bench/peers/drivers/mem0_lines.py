"""Runs under the Python of mem0: answers JSON lines on standard input.

    mem0_lines.py STATE URL          {"id", "add": {text, path, lines}} and {"id", "question"}

The store is qdrant's local one, mem0's default, and `infer` is off: no language model rewrites
what is added.
"""

import importlib
import json
import sys
from typing import Any

USER = "bench"


def open_memory(state: str, url: str) -> Any:
    embedder = {"model": "notewell-embed", "openai_base_url": url, "api_key": "x"}
    store = {"path": f"{state}/qdrant", "embedding_model_dims": 384, "on_disk": True}
    return importlib.import_module("mem0").Memory.from_config(
        {
            "embedder": {"provider": "openai", "config": embedder},
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "openai", "config": {"api_key": "x", "openai_base_url": url}},
            "history_db_path": f"{state}/history.db",
        }
    )


def answer(memory: Any, message: dict[str, Any]) -> list[dict[str, Any]]:
    if added := message.get("add"):
        text = added.pop("text")
        memory.add(text, user_id=USER, metadata=added, infer=False)
        return []
    found = memory.search(message["question"], filters={"user_id": USER}, top_k=message["limit"])
    results: list[dict[str, Any]] = found["results"]
    return results


def main() -> None:
    memory = open_memory(*sys.argv[1:])
    for line in sys.stdin:
        message = json.loads(line)
        results = answer(memory, message)
        print(json.dumps({"id": message["id"], "results": results}, default=str), flush=True)


if __name__ == "__main__":
    main()
