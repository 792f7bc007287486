"""Text to vectors. The door of the room: choose an embedder by its provider's name.

choose_embedder(settings, models_dir, keys)  the one the settings ask for, with the decision
open_embedder("embedded", models_dir=...)   makes one; loads nothing yet
Cached(embedder, cache)                     the same, never paying twice
pull_model(models_dir)                      fetches the embedded model, only when asked to
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.errors import BadSetting, EmbedderMissing
from recollect.embedders.cached import Cached

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recollect.core.ports import Embedder
    from recollect.embedders.choose import Chosen
    from recollect.embedders.keys import KeySources
    from recollect.embedders.settings import EmbedderSettings

__all__ = ["Cached", "choose_embedder", "known_providers", "open_embedder", "pull_model"]


BATCH_JOBS = "batch-jobs"


def choose_embedder(settings: EmbedderSettings, models_dir: Path, keys: KeySources) -> Chosen:
    """Decides and calls nobody; `models_dir` also keeps what was learned about remote models."""
    from recollect.embedders.choose import Surroundings, choose
    from recollect.embedders.known_dims import KnownDims
    from recollect.embedders.remote import Runtime

    def embedded(_: EmbedderSettings) -> Embedder:
        return open_embedder("embedded", models_dir=models_dir)

    def local(settings: EmbedderSettings) -> Embedder:
        from pathlib import Path

        from recollect.embedders.local import LocalEmbedder

        chosen = settings.local.model_cache_dir
        cache_dir = Path(chosen).expanduser() if chosen else models_dir
        return LocalEmbedder(settings.local.model_path, cache_dir)

    makers = {"embedded": embedded, "local": local}
    runtime = Runtime(known_dims=KnownDims(models_dir))
    return choose(settings, Surroundings(makers, keys, runtime, models_dir / BATCH_JOBS))


def open_embedder(provider: str, *, models_dir: Path | None = None) -> Embedder:
    """The embedder behind a provider's name; `models_dir` is where pulled models are kept."""
    make = _PROVIDERS.get(provider)
    if make is None:
        raise BadSetting("provider", _unknown(provider))
    return make(models_dir)


def known_providers() -> tuple[str, ...]:
    return tuple(sorted(_PROVIDERS))


def pull_model(models_dir: Path) -> str:
    """Fetch the embedded model into `models_dir` unless it is there; says what was done."""
    from recollect.embedders import weights

    target = models_dir / weights.ARCTIC_EMBED_S.name
    there = weights.find([weights.IN_PACKAGE, target])
    if there:
        return f"the embedded model is already there and sound: {there}"
    try:
        source = weights.fetch(target)
    except weights.WeightsUnavailable as error:
        raise EmbedderMissing(
            "embedded", str(error), "try again with a connection, or go on searching by keyword"
        ) from error
    return f"put the embedded model into {target} (from {source})"


def _embedded(models_dir: Path | None) -> Embedder:
    from recollect.embedders import weights
    from recollect.embedders.embedded import EmbeddedEmbedder

    folders = [weights.IN_PACKAGE]
    if models_dir is not None:
        folders.append(models_dir / weights.ARCTIC_EMBED_S.name)
    return EmbeddedEmbedder(folders)


_PROVIDERS: dict[str, Callable[[Path | None], Embedder]] = {"embedded": _embedded}


def _unknown(provider: str) -> str:
    from difflib import get_close_matches

    known = known_providers()
    near = get_close_matches(provider, known, n=1)
    question = f"did you mean {near[0]!r}? " if near else ""
    return f"no provider is called {provider!r}; {question}known: {', '.join(known)}"
