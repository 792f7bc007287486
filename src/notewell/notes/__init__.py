"""Markdown on disk: which files are notes, their text, cleaned once, and one entry more.

names.py      what a note may be called
scope.py      which paths belong to a memory, decided without touching the disk
find.py       one look at the disk
note_file.py  one note: its bytes with the stat that belongs to them, and its lock
clean.py      bytes to text
entry.py      what an append adds: an entry and its mark, as lines
section.py    a section by its heading
append_format.py  which bytes put those lines behind the bytes that are there
append_target.py  which note an entry goes to
append.py     one entry more at the end of a note: how the user's notes are written to
agent_folder.py  the folder an agent may edit, and nothing outside it
edit.py       create, replace, move and trash in there: compare and swap, nothing lost
rewrite.py    a new note under a free name; a note rewritten for an undo
ports.py      NoteStore: what a place that keeps notes does
workspace.py  START HERE: the folder of Markdown files, the first NoteStore
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.notes.append import append_result, find_entry, plan_addition
    from notewell.notes.append_format import add_to_section
    from notewell.notes.append_target import user_day
    from notewell.notes.edit import Content, EditableFolder, Kind, Listed
    from notewell.notes.entry import MAX_ENTRY_BYTES, Block, Entry
    from notewell.notes.excerpt import Lines, lines_of
    from notewell.notes.names import (
        IGNORED_FOLDERS,
        is_conflict_copy,
        is_note_name,
        shown,
        untellable,
    )
    from notewell.notes.note_file import locked_note, note_of, read_all, read_note
    from notewell.notes.ports import Appended, NoteStore
    from notewell.notes.rewrite import numbered_paths
    from notewell.notes.scope import ExtraPath
    from notewell.notes.section import Section
    from notewell.notes.settings import NotesSettings
    from notewell.notes.workspace import Workspace
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "append": "append_result find_entry plan_addition",
            "append_format": "add_to_section",
            "append_target": "user_day",
            "edit": "Content EditableFolder Kind Listed",
            "entry": "Block Entry MAX_ENTRY_BYTES",
            "excerpt": "Lines lines_of",
            "names": "IGNORED_FOLDERS is_conflict_copy is_note_name shown untellable",
            "note_file": "locked_note note_of read_all read_note",
            "ports": "Appended NoteStore",
            "rewrite": "numbered_paths",
            "scope": "ExtraPath",
            "section": "Section",
            "settings": "NotesSettings",
            "workspace": "Workspace",
        },
    )
