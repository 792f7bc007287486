"""Where a journal is kept: logs of JSON lines, in files of the state folder or in a database.

    history.jsonl    every write of ours            (`history`)
    asked.jsonl      each search of an agent        (`search_journal`)
    recalled.jsonl   which lines were shown when    (`search_journal`)

Notes in a folder have a journal in files of this machine. Notes in PostgreSQL have theirs beside
them (`postgres`), so that any replica lists, and undoes, what another one wrote.
`tests/contracts/test_journal_logs.py` runs one suite on both.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from notewell.errors import OldTextLeft
from notewell.files import (
    append_json_line,
    describe_os_error,
    has_bytes,
    read_json_lines,
    state_lock,
    write_state,
)
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Line: TypeAlias = dict[str, Any]

_Logs = TypeVar("_Logs", bound="LogWriter")


class LogWriter(Protocol):
    """Writes the logs of one memory, by their names."""

    def append(
        self, name: str, *lines: Mapping[str, Any], max_bytes: int, durable: bool = True
    ) -> None:
        """Add lines; a log that has grown too long loses its oldest lines. Raises
        `StateNotWritable`. Lines that are not `durable` may be lost in a crash."""
        ...

    def clear(self, name: str) -> None:
        """Remove all lines."""
        ...


class Logs(LogWriter, Protocol):
    """Reads them, too."""

    def lines(self, name: str) -> Iterable[Line]:
        """From the oldest to the newest."""
        ...

    def mentions(self, name: str, word: str) -> bool:
        """Whether a line has these ASCII characters anywhere: cheaper than to parse a long log."""
        ...

    def remove(self, name: str, is_about: Callable[[Line], bool]) -> None:
        """Remove the lines for which it is true."""
        ...

    def change_mark(self, name: str) -> tuple[int, ...]:
        """A value that changes whenever the log does."""
        ...


@dataclass(frozen=True, slots=True)
class FileLogs:
    """A file for each log, in the folder of a memory's captures."""

    folder: Path

    def append(
        self, name: str, *lines: Mapping[str, Any], max_bytes: int, durable: bool = True
    ) -> None:
        append_json_line(self.folder / name, *lines, max_bytes=max_bytes, durable=durable)

    def lines(self, name: str) -> Iterable[Line]:
        return read_json_lines(self.folder / name)

    def mentions(self, name: str, word: str) -> bool:
        return has_bytes(self.folder / name, word.encode("ascii"))

    def remove(self, name: str, is_about: Callable[[Line], bool]) -> None:
        file = self.folder / name
        if not os.path.lexists(file):
            return
        from notewell.capture.kept_file import encoded

        with state_lock(file):
            # A process that was killed while it shortened the log has left a copy.
            drop_copy(file.with_name(f".{file.name}.tmp"))
            left = [line for line in read_json_lines(file) if not is_about(line)]
            # Fewer than there are: a line that is torn may have the text, too.
            if len(left) < sum(map(bool, file.read_bytes().split(b"\n"))):
                write_state(file, b"".join(map(encoded, left)))

    def clear(self, name: str) -> None:
        # The lock file stays: a process that waits for it would hold a lock that excludes nobody.
        (self.folder / name).unlink(missing_ok=True)

    def change_mark(self, name: str) -> tuple[int, int]:
        # Time and size: two writes within one clock tick have the same time.
        try:
            stat = (self.folder / name).stat()
        except OSError:
            return (0, 0)
        return (stat.st_mtime_ns, stat.st_size)


class GatheredLines:
    """The lines of several records, which are written together: to lock and to open a file costs
    ten times as much as a line."""

    def __init__(self, logs: LogWriter) -> None:
        self._logs = logs
        self._lines: dict[tuple[str, int], list[Mapping[str, Any]]] = {}

    def append(
        self, name: str, *lines: Mapping[str, Any], max_bytes: int, durable: bool = True
    ) -> None:
        if durable:
            self._logs.append(name, *lines, max_bytes=max_bytes)
        else:
            self._lines.setdefault((name, max_bytes), []).extend(lines)

    def clear(self, name: str) -> None:
        for key in [key for key in self._lines if key[0] == name]:
            del self._lines[key]
        self._logs.clear(name)

    def write(self) -> None:
        """Raises `StateNotWritable`."""
        for (name, max_bytes), lines in self._lines.items():
            self._logs.append(name, *lines, max_bytes=max_bytes, durable=False)


def drop_copy(file: Path) -> None:
    """Remove what `write_state` has left. Raises `OldTextLeft`."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OldTextLeft((str(file),), describe_os_error(error)) from error


def logs_at(place: Path | _Logs) -> FileLogs | _Logs:
    """Those of a folder, if it is one."""
    return FileLogs(place) if isinstance(place, Path) else place
