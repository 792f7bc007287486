"""Installs from PyPI and npm, each into a folder of its own below the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from bench.peers.peer import PeerFailed
from bench.peers.processes import Command, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NODE = "node@24.21.0"
"""OpenClaw needs Node 22.19 or newer; all programs of npm run under this one."""
STAMP = "made-of"
"""Written last: without it, a folder is not used."""
PYTHONS = ("python3.12", "python3.13", "python3.14", "python3.11", "python3")


def venv(folder: Path, *requirements: str, python: str | None = None, mark: str = "") -> Path:
    """A virtual environment with these packages; returns its `bin`. It is made again if `mark`
    has changed, which is the commit of a checkout."""
    made_of = [*requirements, *([mark] if mark else [])]
    if not _is_made(folder, made_of):
        _clear(folder)
        run([python or sys.executable, "-m", "venv", folder / "env"], os.environ, folder)
        pip: Command = [folder / "env" / "bin" / "python", "-m", "pip", "install", "--quiet"]
        run([*pip, "--no-cache-dir", *requirements], os.environ, folder)
        _stamp(folder, made_of)
    return folder / "env" / "bin"


def npm(folder: Path, *packages: str, options: Sequence[str] = ()) -> Path:
    """A prefix of npm with these packages; returns the folder of their programs."""
    if not _is_made(folder, packages):
        _clear(folder)
        flags = ["--silent", "--no-audit", "--no-fund", *options]
        run(["npm", "install", *flags, "--prefix", folder, *packages], os.environ, folder)
        _stamp(folder, packages)
    return folder / "node_modules" / ".bin"


def npm_plugin(folder: Path, package: str, part: str) -> Path:
    """The files of a package of npm, with what the `package.json` in its folder `part` asks for;
    returns that folder. Install scripts are not run: they compile parsers of source code."""
    if not _is_made(folder, [package]):
        _clear(folder)
        archive = run(["npm", "pack", "--silent", package], os.environ, folder).split()[-1]
        shutil.unpack_archive(folder / archive, folder)
        (folder / archive).unlink()
        flags = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
        run(["npm", "install", *flags], os.environ, folder / "package" / part)
        _stamp(folder, [package])
    return folder / "package" / part


def python_for_extensions() -> str:
    """Python 3.12 or newer whose SQLite loads extensions: not all builds do."""
    check = (
        "import sqlite3, sys; sqlite3.connect(':memory:').enable_load_extension(True); "
        "sys.exit(sys.version_info < (3, 12))"
    )
    for name in filter(None, (os.environ.get("NOTEWELL_BENCH_PYTHON"), *PYTHONS)):
        if (found := shutil.which(name)) and not subprocess.run(
            [found, "-c", check], capture_output=True, check=False
        ).returncode:
            return found
    raise PeerFailed(
        "needs Python 3.12 or newer that loads extensions of SQLite: put one on the PATH, "
        "or name it in NOTEWELL_BENCH_PYTHON"
    )


def installed_mb(folders: Sequence[Path]) -> float:
    """Disk space, hard links counted once."""
    sizes = {}
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                status = path.stat()
                sizes[status.st_ino] = status.st_blocks * 512
    return sum(sizes.values()) / 1e6


def _is_made(folder: Path, of: Sequence[str]) -> bool:
    try:
        return (folder / STAMP).read_text(encoding="utf-8").split() == list(of)
    except FileNotFoundError:
        return False


def _stamp(folder: Path, of: Sequence[str]) -> None:
    (folder / STAMP).write_text("\n".join(of) + "\n", encoding="utf-8")


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
