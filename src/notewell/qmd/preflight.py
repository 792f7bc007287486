"""Whether a search by meaning can work at all, found out without starting QMD.

Without vectors QMD answers at once and with nothing. Without a model it begins to download a
gigabyte, or waits twelve minutes for a network that is not there. Both are told beforehand.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.qmd.failures import QmdFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from notewell.qmd.home import QmdHome
    from notewell.qmd.settings import Models, SearchMode

BUSY_MS = 200


def require_index(home: QmdHome) -> None:
    """Raises `no-index` before the first update: QMD would answer with nothing at all."""
    if not home.index.exists():
        raise QmdFailed("no-index", "nothing is indexed yet")


def require_vectors(home: QmdHome) -> None:
    """Raises `no-vectors` where there are none for sure."""
    if has_vectors(home.index) is False:
        raise QmdFailed("no-vectors", "the index has no vectors yet")


def require_models(home: QmdHome, models: Iterable[str]) -> None:
    """Raises `no-models`, naming the first that is not here."""
    for model in models:
        if not is_here(model, home.models):
            raise QmdFailed("no-models", f"the model {model!r} is not on this machine")


def models_for(
    mode: SearchMode, models: Models, rerank: bool | None, *, by_server: bool
) -> list[str]:
    """What a search needs; the server expands no question, so it needs no model that writes."""
    if mode == "search":
        return []
    needed = [models.embed]
    if mode == "query":
        needed += [] if by_server else [models.generate]
        needed += [] if rerank is False else [models.rerank]
    return needed


def is_here(model: str, folder: Path) -> bool:
    """A file by its path, or one from a hub by its name: QMD puts the owner before it."""
    if not model.startswith("hf:"):
        return Path(model).expanduser().is_file()
    name = model.rsplit("/", 1)[-1].partition("#")[0].lower()
    try:
        return any(one.name.lower().endswith(name) for one in folder.iterdir())
    except OSError:
        return False


def documents(index: Path) -> dict[str, int] | None:
    """How many files of each collection the index holds; None where that cannot be told."""
    rows = _rows(
        index, "SELECT collection, count(*) FROM documents WHERE active = 1 GROUP BY collection"
    )
    return None if rows is None else {str(name): count for name, count in rows}


def has_vectors(index: Path) -> bool | None:
    rows = _rows(index, "SELECT EXISTS (SELECT 1 FROM content_vectors)")
    return None if rows is None else bool(rows and rows[0][0])


def _rows(index: Path, query: str) -> list[tuple[Any, ...]] | None:
    """Out of QMD's own index, read only; none where there is no index."""
    import apsw

    if not index.exists():
        return []
    try:
        connection = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MS)
            return list(connection.execute(query))
        finally:
            connection.close()
    except apsw.Error:
        return None  # Damaged, locked or of another make: QMD itself will say what it is.
