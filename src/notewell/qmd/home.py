"""QMD's home, one per agent and workspace: `<state>/agents/<id>/qmd/<workspace>/`.

    xdg-config/qmd/index.yml     which folders it indexes; we replace it atomically
    xdg-cache/qmd/index.sqlite   its index
    xdg-cache/qmd/models         its models: a link to those of the user's own QMD, if any
    sessions/                    exported transcripts
    updated                      its mtime is the start of the last good update
    update-failed.json           why the last update failed; removed by a good one
    update.lock                  one update at a time

QMD looks for `.qmd/index.yml` in its working directory and all parents, and would obey one that
an agent, or a cloned repository, put into the workspace. So its working directory is this home,
it gets the name of the index, and its environment contains only what we pass on.

The functions at the end read QMD's index to find out, without starting QMD, whether a vector
search can work. Without vectors QMD answers at once with nothing. Without a model it downloads a
gigabyte, or waits twelve minutes for a network that is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.files import replace_file
from notewell.qmd.failures import QmdFailed, not_writable
from notewell.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from notewell.qmd.collections import Collection
    from notewell.qmd.settings import QmdModels, SearchMode

INDEX = "index"
"""QMD's default name too; but only with an explicit name it ignores `.qmd/index.yml`."""
BUSY_MS = 200
EXPORTS = "sessions-"
"""How the collection of the exported transcripts is called; the id of the agent follows."""

_SECRET_ENDINGS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_CREDENTIALS")
_KEPT = frozenset({"HF_TOKEN"})
"""The one secret QMD needs: for models that are not public."""


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
        """Its mtime is the start of the last good update."""
        return self.path / "updated"

    @property
    def update_failed(self) -> Path:
        return self.path / "update-failed.json"

    @property
    def lock(self) -> Path:
        return self.path / "update.lock"

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """For the QMD process: no settings of another QMD, no secrets, and this home."""
        # QMD runs code of npm packages, so it gets no API keys.
        kept = {name: value for name, value in inherited.items() if _is_passed_on(name)}
        return kept | {
            "XDG_CONFIG_HOME": str(self.path / "xdg-config"),
            "QMD_CONFIG_DIR": str(self.config_file.parent),
            "XDG_CACHE_HOME": str(self.path / "xdg-cache"),
            "NO_COLOR": "1",
            # QMD trusts this variable more than its real working directory.
            "PWD": str(self.path),
        }

    def prepare(
        self, collections: Iterable[Collection], models: QmdModels, user_models: Path | None
    ) -> bool:
        """Bring the folders and the configuration up to date; returns whether it changed."""
        try:
            self._make_folders()
            _link_models(self.models, user_models)
            return self._write_config(_config_text(collections, models))
        except OSError as error:
            raise not_writable(self.path, error) from error

    def export_folders(self) -> list[Path]:
        """Where transcripts were exported to, also if the settings do not name QMD any more."""
        try:
            collections = json.loads(self.config_file.read_bytes())["collections"]
            named = {name: one["path"] for name, one in collections.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return []
        return [Path(path) for name, path in named.items() if name.startswith(EXPORTS)]

    def forget_index(self) -> None:
        """Remove the index, so that the next update rebuilds it. QMD must not be running."""
        try:
            # First: a crash between the two must not leave a fresh time beside an old index.
            self.updated.unlink(missing_ok=True)
            # A leftover WAL would be replayed into the new index.
            for suffix in ("", "-wal", "-shm", "-journal"):
                self.index.with_name(self.index.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise not_writable(self.index, error) from error

    def record_update(self, started_ns: int) -> None:
        try:
            self.updated.touch(mode=0o600)
            os.utime(self.updated, ns=(started_ns, started_ns))
            self.update_failed.unlink(missing_ok=True)
        except OSError as error:
            raise not_writable(self.updated, error) from error

    def record_failure(self, failure: QmdFailed) -> None:
        """Without it a later process would only see that there is no index, and not why."""
        record = {"kind": failure.kind, "why": failure.why}
        with suppress(OSError):  # The failure itself is raised; this is a help for later.
            data = json.dumps(record).encode()
            replace_file(self.update_failed, data, durable=False)

    def last_failure(self) -> QmdFailed | None:
        """Why the last update failed; None after a good one."""
        try:
            record = json.loads(self.update_failed.read_bytes())
            return QmdFailed(record["kind"], str(record["why"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def updated_ns(self) -> int | None:
        """When the last good update started; None before the first."""
        try:
            return self.updated.stat().st_mtime_ns
        except OSError:
            return None

    def _make_folders(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.config_file.parent, self.index.parent):
            # One level at a time: `parents=True` ignores the mode for the parents it makes.
            for level in (folder.parent, folder):
                level.mkdir(mode=0o700, exist_ok=True)

    def _write_config(self, text: str) -> bool:
        with suppress(FileNotFoundError):
            if self.config_file.read_bytes() == text.encode():
                return False
        # Not durable: it is written again before the next update if it is missing or torn.
        replace_file(self.config_file, text.encode("utf-8", "replace"), durable=False)
        return True


def home_of(state: Path, agent: str, workspace: str | Path) -> QmdHome:
    """One for each workspace of an agent: the same relative paths are different files there."""
    digest = hashlib.sha256(str(workspace).encode(errors="surrogatepass")).hexdigest()[:12]
    return QmdHome(state / "agents" / agent / "qmd" / digest)


def homes_of(state: Path, agent: str) -> list[QmdHome]:
    """Those of all workspaces of an agent."""
    folders = sorted((state / "agents" / agent / "qmd").glob("*"))
    return [QmdHome(folder) for folder in folders]


def user_models_of(inherited: Mapping[str, str]) -> Path | None:
    """Where the user's own QMD keeps its models, if it has any."""
    cache = inherited.get("XDG_CACHE_HOME") or Path(inherited.get("HOME", ""), ".cache")
    folder = Path(cache, "qmd", "models")
    # Without HOME the path is relative, and would be resolved in our working directory.
    return folder if folder.is_absolute() and folder.is_dir() else None


def _is_passed_on(name: str) -> bool:
    upper = name.upper()
    if upper.startswith("QMD_") or upper in ("INDEX_PATH", "OLDPWD"):
        return False
    return upper in _KEPT or not upper.endswith(_SECRET_ENDINGS)


def _config_text(collections: Iterable[Collection], models: QmdModels) -> str:
    """JSON is valid YAML, and the standard library writes it."""
    config = {
        "collections": {
            collection.name: {"path": str(collection.root), "pattern": collection.pattern}
            for collection in collections
        },
        "models": models._asdict(),
    }
    # No ASCII escapes: JSON escapes an emoji as two surrogates, which YAML does not join again.
    return json.dumps(config, ensure_ascii=False, indent=1) + "\n"


def _link_models(here: Path, user_models: Path | None) -> None:
    """Saves a second download of two gigabytes. A folder that is not empty stays as it is."""
    if user_models is None or here.is_symlink() or user_models == here:
        return
    if here.is_dir():
        if any(here.iterdir()):
            return
        here.rmdir()
    with suppress(FileExistsError):  # Another process made the link first.
        here.symlink_to(user_models, target_is_directory=True)


# -- what QMD's index contains -------------------------------------------------------------------


def require_index(home: QmdHome) -> None:
    """Raises `no-index` before the first update: QMD would answer with an empty list."""
    if home.index.exists():
        return
    failure = home.last_failure()
    if failure is not None:
        # Its kind decides the advice: "run `notewell index`" would only fail again.
        raise QmdFailed(failure.kind, f"nothing is indexed, because {failure.why}")
    raise QmdFailed("no-index", "nothing is indexed yet")


def require_vectors(home: QmdHome) -> None:
    """Raises `no-vectors` if the index certainly has none."""
    if has_vectors(home.index) is False:
        raise QmdFailed("no-vectors", "the index has no vectors yet")


def require_models(home: QmdHome, models: Iterable[str]) -> None:
    """Raises `no-models` for the first one that is not on this machine."""
    for model in models:
        if not _is_downloaded(model, home.models):
            raise QmdFailed("no-models", f"the model {model!r} is not on this machine")


def models_for(
    mode: SearchMode, models: QmdModels, rerank: bool | None, *, by_server: bool
) -> list[str]:
    """The models a search needs. The server does no query expansion, so it needs no generator."""
    if mode == "search":
        return []
    needed = [models.embed]
    if mode == "query":
        needed += [] if by_server else [models.generate]
        needed += [] if rerank is False else [models.rerank]
    return needed


def _is_downloaded(model: str, folder: Path) -> bool:
    """`model` is the path of a file, or `hf:…`, which QMD saves as `hf_<owner>_<file>`."""
    if not model.startswith("hf:"):
        return Path(model).expanduser().is_file()
    name = model.rsplit("/", 1)[-1].partition("#")[0].lower()
    try:
        return any(file.name.lower().endswith(name) for file in folder.iterdir())
    except OSError:
        return False


def document_counts(index: Path) -> dict[str, int] | None:
    """How many files of each collection are indexed; None if the index cannot be read."""
    rows = _rows(
        index, "SELECT collection, count(*) FROM documents WHERE active = 1 GROUP BY collection"
    )
    return None if rows is None else {str(name): count for name, count in rows}


def has_vectors(index: Path) -> bool | None:
    """None if the index cannot be read."""
    rows = _rows(index, "SELECT EXISTS (SELECT 1 FROM content_vectors)")
    return None if rows is None else bool(rows and rows[0][0])


def _rows(index: Path, query: str) -> list[tuple[Any, ...]] | None:
    """From QMD's index, opened read-only; empty before the first update."""
    import apsw

    if not index.exists():
        return []
    try:
        # Read-only: this database belongs to QMD, whose schema we only read.
        connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MS)
            return list(connection.execute(query))
        finally:
            connection.close()
    except apsw.Error:
        return None  # Damaged, locked or of another version: QMD itself will report it.
