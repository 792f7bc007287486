"""What can go wrong with entries, sorted by what the caller can do about it.

EntriesTrouble
├── LanceMissing       the package is not installed: install the extra
├── EntriesBusy        another process is writing: wait
└── EntriesUnreadable  the folder cannot be read or written, and why
"""

from __future__ import annotations

from notewell.errors import NotewellError


class EntriesTrouble(NotewellError):
    """The entries cannot be used right now; notes and their index have nothing to do with it."""


class LanceMissing(EntriesTrouble):
    def __init__(self) -> None:
        super().__init__(
            "entries need the extra `lancedb`: `pip install '.[lancedb]'` in a checkout"
        )


class EntriesBusy(EntriesTrouble):
    exit_code = 75  # EX_TEMPFAIL: try again later

    def __init__(self, folder: str, waited_s: float) -> None:
        super().__init__(
            f"another process is writing the entries in {folder!r}; waited {waited_s:.0f} s. "
            "Nothing was changed: try again when it is done"
        )
        self.folder = folder
        self.waited_s = waited_s


class EntriesUnreadable(EntriesTrouble):
    def __init__(self, folder: str, why: str) -> None:
        super().__init__(
            f"cannot use the entries in {folder!r}: {why}. Mend that, or choose another folder "
            "with plugins.entries.memory-lancedb.config.dbPath"
        )
        self.folder = folder
        self.why = why
