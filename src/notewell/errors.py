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
    │   └── StateNotWritable    no permission or no room where the index lives
    │       └── StateBusy       another process holds the lock of a state file: wait
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
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.ports import Vectors


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


class StateNotWritable(IndexTrouble):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"cannot write to {path!r}: {why}. Fix that, or choose another folder with "
            f"--state-dir or NOTEWELL_STATE_DIR; your notes are untouched"
        )
        self.path = path
        self.why = why

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


class EmbedderTrouble(NotewellError):
    exit_code = 5
    until_user_acts: ClassVar[bool] = False
    """Whether every retry fails until the user changes something."""
    summary: ClassVar[str] = "failed"
    """What the embedder does, as the predicate of a sentence."""

    provider: str = ""
    action: str = ""
    """The next step, in words that name no folder; empty if there is none."""
    http_status: int | None = None
    finished: Mapping[int, Vectors] = MappingProxyType({})
    """Rows that were finished before the error, by the number of their text: they are paid for."""

    def public_text(self) -> str:
        # The reason may quote a provider, a library or the system, so it is left out.
        status = f" (HTTP {self.http_status})" if self.http_status else ""
        action = f"; {self.action}" if self.action else ""
        name = f"{self.provider!r} embedder" if self.provider else "embedder"
        return f"the {name} {self.summary}{status}{action}"


class EmbedderMissing(EmbedderTrouble):
    """A retry fails until the user acts."""

    until_user_acts = True
    summary = "is not available"

    def __init__(self, provider: str, problem: str, action: str) -> None:
        super().__init__(f"the {provider!r} embedder is not available: {problem}; {action}")
        self.provider = provider
        self.problem = problem
        self.action = action


class NoWorkingEmbedder(EmbedderTrouble):
    """The embedder of the index does not work, and none that could take its place does."""

    def __init__(self, troubles: Sequence[EmbedderTrouble], kept_model: str | None) -> None:
        kept = f". The index keeps its vectors of {kept_model}" if kept_model else ""
        super().__init__(_NO_FALLBACK.join(map(str, troubles)) + kept)
        self.troubles = tuple(troubles)
        """Of the provider, and of its fallback if there is one."""
        self.kept_model = kept_model
        """The model whose vectors are in the index; None: there are none."""
        self.provider = troubles[0].provider
        self.http_status = troubles[0].http_status

    def public_text(self) -> str:
        return _NO_FALLBACK.join(trouble.public_text() for trouble in self.troubles)


_NO_FALLBACK = ". The fallback cannot take its place: "


class FallbackNotUsed(EmbedderTrouble):
    """A fallback would replace the vectors of another model, and they would be lost."""

    summary = "is not used: vectors in the index would be lost"

    def __init__(self, provider: str, kept_model: str, why: str) -> None:
        action = f"to replace them all the same, set memorySearch.provider: {provider}"
        super().__init__(
            f"the {provider!r} embedder is not used: it would replace the vectors of {kept_model} "
            f"in the index, and {why}; {action}"
        )
        self.provider = provider
        self.kept_model = kept_model
        self.why = why
        self.action = action


class VectorsPending(EmbedderTrouble):
    """Nothing went wrong: the settings say that nobody waits for a batch job."""

    summary = "has batch jobs under way"

    def __init__(self, provider: str, texts: int, jobs: Sequence[str]) -> None:
        super().__init__(
            f"{texts} texts are in batch jobs of {provider!r} that have not ended "
            f"({', '.join(jobs)}); a later `notewell index` fetches their vectors"
        )
        self.provider = provider
        self.action = "a later sync fetches their vectors"
        self.texts = texts
        self.jobs = tuple(jobs)


class EmbedderRefused(EmbedderTrouble):
    """The provider replied and refuses: the key, the model or the account is wrong."""

    until_user_acts = True
    summary = "refuses every request"

    def __init__(
        self,
        provider: str,
        problem: str,
        action: str,
        *,
        http_status: int | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(f"the {provider!r} embedder refuses: {problem}; {action}")
        self.provider = provider
        self.action = action
        self.http_status = http_status
        self.code = code


class QuotaExhausted(EmbedderRefused):
    """The provider reports it with a code or status; it does not recover within seconds."""

    summary = "refuses every request: the quota is used up"


class EmbedderFailed(EmbedderTrouble):
    def __init__(
        self,
        provider: str,
        why: str,
        *,
        http_status: int | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"the {provider!r} embedder failed: {why}")
        self.provider = provider
        self.why = why
        self.http_status = http_status
        self.code = code
        self.retry_after_s = retry_after_s


class EmbedderUnreachable(EmbedderFailed):
    """No complete reply arrived, so it is unknown whether the server executed the request."""

    summary = "gave no complete reply"


class AnswerUnusable(EmbedderFailed):
    """The wrong count, order, length or numbers; nothing of the reply is used."""

    summary = "gave an unusable reply"


class TextTooLarge(EmbedderFailed):
    """The request or a text in it is larger than the provider accepts."""

    summary = "refuses a text that is too large"
