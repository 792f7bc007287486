"""A search in the conversations of one folder.

A conversation has the folder in which its host ran. A note has none: what is written down holds
for all projects, so a narrowed search still finds all notes.

    /code/shop     that folder, and those below it
    shop           each folder with this name, and those below it
    .              the folder of this process

The folder is a filter before the ranking: however many conversations other folders have, none of
them takes the place of one that is wanted.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from notewell.errors import BadRequest
from notewell.types import Notice

if TYPE_CHECKING:
    from notewell.index import IndexView

MAX_FOLDER_CHARS = 4096
NAMED_FOLDERS = 5
"""So many folders are named to somebody who asked for an unknown one."""
_DRIVE = re.compile(r"[A-Za-z]:")


def folder_named(folder: str) -> str:
    """A folder as it is compared, by what a caller wrote; raises `BadRequest`."""
    if not folder.strip():
        raise BadRequest("the folder is empty: name one, or `.` for this one")
    if len(folder) > MAX_FOLDER_CHARS or "\0" in folder:
        raise BadRequest(f"a folder has at most {MAX_FOLDER_CHARS} characters, and no NUL")
    is_name = not _is_path(folder)
    return folder if is_name else _key(os.path.abspath(os.path.expanduser(folder)))  # noqa: PTH100, PTH111


def _is_path(folder: str) -> bool:
    return folder in (".", "..") or folder.startswith("~") or "/" in folder or "\\" in folder


def _key(folder: str) -> str:
    """The same for the two ways in which Windows writes a folder."""
    key = folder.replace("\\", "/").rstrip("/") or "/"
    return key.casefold() if _DRIVE.match(key) else key


def is_within(folder: str, wanted: str) -> bool:
    """Whether a folder is the wanted one, or below it; `wanted` is from `folder_named`."""
    key = _key(folder)
    if "/" not in wanted:
        return wanted.casefold() in key.casefold().split("/")
    return key == wanted or key.startswith(f"{wanted.rstrip('/')}/")


def chunks_within(view: IndexView, wanted: str) -> tuple[list[int], Notice | None]:
    """The chunks of the conversations in a folder. If there are none, why."""
    folders = view.folders()
    within = [folder for folder in folders if is_within(folder, wanted)]
    if within:
        return view.chunks_in(within), None
    known = ", ".join(folders[:NAMED_FOLDERS]) or "none"
    public = "no conversation is from that folder: the notes alone were searched"
    text = f"no conversation is from {wanted}: the notes alone were searched (folders: {known})"
    return [], Notice(text, public)
