"""clients."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.clients.hosts import CLIENTS, Client, Machine
    from notewell.clients.install import FileNotWritten, entry_text
    from notewell.clients.merge import CannotMerge, merged
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "hosts": "CLIENTS Client Machine",
            "install": "FileNotWritten entry_text",
            "merge": "CannotMerge merged",
        },
    )
