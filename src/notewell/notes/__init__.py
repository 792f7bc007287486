"""Notes: which Markdown files are notes, their clean text, and one entry more.

ports.py          START HERE: NoteStore, what a place that keeps notes does
workspace.py      the folder of Markdown files, the first NoteStore; `open_notes` opens it
postgres.py       the same in the tables of a PostgreSQL server
scope.py          NotesSettings; which paths belong to a memory, decided from names alone
scan.py           one look at the disk
note_file.py      one note: its clean text with the stat that belongs to it, and its lock
entry.py          an entry and its marker, as lines of Markdown
section.py        a section, found by its heading
append_format.py  which bytes put those lines at the end of a note
append.py         one entry more at the end of a note
rewrite.py        a new note under a free name; a note rewritten for an undo
transfer.py       notes carried between a folder and PostgreSQL
agent_folder.py   the folder an agent may edit, and nothing outside it
edit.py           create, replace, move and trash in that folder, with compare-and-swap
excerpt.py        some lines of a note
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.notes.append import append_result, find_entry, plan_addition, planned_append
    from notewell.notes.append_format import add_to_section
    from notewell.notes.edit import Content, EditableFolder, FolderEntry, Kind
    from notewell.notes.entry import MAX_ENTRY_BYTES, Block, Entry
    from notewell.notes.excerpt import Excerpt, excerpt_of
    from notewell.notes.note_file import clean, locked_note, note_of, read_all, read_note
    from notewell.notes.ports import (
        IN_DATABASE,
        NOT_RECORDED,
        Appended,
        NoteStore,
        folder_of,
        user_day,
    )
    from notewell.notes.rewrite import numbered_paths
    from notewell.notes.scope import (
        IGNORED_FOLDERS,
        ExtraPath,
        NotesSettings,
        is_conflict_copy,
        is_note_name,
        printable,
        why_unprintable,
    )
    from notewell.notes.section import Section
    from notewell.notes.transfer import Transfer, Transferred
    from notewell.notes.workspace import open_notes
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "append": "append_result find_entry plan_addition planned_append",
            "append_format": "add_to_section",
            "edit": "Content EditableFolder FolderEntry Kind",
            "entry": "Block Entry MAX_ENTRY_BYTES",
            "excerpt": "Excerpt excerpt_of",
            "note_file": "clean locked_note note_of read_all read_note",
            "ports": "Appended IN_DATABASE NOT_RECORDED NoteStore folder_of user_day",
            "rewrite": "numbered_paths",
            "scope": (
                "ExtraPath IGNORED_FOLDERS NotesSettings is_conflict_copy is_note_name printable "
                "why_unprintable"
            ),
            "section": "Section",
            "transfer": "Transfer Transferred",
            "workspace": "open_notes",
        },
    )
