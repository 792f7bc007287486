"""Runs under the Python of memsearch: answers JSON lines on standard input.

    memsearch_lines.py DATABASE URL          {"id", "question", "limit"}

The class is the one that `memsearch search` makes for each call; here it stays open.
"""

import asyncio
import importlib
import json
import sys


async def answer_all(database: str, url: str) -> None:
    memory = importlib.import_module("memsearch").MemSearch(
        embedding_provider="openai",
        embedding_model="notewell-embed",
        embedding_base_url=url,
        embedding_api_key="x",
        milvus_uri=database,
    )
    while line := await asyncio.to_thread(sys.stdin.readline):
        message = json.loads(line)
        results = await memory.search(message["question"], top_k=message["limit"])
        print(json.dumps({"id": message["id"], "results": results}), flush=True)


if __name__ == "__main__":
    asyncio.run(answer_all(*sys.argv[1:]))
