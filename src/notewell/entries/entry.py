"""An entry: one statement of one agent. With its validation, its settings and its errors.

Values are checked where they come in, so that no code below has to check again.

EntriesTrouble
├── LanceMissing       the package is not installed: install the extra
├── EntriesBusy        another process is writing: wait
└── EntriesUnreadable  the folder cannot be read or written, with the reason
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, get_args

from notewell.errors import BadRequest, BadSetting, NotewellError
from notewell.records import dataclass

Category: TypeAlias = Literal["preference", "fact", "decision", "entity", "other"]
CATEGORIES: Final[tuple[str, ...]] = get_args(Category)

NAME = "plugins.entries.memory-lancedb"
FOLDER = "lancedb"
MAX_TEXT_CHARS = 4000
"""An entry is a statement. A longer text belongs into a note, and no embedder reads all of it."""
IMPORTANCE = 0.7
"""The default, as in OpenClaw."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One statement, its owner, and the model that made its vector."""

    id: str
    """A UUID in lower case."""
    text: str
    importance: float
    """0 to 1. It only orders entries that are equally relevant."""
    category: Category
    created_at_ms: int
    """Milliseconds since 1970."""
    owner: str
    """The agent's id. No other agent reads, counts or deletes it."""
    model: str = ""
    """`provider/model/dims` of the vector: vectors of two models are never compared."""


@dataclass(frozen=True, slots=True)
class EntriesSettings:
    """`plugins.entries.memory-lancedb`. By default nothing happens without a request."""

    auto_capture: bool = False
    auto_recall: bool = False
    db_path: str | None = None
    """The folder of the entries; None: below the state folder."""
    capture_chars: int = 500
    """A longer message is a document, not a statement."""
    recall_chars: int = 1000
    """How much of a prompt is used as the query."""

    def folder(self, state: Path) -> Path:
        """Where the entries of all agents are. It must be local, because of the file lock."""
        if self.db_path is None:
            return state / FOLDER
        path = Path(self.db_path).expanduser()
        if "://" in self.db_path or not path.is_absolute():
            raise BadSetting(
                f"{NAME}.config.dbPath",
                f"expected a folder of this machine, absolute or with ~: {self.db_path!r}",
            )
        return path


# -- validation ----------------------------------------------------------------------------------


def valid_id(value: str) -> str:
    """The id in lower case; anything else is refused before it reaches a filter."""
    # People copy ids with spaces and in upper case.
    id_ = value.strip().lower()
    if not _ID.fullmatch(id_):
        raise BadRequest(
            f"{value[:60]!r} is not the id of an entry: ids look like "
            "1b4e28ba-2fa1-41d2-883f-0016d3cca427, and recall and list show them"
        )
    return id_


def valid_owner(value: str) -> str:
    if not _OWNER.fullmatch(value):
        raise BadSetting(
            "agent", f"{value[:80]!r} is not an id: letters, digits, `-` and `_`, up to 64"
        )
    # Ids of agents ignore case, as in the configuration.
    return value.lower()


def valid_category(value: str) -> Category:
    if value not in CATEGORIES:
        raise BadRequest(f"{value[:40]!r} is not a category: choose {', '.join(CATEGORIES)}")
    return cast("Category", value)


def valid_importance(value: float) -> float:
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise BadRequest(f"the importance must be a number from 0 to 1, not {value}")
    return float(value)


def clean_text(value: str) -> str:
    """Without surrounding white space, NUL and lone surrogates, which UTF-8 cannot encode."""
    text = value.encode(errors="replace").decode().replace("\0", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise BadRequest("there is nothing to remember: the text is empty")
    if len(text) > MAX_TEXT_CHARS:
        raise BadRequest(
            f"an entry may have {MAX_TEXT_CHARS} characters, not {len(text)}: keep the statement, "
            "and put the rest into a note"
        )
    return text


# -- errors --------------------------------------------------------------------------------------


class EntriesTrouble(NotewellError):
    """The entries cannot be used at the moment. Notes and their index are not affected."""

    def public_text(self) -> str:
        return "the entries cannot be used just now"


class LanceMissing(EntriesTrouble):
    def __init__(self) -> None:
        super().__init__(
            "entries need the extra `lancedb`: `pip install '.[lancedb]'` in a checkout"
        )

    def public_text(self) -> str:
        return str(self)


class EntriesBusy(EntriesTrouble):
    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, folder: str, waited_s: float) -> None:
        super().__init__(
            f"another process is writing the entries in {folder!r}; waited {waited_s:.0f} s. "
            "Nothing was changed: try again later"
        )
        self.folder = folder
        self.waited_s = waited_s

    def public_text(self) -> str:
        return "another process is writing the entries"


class EntriesUnreadable(EntriesTrouble):
    def __init__(self, folder: str, why: str) -> None:
        super().__init__(
            f"cannot use the entries in {folder!r}: {why}. `notewell doctor --fix` goes on with "
            "those that can be read; or choose another folder with "
            "plugins.entries.memory-lancedb.config.dbPath"
        )
        self.folder = folder
        self.why = why
