"""Which chunks may be found: without what is private, in one folder, with a tag.

    narrow ─┬─ hidden: MEMORY.md for a group, the conversation that asks
            ├─ among: the conversations of one folder
            └─ only: what fits the filters of the question (filtering.py)

A conversation has the folder in which its host ran. A note has none: what is written down holds
for all projects, so a narrowed search still finds all notes.

    /code/shop     that folder, and those below it
    shop           each folder with this name, and those below it
    .              the folder of this process

Each is a filter before the ranking: however many others there are, none of them takes the
place of one that is wanted.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from notewell.core import is_private_path
from notewell.errors import BadRequest
from notewell.types import Notice

if TYPE_CHECKING:
    from notewell.core import Filters
    from notewell.index import IndexView
    from notewell.search.candidates import Candidates
    from notewell.search.settings import SearchOptions

NOTES_ALONE = Notice.same("no conversations are searched here: the notes alone were searched")
MAX_FOLDER_CHARS = 4096
NAMED_FOLDERS = 5
"""So many folders are named to somebody who asked for an unknown one."""
_DRIVE = re.compile(r"[A-Za-z]:")


def narrow(view: IndexView, options: SearchOptions, candidates: Candidates) -> None:
    """Say which chunks may be found, before any is looked for."""
    if options.hides_private:
        candidates.hidden = _private_chunks(view)
    if options.running_session is not None:
        candidates.hidden |= _session_chunks(view, options.running_session)
    if options.folder is not None:
        _narrow_folder(view, options, options.folder, candidates)
    if options.filters is not None:
        _filter(view, options, options.filters, candidates)


def _private_chunks(view: IndexView) -> frozenset[int]:
    """The chunks of notes that are for private conversations."""
    paths = filter(is_private_path, view.notes("memory"))
    return frozenset(chunk_id for path in paths for chunk_id in view.chunks_of(path))


def _session_chunks(view: IndexView, stem: str) -> frozenset[int]:
    """The chunks of one conversation."""
    from notewell.sessions import session_stem  # Imported late: only hooks need it.

    paths = (path for path in view.notes("sessions") if session_stem(path) == stem)
    return frozenset(chunk_id for path in paths for chunk_id in view.chunks_of(path))


def _narrow_folder(
    view: IndexView, options: SearchOptions, folder: str, candidates: Candidates
) -> None:
    if "sessions" not in options.sources:
        # The same whatever the index has: a group must not learn which folders there are.
        candidates.among, candidates.folder_notice = frozenset(), NOTES_ALONE
        return
    among, candidates.folder_notice = chunks_within(view, folder)
    candidates.among = frozenset(among)


def _filter(
    view: IndexView, options: SearchOptions, filters: Filters, candidates: Candidates
) -> None:
    from notewell.search.filtering import fitting_chunks

    noted, said = fitting_chunks(view, filters, options.sources, options.today)
    among = said if candidates.among is None else said & candidates.among
    candidates.only = (noted | among) - candidates.hidden


# -- folders -------------------------------------------------------------------------------------


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
