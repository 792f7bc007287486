"""The machine: SQLite, Python and its packages, and what the kernel lets us listen to."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import __version__
from notewell.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from notewell.config import Settings

PACKAGES = ("apsw", "numpy", "onnxruntime", "markdown-it-py", "watchfiles")
EXTRAS = {
    "sqlite-vec": "sqlite_vec",
    "local": "xllamacpp",
    "mcp": "mcp",
    "lancedb": "lancedb",
    "serve": "fastapi",
}
"""What may be installed beside us, and the module that shows it."""

INOTIFY = Path("/proc/sys/fs/inotify")
SCARCE = 2
"""Editors and file managers want watches too: more than half of all is too much for us."""


def sqlite_finding(version: str, extensions: Path) -> Finding:
    """Whether this SQLite keeps what it was given, and notices what the disk lost."""
    from notewell.index.sqlite import OLDEST_SOUND_SQLITE

    if tuple(int(part) for part in version.split(".")) < OLDEST_SOUND_SQLITE:
        oldest = ".".join(map(str, OLDEST_SOUND_SQLITE))
        told = f"{version} can lose a commit when its write-ahead log is reset"
        return Finding("sqlite", told, f"upgrade apsw, so that SQLite is {oldest} or later")
    if not any(extensions.glob("cksumvfs.*")):
        told = f"{version} without page checksums: an index can be neither made nor read"
        return Finding("sqlite", told, "install apsw from its wheel, which brings cksumvfs")
    return Finding("sqlite", f"{version}, sound, with page checksums")


def sqlite() -> Iterator[Finding]:
    import apsw

    yield sqlite_finding(
        apsw.sqlite_lib_version(), Path(apsw.__file__).parent / "sqlite_extra_binaries"
    )


def is_installed(module: str) -> bool:
    """Without importing it."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def packages(
    settings: Settings | None, installed: Callable[[str], bool] = is_installed
) -> Iterator[Finding]:
    """What is here, and what the settings ask for and is not."""
    here = [extra for extra, module in EXTRAS.items() if installed(module)]
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    extras = f"extras: {', '.join(here)}" if here else "no extras"
    told = f"{platform.python_version()}, notewell {__version__}, {versions}; {extras}"
    yield Finding("python", told)
    for extra, why in _wanted(settings):
        if extra not in here:
            told = f"the extra {extra!r} is not installed, and {why}"
            yield Finding("python", told, f"install Notewell with its extra {extra!r}")


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "(missing)"


def _wanted(settings: Settings | None) -> Iterator[tuple[str, str]]:
    if settings is None:
        return
    if settings.store.vector_driver == "sqlite-vec":
        yield "sqlite-vec", "store.vector.driver names it"
    if settings.embedder is not None and settings.embedder.provider == "local":
        yield "local", "the provider is 'local'"


def inotify(folders: int, limits: Path = INOTIFY) -> Iterator[Finding]:
    """Whether `notewell watch` could hear changes in that many folders."""
    from notewell.sync import MAX_FOLDERS

    if folders > MAX_FOLDERS:
        told = f"{folders} folders of notes: a watch listens to at most {MAX_FOLDERS}"
        yield Finding("watch", f"{told} and looks every few seconds instead")
        return
    watches = _limit(limits / "max_user_watches")
    if watches is None:  # Not Linux, or a kernel without inotify.
        return
    told = f"{folders} folders to listen to, the system allows {watches} watches"
    if folders > watches // SCARCE:
        todo = f"`sudo sysctl fs.inotify.max_user_watches={max(65_536, 4 * folders)}`"
        yield Finding("watch", told, f"{todo}; until then a watch may look instead of listen")
        return
    if _limit(limits / "max_user_instances") == 0:
        todo = "`sudo sysctl fs.inotify.max_user_instances=128`"
        yield Finding("watch", f"{told}, but no instance to listen with", todo)
        return
    yield Finding("watch", told)


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
