"""basic-memory: Markdown files, with observations and relations as list items. Seen in version
0.23.2. They are Markdown already, so each is taken over as it is, under its own name.

---
title: Search design
type: note
permalink: main/specs/search-design
---
- [decision] Keyword search comes first #search (measured in October)
- part_of [[Harbour project]]

Its database, `~/.basic-memory/memory.db`, is an index of these files and has nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.imports.markdown import read_markdown
from notewell.imports.records import MemoryProgram, Reading

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> Reading:
    return read_markdown(path, path.name)


PROGRAM = MemoryProgram(
    "basic-memory",
    "basic-memory",
    read,
    wants="the folder of a project (`basic-memory project list`)",
    places=("basic-memory",),
)
