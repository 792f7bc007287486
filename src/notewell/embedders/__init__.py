"""Text to vectors.

EmbedderSelection(settings, …)   the embedder in use, with its fallback        selection.py
Cached(embedder, cache)          the same embedder, never paying twice         cached.py
PROVIDERS                        the one list of providers                     registry.py
providers/                       one file for each remote provider's wire format
remote.py, batch/                the layers around any remote provider
embedded.py, encoder.py          the model that comes with Notewell
multilingual.py, local.py        models that are pulled and run on this machine
SharedModels()                   one such model for all memories of a process  sharing.py
pull_model(…), list_models(…)    fetch and list those models                   models.py
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.embedders.api_keys import KeySources
    from notewell.embedders.cached import Cached
    from notewell.embedders.decision import Chosen, Decision
    from notewell.embedders.models import ModelState, list_models, pull_model
    from notewell.embedders.registry import (
        KNOWN_APIS,
        PROVIDER_NAMES,
        PROVIDERS,
        REMOTE_PROVIDERS,
        auto_order,
        entry_problem,
        has_batches,
        has_input_types,
        names_of,
        own_name,
    )
    from notewell.embedders.remote import RemoteEmbedder, open_remote
    from notewell.embedders.remote_plan import Runtime
    from notewell.embedders.selection import (
        EmbedderSelection,
        choose_embedder,
        gguf_dir,
        open_embedded,
        profile_files,
    )
    from notewell.embedders.settings import (
        BatchSettings,
        EmbedderSettings,
        LocalSettings,
        ProviderSettings,
        RemoteSettings,
        entry_of,
    )
    from notewell.embedders.sharing import SharedModels
    from notewell.embedders.usage import (
        BatchFacts,
        CacheTally,
        Usage,
        batch_facts_of,
        usage_of,
    )
    from notewell.embedders.vectors import is_sound
    from notewell.embedders.weights import embedded_models
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "api_keys": "KeySources",
            "cached": "Cached",
            "decision": "Chosen Decision",
            "models": "ModelState list_models pull_model",
            "registry": "KNOWN_APIS PROVIDERS PROVIDER_NAMES REMOTE_PROVIDERS auto_order "
            "entry_problem has_batches has_input_types names_of own_name",
            "remote": "RemoteEmbedder open_remote",
            "remote_plan": "Runtime",
            "selection": "EmbedderSelection choose_embedder gguf_dir open_embedded profile_files",
            "settings": "BatchSettings EmbedderSettings LocalSettings ProviderSettings "
            "RemoteSettings entry_of",
            "sharing": "SharedModels",
            "usage": "BatchFacts CacheTally Usage batch_facts_of usage_of",
            "vectors": "is_sound",
            "weights": "embedded_models",
        },
    )
