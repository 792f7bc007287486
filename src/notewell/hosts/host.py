"""What Notewell must know of a host: how it writes transcripts, calls hooks and finds MCP servers.

Each of the parts is optional: VS Code has an MCP file only, OpenClaw transcripts only.
These are plain values and pure functions, so that a host can be described in one short file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from notewell.errors import BadRequest
from notewell.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from notewell.hosts.messages import Record, RecordFacts

HOOK_GUARD = "NOTEWELL_HOOK"
"""Set in the environment of a program that a hook or a flush starts. Its own hooks then do
nothing, so that a conversation about a conversation is not captured."""

HOOK_TIMEOUT_S = 10
"""A hook takes a tenth of a second. Without a limit, hosts wait for minutes."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where a host keeps its files."""

    home: Path
    environ: Mapping[str, str]
    platform: str
    """As in `sys.platform`: linux, darwin, win32."""

    def folder(self, variable: str | None, default: Path) -> Path:
        """The folder that an environment variable names, else the default."""
        named = self.environ.get(variable) if variable else None
        return Path(named) if named else default


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    """How a host writes a conversation: the shape of the file and the shape of a record."""

    name: str
    owns: Callable[[Record], bool]
    """Whether this host wrote the record (of a document: the document). Of a file with JSON lines,
    the first record that any format owns decides for the whole file."""
    read: Callable[[Record], RecordFacts]
    prefix: str = ""
    suffix: str = ".jsonl"
    """How the name of a file begins and ends."""
    records: Callable[[Record], Iterable[Record]] | None = None
    """None: the file has JSON lines, each line is a record, and the host appends. Else the file is
    one JSON document, which the host rewrites, and this function returns its records in order."""
    has_no_message: Callable[[bytes], bool] = lambda line: False
    """Whether a line surely has no message, by its bytes alone. Most of a file is the output of
    tools, and a search for a few bytes is many times faster than to parse it."""
    compaction_marks: tuple[bytes, ...] = ()
    """One of these is in the file's bytes where the host compacted the conversation. A byte search
    is fast enough for every scan, and a message that quotes a mark only causes an early read."""

    @property
    def is_document(self) -> bool:
        return self.records is not None

    def is_name(self, name: str) -> bool:
        """Whether a file of this name may be in this format."""
        return name.startswith(self.prefix) and name.endswith(self.suffix)


@dataclass(frozen=True, slots=True)
class TranscriptDatabase:
    """How a host keeps all its conversations in one SQLite database."""

    file: str
    """Its name in the folder of the host."""
    format: TranscriptFormat
    """How a record is read; `owns` is not asked."""
    sessions: str
    """The query for all conversations: id, time of the last change in milliseconds, and a number
    that grows with them."""
    records: str
    """The query for the records of the conversation `:id` in order, each a JSON object as text, or
    as bytes in the zstd format, or NULL for one that is damaged."""
    extra: str = ""
    """The extra of Notewell that reads compressed records."""


@dataclass(frozen=True, slots=True)
class HookFields:
    """Where the JSON of a hook call has its facts; the first key that holds text counts."""

    session: tuple[str, ...] = ("session_id", "conversation_id")
    transcript: tuple[str, ...] = ("transcript_path",)
    cwd: tuple[str, ...] = ("cwd",)
    detail: tuple[str, ...] = ("source", "trigger", "reason")
    prompt: tuple[str, ...] = ("prompt",)
    transcript_file: Callable[[Machine, str], Path] | None = None
    """The transcript of a session, for a host that does not name it at every event."""


def nested_context(event: str, text: str) -> dict[str, Any] | None:
    """Text for the conversation, in the form of Claude Code, which Codex copies."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def command_hook(command: str, limit: int) -> dict[str, Any]:
    """An entry for a command, with the time that the host waits for it."""
    return {"type": "command", "command": command, "timeout": limit}


def hook_group(command: str, limit: int) -> dict[str, Any]:
    """An entry of Claude Code, which others copy: a group of hooks, which may have a matcher."""
    return {"hooks": [command_hook(command, limit)]}


@dataclass(frozen=True, slots=True)
class HookFile:
    """The JSON file that tells a host which commands to call, and when."""

    folder: str
    """In the user's home, and in a project if there is no `project_folder`."""
    variable: str | None
    """The environment variable that moves the user's folder."""
    name: str
    events: Mapping[str, str]
    """The host's event to ours. A host with a `stop` event may end without a `session-end`: then
    the next session start saves the conversation."""
    form: Callable[[str, int], dict[str, Any]] = hook_group
    """An entry, from the command and its limit in the unit of the host."""
    timeouts: Mapping[str, int] = field(default_factory=dict)
    """The limits, in seconds, of events that have less time than the others."""
    timeout_unit: Literal["s", "ms"] = "s"
    """In which unit the host's file has them."""
    new_file: str = ""
    """The text of a file that does not exist yet, before hooks are added."""
    project_folder: str | None = None
    """The folder in a project, if it has another name there."""
    advice: str | None = None
    """What the user must do after the installation."""
    project_advice: str | None = None
    """What the user must do before the hooks of a project run."""
    context: Callable[[str, str], dict[str, Any] | None] = nested_context
    """The JSON that adds text to the conversation, by event; None if the host takes none then."""
    fields: HookFields = field(default_factory=HookFields)
    turn_events: Mapping[str, str] = field(default_factory=dict)
    """Events before and after each turn; installed only if the settings or the user want them,
    because a host waits for them in every turn."""
    compacts_after_event: bool = True
    """False: it reports a compaction before each request, and seldom compacts. Its transcript then
    shows whether it did."""

    def file(self, machine: Machine, project: Path | None) -> Path:
        if project is not None:
            return project / (self.project_folder or self.folder) / self.name
        return machine.folder(self.variable, machine.home / self.folder) / self.name

    def limit_s(self, ours: str) -> int:
        """How long the host waits for one of our events."""
        events = {**self.events, **self.turn_events}
        limits = [self.timeouts.get(event) for event, name in events.items() if name == ours]
        return min((limit for limit in limits if limit), default=HOOK_TIMEOUT_S)

    def item(self, command: str, event: str) -> dict[str, Any]:
        limit = self.timeouts.get(event, HOOK_TIMEOUT_S) * {"s": 1, "ms": 1000}[self.timeout_unit]
        return self.form(command, limit)


@dataclass(frozen=True, slots=True)
class HookCalls:
    """How hooks are called in a host without a file of hooks: a plugin of ours calls them."""

    events: Mapping[str, str]
    """As in `HookFile`."""
    context: Callable[[str, str], dict[str, Any] | None]
    fields: HookFields = field(default_factory=HookFields)
    compacts_after_event: bool = True
    """As in `HookFile`."""

    def limit_s(self, event: str) -> float:
        """What our plugin grants each of our events."""
        return HOOK_TIMEOUT_S


def plain_entry(command: Sequence[str]) -> dict[str, Any]:
    """An MCP entry that needs no type."""
    return {"command": command[0], "args": list(command[1:])}


def stdio_entry(command: Sequence[str]) -> dict[str, Any]:
    """An MCP entry that says how to talk to the server."""
    return {"type": "stdio", **plain_entry(command)}


@dataclass(frozen=True, slots=True)
class McpFile:
    """The file in which a host lists its MCP servers."""

    format: Literal["json", "toml", "yaml"]
    key: str
    """The object or table that has the servers as members; in YAML, the list of them."""
    user_file: Callable[[Machine], Path]
    """It counts for all projects of the user."""
    project_file: str | None
    """It counts for one project; relative to the project's folder. None: there is none."""
    form: Callable[[Sequence[str]], dict[str, Any]] = plain_entry
    """The entry for a command."""
    waits: Mapping[str, bool | int] = field(default_factory=dict)
    """Members of the entry that make the host wait for the server. Without them, the tools of a
    server that starts slowly are missing in the first request."""
    project_advice: str | None = None
    """What the user must do before the entry of a project counts."""

    def file(self, machine: Machine, project: Path | None) -> Path:
        if project is None:
            return self.user_file(machine)
        if self.project_file is None:
            raise BadRequest("this host has no file for a project: leave out --project")
        return project / self.project_file

    def entry(self, command: Sequence[str]) -> dict[str, Any]:
        return {**self.form(command), **self.waits}


@dataclass(frozen=True, slots=True)
class PluginFile:
    """The files in which a host records which plugins are on; ours is in `plugins/`."""

    format: Literal["json", "toml"]
    files: Callable[[Machine], Sequence[Path]]
    """Ours may be in any of them."""
    has_ours: Callable[[dict[str, Any]], bool]
    """Whether a file with these contents switches our plugin on."""
    uninstall: str
    """How a user takes our plugin out."""
    folders: Callable[[dict[str, Any]], Sequence[str]] = lambda _: ()
    """Folders of plugins that a file with these contents switches on, each with a package.json."""
    package: str | None = None
    """The name of ours in package.json."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The file in which a host records the folders that it was started in."""

    format: Literal["json", "toml"]
    file: Callable[[Machine], Path]
    key: str
    """The object or table with the folders as its keys."""
    instructions: tuple[str, ...]
    """The Markdown files in such a folder that the host gives to its model."""


def member(document: object, *keys: str) -> dict[str, Any]:
    """An object within the file of a host; empty if it is missing or something else."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}


@dataclass(frozen=True, slots=True)
class Host:
    """A program in which an agent runs."""

    id: str
    """As users type it: `notewell hook install claude`."""
    title: str
    program: str | None = None
    """The program on the path; None: it is called as the id."""
    transcripts: TranscriptFormat | None = None
    earlier_transcripts: TranscriptFormat | None = None
    """What earlier versions of the host wrote."""
    database: TranscriptDatabase | None = None
    transcript_folders: Callable[[Machine], tuple[Path, ...]] | None = None
    """Where it keeps its transcripts, or the database; None: not in one place that is its own."""
    hooks: HookFile | None = None
    hook_calls: HookCalls | None = None
    mcp: McpFile | None = None
    plugin: PluginFile | None = None
    plugin_install: str | None = None
    """The command of the host that installs our plugin, in a host where only a plugin can recall
    and capture. CHECKOUT stands for a checkout of Notewell."""
    projects: ProjectFile | None = None
