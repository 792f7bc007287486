"""Whether a peer works without a network: tried in a namespace that has loopback only.

    python -m bench.peers.offline NAME --cache FOLDER --data FOLDER

Indexes the smallest workspace, with the embedding server in the same namespace, and asks a few
questions. Prints how many hits came. `offline_hits` runs it.
"""

from __future__ import annotations

import argparse
import array
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

from bench.peers.measure import make_home
from bench.peers.peer import PeerFailed
from bench.peers.questions import load_sets
from bench.peers.rows import ROWS
from bench.peers.service import ROOT, embedding_service

QUESTIONS = 5
LIMIT_S = 900.0
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def offline_hits(name: str, cache: Path, data: Path) -> int | None:
    """How many hits came; None if no namespace can be made here, so that it was not tried."""
    unshare = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    command = [*unshare, sys.executable, "-m", "bench.peers.offline", name]
    try:
        done = subprocess.run(
            [*command, "--cache", cache, "--data", data], cwd=ROOT, check=False, timeout=LIMIT_S,
            capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"no answer within {LIMIT_S:.0f} s") from error
    if done.returncode:
        raise PeerFailed(done.stderr.strip()[-300:])
    return int(done.stdout.split()[-1])


def _raise_loopback() -> None:
    """A new namespace has loopback, but it is down."""
    with socket.socket() as handle:
        request = array.array("B", struct.pack("16sh14x", b"lo", 0))
        fcntl.ioctl(handle, _SIOCGIFFLAGS, request)
        flags = struct.unpack("16sh14x", request)[1] | _IFF_UP
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=ROWS)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    _raise_loopback()
    peer = ROWS[options.name]()
    peer.install(options.cache)
    asked = load_sets(options.data, options.cache / "scratch")[0]
    name, notes = min(asked.workspaces.items(), key=lambda each: _size(each[1]))
    texts = [question.text for question in asked.questions if question.workspace == name]
    place = options.cache / "offline" / options.name
    shutil.rmtree(place, ignore_errors=True)
    with embedding_service(place, texts) as service:
        home = make_home(peer, notes, place / name, service.url)
        peer.index(home)
        with peer.serve(home) as serving:
            print(sum(len(serving.ask(text).hits) for text in texts[:QUESTIONS]))


def _size(notes: Path) -> int:
    return sum(file.stat().st_size for file in notes.rglob("*.md"))


if __name__ == "__main__":
    main()
