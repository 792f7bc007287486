"""files."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.files.private import make_private, open_model, open_private, sync_directory
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "private": "make_private open_model open_private sync_directory",
        },
    )
