"""Files on disk: the one implementation of locks, atomic replacement and link-safe opening.

private.py       modes of our own files and folders; fsync of a file or a folder
locks.py         an exclusive lock between processes
atomic.py        a file replaced or made as a whole, durable on request
nofollow.py      directories and files opened without following links
writable_dir.py  such a directory with create, rename and remove
state.py         small JSON state files and logs

Every package above may use it. It knows nothing about notes, indexes or models.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.files.atomic import create_file, remove_left_behind, replace_file
    from notewell.files.locks import (
        Holder,
        LockFailed,
        LockState,
        LockTimeout,
        file_lock,
        has_locks,
        inspect_lock,
        is_alive,
        locked_fd,
    )
    from notewell.files.nofollow import (
        LINK,
        Directory,
        DirHandle,
        NotPlain,
        PathDir,
        descend,
        describe_os_error,
        disk,
        identity,
        note_stat,
        open_resolved,
        why_not_plain,
    )
    from notewell.files.private import (
        PRIVATE_FILE,
        effective_user,
        give_to_owner,
        make_private,
        open_model,
        open_private,
        sync_directory,
        sync_file,
        why_not_writable,
    )
    from notewell.files.state import (
        MAX_STATE_BYTES,
        append_json_line,
        has_bytes,
        read_json,
        read_json_lines,
        state_lock,
        write_json,
        write_state,
    )
    from notewell.files.writable_dir import EDIT_COPY, WritableDir, can_edit_folders
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "atomic": "create_file remove_left_behind replace_file",
            "locks": (
                "Holder LockFailed LockState LockTimeout file_lock has_locks inspect_lock "
                "is_alive locked_fd"
            ),
            "nofollow": (
                "DirHandle Directory LINK NotPlain PathDir descend describe_os_error disk "
                "identity note_stat open_resolved why_not_plain"
            ),
            "private": (
                "PRIVATE_FILE effective_user give_to_owner make_private open_model open_private "
                "sync_directory sync_file why_not_writable"
            ),
            "state": (
                "MAX_STATE_BYTES append_json_line has_bytes read_json read_json_lines state_lock "
                "write_json write_state"
            ),
            "writable_dir": "EDIT_COPY WritableDir can_edit_folders",
        },
    )
