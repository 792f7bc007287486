"""llama.cpp in a process of its own: started by `llama.py`, never imported by it.

    in   {"path": ..., "context": ..., "pooled": ..., "threads": ...}   then  {"texts": [...]}
    out  {"ready": true}  or  {"error": ...}                            then  {"rows": [...]}

A row is {"vector": base64 of 32-bit floats} or {"error": why}. A line each, until the input ends.

It runs as a file, with nothing but the standard library and the binding: no room of the house.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
from typing import Any, BinaryIO

POOLING_MEAN = 1
"""For a file that does not say how: what most embedding models do."""


def main() -> None:
    answers = _private_output()
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        server = _load(settings)
    except (ImportError, RuntimeError, OSError, ValueError) as error:
        _tell(answers, {"error": str(error)})
    else:
        _tell(answers, {"ready": True})
        for line in sys.stdin.buffer:
            _tell(answers, {"rows": [_row(server, text) for text in json.loads(line)["texts"]]})
    # The threads of the server would keep the interpreter from ending in order.
    os._exit(0)


def _private_output() -> BinaryIO:
    """Where the answers go; what llama.cpp prints to the standard output joins its errors."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "wb")


def _load(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.embedding = True
    if not settings["pooled"]:
        params.pooling_type = xllamacpp.llama_pooling_type(POOLING_MEAN)
    # A text has to fit into one batch, and more than one at a time was slower on a processor.
    params.n_ctx = params.n_batch = params.n_ubatch = settings["context"]
    params.n_parallel = 1
    if settings["threads"]:
        params.cpuparams.n_threads = settings["threads"]
        params.cpuparams_batch.n_threads = settings["threads"]
    params.warmup = False
    params.offline = True
    params.verbosity = 1  # errors, which our parent reads when we have died of them
    return _without_a_door(xllamacpp, params)


def _without_a_door(xllamacpp: Any, params: Any) -> Any:
    """The binding always opens an HTTP server, without a key; nobody shall find this one."""
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = False
    params.endpoint_slots = False
    if os.name == "nt":
        return xllamacpp.Server(params)
    # A socket in a folder of our own that is gone once the server listens on it.
    with tempfile.TemporaryDirectory(prefix="notewell-") as folder:
        params.hostnames = [f"{folder}/llama.sock"]
        return xllamacpp.Server(params)


def _row(server: Any, text: str) -> dict[str, str]:
    try:
        answer = server.handle_embeddings({"input": [text], "encoding_format": "base64"})
        if "error" in answer:
            return {"error": str(answer["error"].get("message", answer["error"]))}
        return {"vector": answer["data"][0]["embedding"]}
    except (RuntimeError, KeyError, IndexError, TypeError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _tell(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
