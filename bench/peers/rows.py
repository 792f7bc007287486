"""The rows of the table, by the name that the command line takes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from bench.peers.basic_memory import BasicMemory
from bench.peers.claude_mem import ClaudeMem
from bench.peers.mem0 import Mem0
from bench.peers.memsearch import Memsearch
from bench.peers.notewell_itself import Notewell
from bench.peers.openclaw import OpenClaw
from bench.peers.qmd import Qmd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.peers.peer import Peer

ROWS: Mapping[str, Callable[[], Peer]] = {
    "notewell": Notewell,
    "openclaw": OpenClaw,
    "openclaw-ageless": partial(OpenClaw, is_ageless=True),
    "qmd": Qmd,
    "qmd-by-word": partial(Qmd, by_word=True),
    "memsearch": Memsearch,
    "basic-memory": BasicMemory,
    "mem0": Mem0,
    "claude-mem": ClaudeMem,
    "claude-mem-by-word": partial(ClaudeMem, by_word=True),
}
