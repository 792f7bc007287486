"""Text to vectors. The door of the room: choose an embedder by its provider's name.

choose_embedder(settings, …)   the one the settings ask for, with the decision; loads nothing yet
Cached(embedder, cache)        the same, never paying twice

`notewell.embedders.models` fetches and lists models.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.embedders.cached import Cached, is_sound
    from notewell.embedders.choose import SwitchTo, after_failure
    from notewell.embedders.decision import Chosen, Decision
    from notewell.embedders.keys import KeySources
    from notewell.embedders.models import ModelState, listed, pull
    from notewell.embedders.open_remote import REMOTE
    from notewell.embedders.remote import RemoteEmbedder, Runtime
    from notewell.embedders.selection import choose_embedder, open_embedded
    from notewell.embedders.settings import (
        BatchSettings,
        EmbedderSettings,
        LocalSettings,
        RemoteSettings,
    )
    from notewell.embedders.usage import CacheTally, Usage, usage_of
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "cached": "Cached is_sound",
            "choose": "SwitchTo after_failure",
            "decision": "Chosen Decision",
            "keys": "KeySources",
            "models": "ModelState listed pull",
            "open_remote": "REMOTE",
            "remote": "RemoteEmbedder Runtime",
            "selection": "choose_embedder open_embedded",
            "settings": "BatchSettings EmbedderSettings LocalSettings RemoteSettings",
            "usage": "CacheTally Usage usage_of",
        },
    )
