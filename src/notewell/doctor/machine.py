"""The machine: Python and its packages, the limits of inotify, and the hosts."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from notewell import __version__
from notewell.doctor.finding import Finding
from notewell.types import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from notewell.config import Settings

PACKAGES = ("apsw", "numpy", "onnxruntime", "markdown-it-py", "watchfiles")
EXTRAS = {
    "sqlite-vec": "sqlite_vec",
    "local": "xllamacpp",
    "mcp": "mcp",
    "lancedb": "lancedb",
    "openclaw": "zstandard" if sys.version_info < (3, 14) else "compression.zstd",
    "serve": "fastapi",
}
"""Optional extras, and the module whose presence shows that one is installed."""

INOTIFY = Path("/proc/sys/fs/inotify")
SCARCE = 2
"""Editors and file managers need watches, too: more than half of all is too much for us."""


def is_installed(module: str) -> bool:
    """Looked up without importing it."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def packages(
    settings: Settings | None, installed: Callable[[str], bool] = is_installed
) -> Iterator[Finding]:
    """Installed packages, and extras that the settings need and that are missing."""
    here = [extra for extra, module in EXTRAS.items() if installed(module)]
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    extras = f"extras: {', '.join(here)}" if here else "no extras"
    message = f"{platform.python_version()}, notewell {__version__}, {versions}; {extras}"
    yield Finding.public("python", message)
    for extra, why in _wanted(settings):
        # An extra that is missing is a problem only if the settings need it.
        if extra not in here:
            message = f"the extra {extra!r} is not installed, and {why}"
            yield Finding.public("python", message, f"install Notewell with its extra {extra!r}")


def hosts(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Hosts that have Notewell twice: as a plugin, and in their files."""
    from notewell.clients import double_installs
    from notewell.hosts import Machine

    home = Path(environment.get("HOME") or Path.home())
    for double in double_installs(Machine(home, environment, sys.platform)):
        files = ", ".join(map(str, double.files))
        yield Finding(
            "hosts",
            f"{double.host.title} has Notewell twice: as a plugin, and in {files}",
            f"keep one. To keep the plugin: `notewell uninstall {double.host.id}`; "
            f"to keep the other: {double.plugin.uninstall}",
        )


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
    if settings.entries is not None:
        yield "lancedb", "plugins.entries.memory-lancedb.enabled is true"


def inotify(folders: int, limits: Path = INOTIFY) -> Iterator[Finding]:
    """Whether `notewell watch` can get notices for that many folders."""
    from notewell.sync import MAX_FOLDERS

    if folders > MAX_FOLDERS:
        message = f"{folders} folders of notes: notices work for at most {MAX_FOLDERS}"
        yield Finding.public("watch", f"{message}; a watch scans every few seconds instead")
        return
    watches = _limit(limits / "max_user_watches")
    if watches is None:  # Not Linux, or a kernel without inotify.
        return
    message = f"{counted(folders, 'folder')} to watch, the system allows {watches} watches"
    if folders > watches // SCARCE:
        todo = f"`sudo sysctl fs.inotify.max_user_watches={max(65_536, 4 * folders)}`"
        yield Finding.public(
            "watch", message, f"{todo}; until then a watch may have to scan periodically"
        )
        return
    # Some containers set it to 0; then the number of watches does not matter.
    if _limit(limits / "max_user_instances") == 0:
        todo = "`sudo sysctl fs.inotify.max_user_instances=128`"
        yield Finding.public("watch", f"{message}, but no inotify instance", todo)
        return
    yield Finding.public("watch", message)


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
