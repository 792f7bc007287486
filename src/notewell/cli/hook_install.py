"""`notewell hook install`: an entry for each event in the host's own file, put in as text.

    claude   ~/.claude/settings.json   .claude/settings.json   SessionStart PreCompact SessionEnd
    codex    ~/.codex/hooks.json       .codex/hooks.json       the same, and Stop
    cursor   ~/.cursor/hooks.json      .cursor/hooks.json      sessionStart preCompact sessionEnd

Hooks of others stay where they are, and not a character of the rest changes.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.mcp import serve_command
from notewell.cli.output import print_json, say, tell
from notewell.clients import CannotMerge, Client, FileNotWritten, Machine, merged

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

TIMEOUT_S = 10
"""Far more than a hook takes. By themselves hosts wait for minutes, and nobody should."""

# A text that never ends is taken to its end: else each quotation mark in it would begin another.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]')


@dataclass(frozen=True, slots=True)
class Host:
    title: str
    folder: str
    """In the user's home and in a project."""
    variable: str | None
    """What moves the user's folder elsewhere."""
    name: str
    events: Mapping[str, str]
    """Our event for each of the host's."""
    nested: bool
    """Whether an event's entries are groups with a matcher."""
    advice: str | None = None
    """What is left for the user to do."""

    def file(self, machine: Machine, project: Path | None) -> Path:
        if project is not None:
            return project / self.folder / self.name
        moved = machine.environ.get(self.variable) if self.variable else None
        return (Path(moved) if moved else machine.home / self.folder) / self.name

    def item(self, command: str) -> dict[str, Any]:
        if not self.nested:
            return {"command": command}
        return {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_S}]}

    @property
    def empty(self) -> str:
        return "" if self.nested else '{\n  "version": 1\n}\n'


HOSTS = {
    "claude": Host(
        "Claude Code",
        ".claude",
        "CLAUDE_CONFIG_DIR",
        "settings.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            "SessionEnd": "session-end",
        },
        nested=True,
        advice="Codex runs a new hook once you trust it: type /hooks there",
    ),
    "codex": Host(
        "Codex",
        ".codex",
        "CODEX_HOME",
        "hooks.json",
        {
            "SessionStart": "session-start",
            "PreCompact": "pre-compact",
            "Stop": "stop",  # Versions that do not tell of an end tell of every turn.
            "SessionEnd": "session-end",
        },
        nested=True,
        advice="Codex runs a new hook once you trust it: type /hooks there",
    ),
    "cursor": Host(
        "Cursor",
        ".cursor",
        None,
        "hooks.json",
        {
            "sessionStart": "session-start",
            "preCompact": "pre-compact",
            "sessionEnd": "session-end",
        },
        nested=False,
    ),
}


def run_install(arguments: argparse.Namespace) -> int:
    host = HOSTS[arguments.host]
    project = Path(arguments.project).absolute() if arguments.project is not None else None
    file = host.file(Machine(Path.home(), os.environ, sys.platform), project)
    items = {
        theirs: host.item(hook_command(arguments, ours)) for theirs, ours in host.events.items()
    }
    if arguments.print:
        text = with_hooks(host.empty, items) or ""
        if arguments.json:
            print_json({"file": str(file), "entries": json.loads(text)})
        else:
            tell(f"for {file}:")
            say(text.rstrip("\n"))
        return 0
    changed, backup = install(file, host, items)
    if arguments.json:
        told = str(backup) if backup else None
        print_json({"file": str(file), "changed": changed, "backup": told})
    else:
        say(f"{host.title} {'now calls this memory' if changed else 'calls this memory already'}")
        tell(f"in {file}" + (f"; as it was: {backup}" if backup else ""))
        if changed and host.advice:
            tell(host.advice)
    return 0


def hook_command(arguments: argparse.Namespace, event: str) -> str:
    """One line for a shell, with this Python and this workspace; works from anywhere."""
    words = serve_command(arguments)
    at = words.index("mcp")
    words[at : at + 2] = ["hook", event, "--host", arguments.host]
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)


# -- the text ------------------------------------------------------------------------------------


def with_hooks(text: str, items: Mapping[str, dict[str, Any]]) -> str | None:
    """The file with an entry for each event; None when all are there. Raises `CannotMerge`."""
    after = text
    for event, item in items.items():
        known = _entries(after, event)
        if known is None:
            # `merged` puts a member under a key; that the member is a list does not matter to it.
            entry: Any = [item]
            after = merged(after, _AS_CLIENT, event, entry) or after
        elif item not in known:
            after = _with_item(after, event, item)
    return None if after == text else after


_AS_CLIENT = Client("hooks", "json", "hooks", lambda machine: machine.home, "", typed=False)


def _entries(text: str, event: str) -> list[Any] | None:
    """What is there for an event; None where nothing is, or only `merged` can read the file."""
    try:
        found = json.loads(text)
        hooks = found.get("hooks", {})
        entries = hooks.get(event)
    except (ValueError, RecursionError, AttributeError):
        return None
    if entries is not None and not isinstance(entries, list):
        raise CannotMerge(f"'hooks.{event}' is not a list there")
    return entries


def _with_item(text: str, event: str, item: dict[str, Any]) -> str:
    """One more at the end of a list that is there."""
    start, end = _list_at(text, ("hooks", event))
    inside = text[start + 1 : end].rstrip()
    line_break = "\r\n" if "\r\n" in text else "\n"
    found = re.search(r"[{\[]\r?\n([ \t]+)\S", text)
    unit = found[1] if found else "  "
    lines = json.dumps(item, indent=unit, ensure_ascii=False).split("\n")
    block = "".join(f"{line_break}{unit * 3}{line}" for line in lines)
    comma = "," if inside.strip() else ""
    after = f"{text[: start + 1]}{inside}{comma}{block}{line_break}{unit * 2}{text[end:]}"
    meant = json.loads(text)
    meant["hooks"][event].append(item)
    if json.loads(after) != meant:
        raise CannotMerge(f"the place for it could not be found below 'hooks.{event}'")
    return after


def _list_at(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """Where the list at this path begins and ends."""
    opened: list[tuple[int, str]] = []
    last = name = ""
    for token in _TOKEN.finditer(text):
        match token.group():
            case "{" | "[":
                opened.append((token.start(), name))
                name = ""
            case "}" | "]":
                begin, name = opened.pop()
                if (*(one for _, one in opened[1:]), name) == path:
                    return begin, token.start()
            case ":":
                name = last
            case ",":
                name = ""
            case word:
                last = json.loads(word)
    raise CannotMerge(f"there is no list at {'.'.join(path)!r}")


# -- the file ------------------------------------------------------------------------------------


def install(
    file: Path, host: Host, items: Mapping[str, dict[str, Any]]
) -> tuple[bool, Path | None]:
    """Whether anything changed, and where the file as it was is kept."""
    try:
        # A link is how people keep such files in a repository: what it leads to is the file.
        file = Path(os.path.realpath(file))
        before = file.read_bytes() if file.exists() else None
        after = with_hooks(_text(before) if before else host.empty, items)
        if after is None:
            return False, None
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        backup = None if before is None else _back_up(file, before)
        _replace(file, before, after.encode())
    except OSError as error:
        raise FileNotWritten(file, error.strerror or str(error)) from error
    return True, backup


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CannotMerge("it is not UTF-8") from None


def _back_up(file: Path, data: bytes) -> Path:
    """Beside it, under a name that nothing has yet."""
    for number in range(1000):
        backup = file.with_name(f"{file.name}.notewell-backup{f'-{number}' if number else ''}")
        try:
            with backup.open("xb") as opened:
                opened.write(data)
        except FileExistsError:
            continue
        backup.chmod(file.stat().st_mode & 0o777)
        return backup
    raise FileNotWritten(file, "there are 1000 backups beside it; remove some")


def _replace(file: Path, before: bytes | None, after: bytes) -> None:
    """All at once: whoever opens it sees the old file or the new one."""
    new = file.with_name(f"{file.name}.notewell-{os.getpid()}")
    mode = 0o600 if before is None else file.stat().st_mode & 0o777
    try:
        with new.open("xb") as opened:
            opened.write(after)
            opened.flush()
            os.fsync(opened.fileno())
        new.chmod(mode)
        if (file.read_bytes() if file.exists() else None) != before:
            raise FileNotWritten(file, "another program changed it meanwhile: run this again")
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
