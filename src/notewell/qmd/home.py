"""QMD's own home, one an agent and workspace: `<state>/agents/<id>/qmd/<workspace>/`.

    xdg-config/qmd/index.yml     which folders it indexes; written by us, whole or not at all
    xdg-cache/qmd/index.sqlite   its index
    xdg-cache/qmd/models         its models: a link to those of the user's own QMD, if any
    sessions/                    exported transcripts
    updated                      since when its index knows the notes
    update.lock                  one update at a time

QMD looks for `.qmd/index.yml` in the folder it is started in and in all above, and would follow
one that an agent, or a stranger's repository, put into the workspace. So it is started here and
told the name of the index, and the environment says nothing else than we want.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.qmd.failures import not_writable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.qmd.collections import Collection
    from notewell.qmd.settings import Models

INDEX = "index"
"""The name of the index. QMD's default too, but only an index that is named is not redirected."""

_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS")
_KEPT = frozenset({"HF_TOKEN"})
"""The one secret QMD has a use for: models that are not open to everybody."""


@dataclass(frozen=True, slots=True)
class QmdHome:
    path: Path

    @property
    def config_file(self) -> Path:
        return self.path / "xdg-config" / "qmd" / f"{INDEX}.yml"

    @property
    def index(self) -> Path:
        return self.path / "xdg-cache" / "qmd" / f"{INDEX}.sqlite"

    @property
    def models(self) -> Path:
        return self.path / "xdg-cache" / "qmd" / "models"

    @property
    def sessions(self) -> Path:
        return self.path / "sessions"

    @property
    def updated(self) -> Path:
        """Its time is the start of the last update that went well."""
        return self.path / "updated"

    @property
    def lock(self) -> Path:
        return self.path / "update.lock"

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """What QMD sees: no settings of another QMD, no secrets, and this as its home."""
        kept = {name: value for name, value in inherited.items() if _is_passed_on(name)}
        return kept | {
            "XDG_CONFIG_HOME": str(self.path / "xdg-config"),
            "QMD_CONFIG_DIR": str(self.config_file.parent),
            "XDG_CACHE_HOME": str(self.path / "xdg-cache"),
            "NO_COLOR": "1",
            "PWD": str(self.path),  # It trusts this more than where it really is.
        }

    def prepare(
        self, collections: Iterable[Collection], models: Models, user_models: Path | None
    ) -> bool:
        """Bring the folders and the settings up to date; whether the settings changed."""
        try:
            self._make_folders()
            _link_models(self.models, user_models)
            return self._write(_config_text(collections, models))
        except OSError as error:
            raise not_writable(self.path, error) from error

    def forget_index(self) -> None:
        """Remove the index, so that the next update begins anew; nobody may be using it."""
        try:
            self.updated.unlink(missing_ok=True)
            for suffix in ("", "-wal", "-shm", "-journal"):
                self.index.with_name(self.index.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise not_writable(self.index, error) from error

    def note_update(self, started_ns: int) -> None:
        try:
            self.updated.touch(mode=0o600)
            os.utime(self.updated, ns=(started_ns, started_ns))
        except OSError as error:
            raise not_writable(self.updated, error) from error

    def updated_ns(self) -> int | None:
        """When the last good update began; None before the first."""
        try:
            return self.updated.stat().st_mtime_ns
        except OSError:
            return None

    def _make_folders(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.config_file.parent, self.index.parent):
            for one in (folder.parent, folder):
                one.mkdir(mode=0o700, exist_ok=True)

    def _write(self, text: str) -> bool:
        with suppress(FileNotFoundError):
            if self.config_file.read_bytes() == text.encode():
                return False
        write_whole(self.config_file, text)
        return True


def home_of(state: Path, agent: str, workspace: Path) -> QmdHome:
    """Agents that work in several folders have a home for each: the same names are other files."""
    place = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return QmdHome(state / "agents" / agent / "qmd" / place)


def write_whole(path: Path, text: str) -> None:
    """Readers see the old file or the new one, and nobody but the owner sees either."""
    beside = path.with_name(f".{path.name}-{os.getpid()}-{os.urandom(4).hex()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def user_models_of(inherited: Mapping[str, str]) -> Path | None:
    """Where the user's own QMD keeps its models, if it has any."""
    cache = inherited.get("XDG_CACHE_HOME") or Path(inherited.get("HOME", ""), ".cache")
    folder = Path(cache, "qmd", "models")
    return folder if folder.is_absolute() and folder.is_dir() else None


def _is_passed_on(name: str) -> bool:
    upper = name.upper()
    if upper.startswith("QMD_") or upper in ("INDEX_PATH", "OLDPWD"):
        return False
    return upper in _KEPT or not upper.endswith(_SECRET_ENDINGS)


def _config_text(collections: Iterable[Collection], models: Models) -> str:
    """JSON, which is YAML as well and needs no library to be written without mistakes."""
    config = {
        "collections": {
            one.name: {"path": str(one.root), "pattern": one.pattern} for one in collections
        },
        "models": models._asdict(),
    }
    # Not ASCII only: YAML does not put the two halves of an escaped emoji together again.
    return json.dumps(config, ensure_ascii=False, indent=1) + "\n"


def _link_models(here: Path, user_models: Path | None) -> None:
    """Two gigabytes are not downloaded twice. A folder with something in it is left alone."""
    if user_models is None or here.is_symlink() or user_models == here:
        return
    if here.is_dir():
        if any(here.iterdir()):
            return
        here.rmdir()
    with suppress(FileExistsError):  # Another process was first.
        here.symlink_to(user_models, target_is_directory=True)
