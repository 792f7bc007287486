"""The child process that runs llama.cpp: `llama.py` starts it and never imports it.

    in   {"path": ..., "context": ..., "pooled": ..., "threads": ...}   then  {"texts": [...]}
    out  {"ready": true}  or  {"error": ...}                            then  {"rows": [...]}

A row is {"vector": base64 of 32-bit floats} or {"error": why}. One line each, until the input
ends. It runs as a script and imports only the standard library and the binding: importing the
package would cost memory and time in every child.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
from typing import Any, BinaryIO

POOLING_MEAN = 1
"""For a file that names no pooling: what most embedding models use."""


def main() -> None:
    output = _private_output()
    settings = json.loads(sys.stdin.buffer.readline())
    try:
        server = _load(settings)
    except (ImportError, RuntimeError, OSError, ValueError) as error:
        _send(output, {"error": str(error)})
    else:
        _send(output, {"ready": True})
        for line in sys.stdin.buffer:
            _send(output, {"rows": [_row(server, text) for text in json.loads(line)["texts"]]})
    # The threads of the server would block a normal exit of the interpreter.
    os._exit(0)


def _private_output() -> BinaryIO:
    """A copy of stdout for the replies. Stdout itself becomes stderr, because llama.cpp prints to
    it and would break the protocol."""
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
    # A text must fit into one batch. More than one at a time was slower on a CPU.
    params.n_ctx = params.n_batch = params.n_ubatch = settings["context"]
    params.n_parallel = 1
    if settings["threads"]:
        params.cpuparams.n_threads = settings["threads"]
        params.cpuparams_batch.n_threads = settings["threads"]
    params.warmup = False
    params.offline = True
    params.verbosity = 1  # Errors, which the parent reads after a crash.
    return _without_open_port(xllamacpp, params)


def _without_open_port(xllamacpp: Any, params: Any) -> Any:
    """The binding always starts an HTTP server without a key; nobody may reach this one."""
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = False
    params.endpoint_slots = False
    if os.name == "nt":
        return xllamacpp.Server(params)
    # A Unix socket in a private folder, which is removed as soon as the server listens on it.
    with tempfile.TemporaryDirectory(prefix="notewell-") as folder:
        params.hostnames = [f"{folder}/llama.sock"]
        return xllamacpp.Server(params)


def _row(server: Any, text: str) -> dict[str, str]:
    try:
        reply = server.handle_embeddings({"input": [text], "encoding_format": "base64"})
        if "error" in reply:
            return {"error": str(reply["error"].get("message", reply["error"]))}
        return {"vector": reply["data"][0]["embedding"]}
    except (RuntimeError, KeyError, IndexError, TypeError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def _send(output: BinaryIO, reply: dict[str, Any]) -> None:
    output.write(json.dumps(reply).encode() + b"\n")
    output.flush()


if __name__ == "__main__":
    main()
