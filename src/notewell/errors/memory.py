"""The root of our errors, and what goes wrong with requests, notes, the index and engines.

The tree is in `__init__.py`.
"""

from __future__ import annotations

from typing import ClassVar


class NotewellError(Exception):
    """The root of our errors."""

    exit_code: ClassVar[int] = 1

    def public_text(self) -> str:
        """The message for a remote reader, such as an agent: it names no folder."""
        # A class that adds nothing may quote anything in its message: withhold it by default.
        return "the memory could not do this"


class BadRequest(NotewellError):
    """The call cannot be answered as it stands."""

    exit_code = 2

    def public_text(self) -> str:
        # The message is about the caller's own arguments, which are no secret to the caller.
        return str(self)


class WorkspaceMissing(BadRequest):
    exit_code = 1

    def __init__(self, workspace: str, why: str = "no such folder") -> None:
        super().__init__(f"cannot use the workspace {workspace!r}: {why}")
        self.workspace = workspace

    def public_text(self) -> str:
        return "the folder with the notes cannot be opened"


class WorkspaceNotSet(BadRequest):
    """For a plugin of a host: the folder in which the host runs is not what its user means."""

    exit_code = 1

    def __init__(self, config_dir: str) -> None:
        super().__init__(
            f"no folder of notes is set: set it in the options of the plugin, or write "
            f'{{"agents": {{"defaults": {{"workspace": "~/notes"}}}}}} into config.json in '
            f"{config_dir!r}"
        )
        self.config_dir = config_dir

    def public_text(self) -> str:
        return "no folder of notes is set, in the plugin or in the settings of Notewell"


class NotesNotInFolder(BadRequest):
    """For parts that work on the files of a workspace, such as QMD."""

    exit_code = 1

    def __init__(self, location: str) -> None:
        super().__init__(
            f"this needs notes in a folder of this machine; the notes of this memory are in "
            f"{location!r}: use a workspace, or the memory without this part"
        )
        self.location = location

    def public_text(self) -> str:
        return "this needs notes in a folder"


class NotANote(BadRequest):
    """Refused without saying whether anything is there: what is outside stays unnamed."""

    exit_code = 1

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is not a note of this memory: notes are MEMORY.md, USER.md, "
            f"memory/**/*.md and what the extra paths hold, named as search shows them; "
            f"links are not followed"
        )
        self.path = path

    def public_text(self) -> str:
        return "this is not a note of this memory"


class BadEntry(BadRequest):
    def __init__(self, why: str) -> None:
        super().__init__(f"cannot append this entry: {why}")
        self.why = why


class NotADataset(BadRequest):
    def __init__(self, path: str, why: str, line: int | None = None) -> None:
        place = f"{path!r}, line {line}" if line else repr(path)
        super().__init__(f"cannot evaluate with {place}: {why}")
        self.path = path
        self.line = line


class BadSetting(BadRequest):
    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(f"setting {setting!r}: {problem}")
        self.setting = setting
        self.problem = problem

    def public_text(self) -> str:
        return "a setting of this memory cannot be used"


class MemoryOff(BadRequest):
    exit_code = 1

    def __init__(self, agent: str, because: str) -> None:
        super().__init__(f"agent {agent!r} has no memory: {because}")
        self.agent = agent
        self.because = because


class NoteUnreadable(NotewellError):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot read the note {path!r}: {why}")
        self.path = path
        self.why = why

    def public_text(self) -> str:
        return f"the note cannot be read: {self.why}"


class NoteNotWritable(NotewellError):
    """What was in the note is still there; the entry is not to be counted on."""

    def __init__(self, path: str, why: str, action: str) -> None:
        super().__init__(f"cannot append to the note {path!r}: {why}; {action}")
        self.path = path
        self.why = why
        self.action = action

    def public_text(self) -> str:
        return f"nothing was saved in {self.path!r}: {self.why}"


class NoteBusy(NoteNotWritable):
    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, path: str, waited_s: float) -> None:
        why = f"another process holds its lock; waited {waited_s:.0f} s"
        super().__init__(path, why, "append again when it is done")
        self.waited_s = waited_s


class EditRefused(NotewellError):
    """Nothing was changed, and why."""

    def __init__(self, path: str, reason: str, why: str, action: str) -> None:
        super().__init__(f"cannot change {path!r}: {why}; {action}")
        self.path = path
        self.reason = reason
        self.why = why
        self.action = action

    def public_text(self) -> str:
        return f"nothing was changed: {self.why}; {self.action}"


class IndexTrouble(NotewellError):
    """The notes are untouched; only the copy we search in has a problem."""

    def public_text(self) -> str:
        return "the index cannot be used just now"


class IndexBusy(IndexTrouble):
    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, directory: str, holder: str, waited_s: float) -> None:
        super().__init__(
            f"another process is at work on this index ({holder}); waited {waited_s:.0f} s. "
            f"Try again when it is done; the last index answers meanwhile. Index: {directory}"
        )
        self.directory = directory
        self.holder = holder
        self.waited_s = waited_s

    def public_text(self) -> str:
        return "another process is writing the index"


class IndexUnreadable(IndexTrouble):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"the index {path!r} cannot be read ({why}); your notes are untouched. "
            f"`notewell index` sets it aside and builds a new one"
        )
        self.path = path
        self.why = why

    def public_text(self) -> str:
        return "the index is damaged; the notes are untouched"


class IndexTooNew(IndexTrouble):
    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(
            f"the index {path!r} was written by a newer Notewell (schema {found}, this one "
            f"knows {known}): upgrade, or rebuild it here with `notewell index --force`"
        )
        self.path = path
        self.found = found
        self.known = known

    def public_text(self) -> str:
        return "the index was written by a newer Notewell"


class OldTextLeft(IndexTrouble):
    """What was to be forgotten is no longer found, but a file that cannot be removed has it."""

    def __init__(self, paths: tuple[str, ...], why: str) -> None:
        super().__init__(
            f"text that was removed is still in {', '.join(map(repr, paths))}: {why}. Fix that, "
            f"or end the program that uses the file, and repeat the command"
        )
        self.paths = paths
        self.why = why

    def public_text(self) -> str:
        return "text that was removed is still in a file of the index"


class IndexUnavailable(IndexTrouble):
    """The index is kept in a database that cannot be used now."""

    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, place: str, why: str, action: str) -> None:
        super().__init__(
            f"the index is in the database {place!r}, which {why}: {action}. "
            f"Your notes are untouched"
        )
        self.place = place
        self.why = why
        self.action = action

    def public_text(self) -> str:
        return "the database of the index cannot be used just now"


class StateNotWritable(IndexTrouble):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"cannot write to {path!r}: {why}. Fix that, or choose another folder with "
            f"--state-dir or NOTEWELL_STATE_DIR; it holds none of your notes"
        )
        self.path = path
        self.why = why

    @property
    def reason(self) -> str:
        """What failed, for a report about something that did not: it says nothing of the notes."""
        return f"cannot write to {self.path!r}: {self.why}"

    @property
    def system_reason(self) -> str | None:
        """The system's own words, such as "Read-only file system"; they name no folder."""
        cause = self.__cause__
        while cause is not None and not isinstance(cause, OSError):
            cause = cause.__cause__
        return cause.strerror if cause is not None else None

    def public_text(self) -> str:
        reason = f": {self.system_reason}" if self.system_reason else ""
        return f"the folder that holds the index cannot be written{reason}"


class StateBusy(StateNotWritable):
    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, path: str, waited_s: float) -> None:
        super().__init__(path, f"another process holds its lock; waited {waited_s:.0f} s")
        self.waited_s = waited_s


class DatabaseTrouble(NotewellError):
    """What was asked is not done. No text of a server or a connection string is in the message."""

    def __init__(self, place: str, why: str, action: str) -> None:
        super().__init__(f"the database {place!r} {why}: {action}")
        self.place = place
        """The address without user and password."""
        self.why = why
        self.action = action

    def public_text(self) -> str:
        return "the database cannot be used just now"


class DatabaseUnavailable(DatabaseTrouble):
    exit_code = 75  # EX_TEMPFAIL: try again later


class DatabaseBusy(DatabaseUnavailable):
    """This process used all of its connections for the whole wait."""


class DatabaseLocked(DatabaseUnavailable):
    """Another transaction held a row or a lock for the whole wait."""


class DatabaseNotReady(DatabaseTrouble):
    """Waiting does not help: somebody has to do something."""


class DatabaseForbidden(DatabaseNotReady):
    """The user of the connection string may not do that."""


class DatabaseDamaged(DatabaseTrouble):
    """The server found data that cannot be right."""


class OutputFailed(NotewellError):
    def __init__(self, why: str) -> None:
        super().__init__(f"cannot write the answer: {why}")
        self.why = why


class ConversationDenied(NotewellError):
    def __init__(self, why: str) -> None:
        super().__init__(f"this conversation may not see the memory: {why}")
        self.why = why

    def public_text(self) -> str:
        return str(self)


class BackendFailed(NotewellError):
    """An engine other than our own could not do what it was asked. An empty answer is none."""

    def __init__(self, backend: str, kind: str, why: str, action: str) -> None:
        super().__init__(f"{backend} did not answer ({kind}): {why}; {action}")
        self.backend = backend
        self.kind = kind
        """One word to branch on; which ones there are, the backend says."""
        self.why = why
        self.action = action
        """The next step, in words that name no folder."""

    def public_text(self) -> str:
        # `why` may quote what another program printed.
        return f"{self.backend} did not answer ({self.kind}); {self.action}"
