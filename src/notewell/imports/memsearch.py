"""memsearch: Markdown files by day, `.memsearch/memory/2026-11-03.md`; `memsearch compact` writes
`memory/2026-11-18.md`. Seen in version 0.4.23.

    ## Session 10:15

    ### 10:15
    <!-- session:… turn:… transcript:… -->
    - Chose PostgreSQL for the project.

Its Milvus database is an index of these files. A folder of the user's own Markdown that memsearch
has indexed needs no import: `notewell init --extra` takes it in where it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.imports.files import unusable
from notewell.imports.markdown import read_markdown
from notewell.imports.records import MemoryProgram, Reading
from notewell.records import replace

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER, _DAYS = ".memsearch", "memory"


def read(path: Path) -> Reading:
    if path.name.startswith("milvus"):
        raise unusable(path, "it is an index; name the folder of the Markdown, .memsearch/memory")
    # `memory`, `PROJECT.md` and `USER.md` are below `.memsearch` in the folder of a project.
    inside = path / _FOLDER
    folder = inside if inside.is_dir() else path
    names = [name for name in folder.parts if name not in (_FOLDER, _DAYS)]
    reading = read_markdown(folder, names[-1])
    # The same notes, whichever of the three folders is named.
    notes = [replace(note, path=note.path.replace(f"/{_DAYS}/", "/", 1)) for note in reading.notes]
    return replace(reading, notes=tuple(notes))


PROGRAM = MemoryProgram(
    "memsearch", "memsearch", read, wants="its folder, .memsearch, or the project that has it"
)
