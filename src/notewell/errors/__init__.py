"""Everything Notewell raises on purpose, sorted by what the caller can do about it.

    NotewellError
    ├── BadRequest              change the call
    │   ├── WorkspaceMissing    the folder is not there
    │   ├── WorkspaceNotSet     no setting names the folder
    │   ├── NotesNotInFolder    the notes are kept in something else than a folder
    │   ├── NotANote            the path is not part of this memory
    │   ├── BadEntry            what is to be appended cannot stand in a note
    │   ├── NotADataset         a folder is no evaluation set, or a file of it is broken
    │   ├── BadSetting          a setting has a value we cannot use
    │   └── MemoryOff           the settings switch this memory off
    ├── NoteUnreadable          the file is there, but we could not read it
    ├── NoteNotWritable         nothing was appended, for a reason the user can fix
    │   └── NoteBusy            somebody else is appending to it: wait
    ├── EditRefused             an agent's own file was not changed, and why
    ├── IndexTrouble            the notes are safe; the index is not usable right now
    │   ├── IndexBusy           somebody else is writing it: wait
    │   ├── IndexUnreadable     damaged or not ours: `notewell index` sets it aside and rebuilds
    │   ├── IndexTooNew         written by a later Notewell: upgrade, or rebuild with --force
    │   ├── OldTextLeft         removed text is still in a file that cannot be removed
    │   ├── IndexUnavailable    the database that has it cannot be used now: wait
    │   └── StateNotWritable    no permission or no room where the index lives
    │       └── StateBusy       another process holds the lock of a state file: wait
    ├── DatabaseTrouble         a PostgreSQL server did not do what it was asked
    │   ├── DatabaseUnavailable no connection, or no answer in time: wait
    │   │   ├── DatabaseBusy    this process uses all of its connections: wait
    │   │   └── DatabaseLocked  another transaction held a lock for too long: wait
    │   ├── DatabaseNotReady    its tables, its role or the user are not as they must be
    │   │   └── DatabaseForbidden  the user may not do that
    │   └── DatabaseDamaged     it reports damaged data
    ├── OutputFailed            the answer could not be written to the output
    ├── ConversationDenied      the settings do not let this conversation see the memory
    ├── BackendFailed           another engine was asked and did not answer
    └── EmbedderTrouble         no vectors at the moment: keyword search still works
        ├── EmbedderMissing     its weights, its package or its key is missing
        ├── NoWorkingEmbedder   neither the provider nor its fallback works: the index is kept
        ├── FallbackNotUsed     it would replace vectors that nothing keeps: the index is kept
        ├── VectorsPending      a batch job computes them; a later sync fetches them
        ├── EmbedderRefused     it refuses every request until the user acts
        │   └── QuotaExhausted  the quota or the credit of the account is used up
        └── EmbedderFailed      it gave no usable vectors; the next request may succeed
            ├── EmbedderUnreachable  no complete reply: no connection, closed early, or timeout
            ├── AnswerUnusable       a reply, but not the requested vectors
            └── TextTooLarge         larger than it accepts: send less

Each message says what happened, to which thing, and the next step.
Facts a program might branch on are attributes, so nobody has to parse a message.

Each error has two texts: `str()` for the user at this machine, which may name folders, and
`public_text()` for remote readers, which must not. Reasons that come from the system or from other
programs may quote a path, so a public text is made of our own words only.

    memory.py       requests, notes, the index, engines; the root
    embedding.py    embedders
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.errors.embedding import (
        AnswerUnusable,
        EmbedderFailed,
        EmbedderMissing,
        EmbedderRefused,
        EmbedderTrouble,
        EmbedderUnreachable,
        FallbackNotUsed,
        NoWorkingEmbedder,
        QuotaExhausted,
        TextTooLarge,
        VectorsPending,
    )
    from notewell.errors.memory import (
        BackendFailed,
        BadEntry,
        BadRequest,
        BadSetting,
        ConversationDenied,
        DatabaseBusy,
        DatabaseDamaged,
        DatabaseForbidden,
        DatabaseLocked,
        DatabaseNotReady,
        DatabaseTrouble,
        DatabaseUnavailable,
        EditRefused,
        IndexBusy,
        IndexTooNew,
        IndexTrouble,
        IndexUnavailable,
        IndexUnreadable,
        MemoryOff,
        NotADataset,
        NotANote,
        NoteBusy,
        NoteNotWritable,
        NotesNotInFolder,
        NoteUnreadable,
        NotewellError,
        OldTextLeft,
        OutputFailed,
        StateBusy,
        StateNotWritable,
        WorkspaceMissing,
        WorkspaceNotSet,
    )
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "embedding": (
                "AnswerUnusable EmbedderFailed EmbedderMissing EmbedderRefused EmbedderTrouble "
                "EmbedderUnreachable FallbackNotUsed NoWorkingEmbedder QuotaExhausted "
                "TextTooLarge VectorsPending"
            ),
            "memory": (
                "BackendFailed BadEntry BadRequest BadSetting ConversationDenied DatabaseBusy "
                "DatabaseDamaged DatabaseForbidden DatabaseLocked "
                "DatabaseNotReady DatabaseTrouble DatabaseUnavailable EditRefused "
                "IndexBusy IndexTooNew IndexTrouble IndexUnavailable IndexUnreadable "
                "MemoryOff NotADataset "
                "NotANote NoteBusy NoteNotWritable NoteUnreadable NotesNotInFolder "
                "NotewellError OldTextLeft OutputFailed StateBusy StateNotWritable "
                "WorkspaceMissing WorkspaceNotSet"
            ),
        },
    )
