"""Programs whose memory is Markdown: each file becomes a note, under its own name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from notewell.errors import BadRequest
from notewell.imports.files import markdown_files, read_bytes, unusable
from notewell.imports.records import ImportedNote, Reading
from notewell.limits import MAX_NOTE_BYTES
from notewell.types import Ignored

if TYPE_CHECKING:
    from pathlib import Path


def read_markdown(path: Path, project: str) -> Reading:
    """The Markdown below a folder, as notes below the name of the project: notes of two projects
    may have the same name. Raises `BadRequest` if there is none."""
    files, ignored = markdown_files(path)
    notes = list[ImportedNote]()
    for name, file in files:
        try:
            data = read_bytes(file, MAX_NOTE_BYTES)
            text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\0", "")
        except UnicodeDecodeError as error:
            ignored.append(Ignored(name, f"it is not UTF-8 (byte {error.start + 1})"))
            continue
        except BadRequest as error:
            ignored.append(Ignored(name, str(error)))
            continue
        at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        if text.strip():
            notes.append(ImportedNote(f"{project}/{name}", text, at))
    if not notes:
        raise unusable(path, "there is no Markdown in it that can be read")
    return Reading(notes=tuple(notes), left_out=tuple(ignored))
