"""Text to vectors. The door of the room: choose an embedder by its provider's name.

choose_embedder(settings, …)   the one the settings ask for, with the decision; loads nothing yet
Cached(embedder, cache)        the same, never paying twice

`notewell.embedders.models` fetches and lists models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.core import Secret
    from notewell.embedders.decision import Chosen
    from notewell.embedders.settings import EmbedderSettings
    from notewell.ports import Embedder

KEY_VARIABLES = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY")
"""With none of these and no settings, `auto` comes to `embedded` without a look at the others."""


def choose_embedder(
    settings: EmbedderSettings | None,
    models_dir: Path,
    environment: Mapping[str, str],
    provider_keys: Mapping[str, Secret],
) -> Chosen:
    """Decides and calls nobody; `models_dir` also keeps what was learned about remote models."""
    if settings is not None and settings.provider == "none":
        return _none()
    if settings is None and not any(environment.get(name) for name in KEY_VARIABLES):
        return _nothing_said(models_dir)
    from notewell.embedders.choose import Surroundings, choose
    from notewell.embedders.dims_cache import KnownDims
    from notewell.embedders.keys import KeySources
    from notewell.embedders.remote import Runtime
    from notewell.embedders.settings import EmbedderSettings

    makers = {
        "embedded": lambda told: open_embedded(models_dir, told.model),
        "local": lambda told: _local(models_dir, told),
    }
    around = Surroundings(
        makers,
        KeySources(environment, provider_keys),
        Runtime(known_dims=KnownDims(models_dir)),
        batch_dir=models_dir / "batch-jobs",
    )
    return choose(settings or EmbedderSettings(), around)


def _none() -> Chosen:
    from notewell.embedders.decision import Chosen, Decision, Step
    from notewell.embedders.none import FACTS, NoEmbedder

    why = "requested: words alone answer"
    steps = (Step("none", "used", why),)
    return Chosen(NoEmbedder(), Decision("none", "none", FACTS.model, why, "none", steps))


def _nothing_said(models_dir: Path) -> Chosen:
    from notewell.embedders.decision import Chosen, Decision, Step

    embedder = open_embedded(models_dir)
    why = embedder.missing() or "it needs no key"
    decision = Decision(
        requested="auto",
        used="embedded",
        model=embedder.facts.model,
        why=f"auto: {why}",
        fallback="none",
        steps=(Step("embedded", "used", why),),
    )
    return Chosen(embedder, decision)


def open_embedded(models_dir: Path | None = None, model: str | None = None) -> Embedder:
    """An embedder without a key; `model` names one that was pulled, without it the built-in."""
    from notewell.embedders import weights
    from notewell.embedders.embedded import FACTS, EmbeddedEmbedder

    wanted = weights.ARCTIC_EMBED_S
    if model not in (None, FACTS.model, "snowflake-arctic-embed-s"):
        found = weights.model_called(model or "")
        if found is None:
            known = ", ".join(one.name for one in weights.MODELS)
            raise BadSetting("model", f"no embedded model is called {model!r}; known: {known}")
        wanted = found
    folders = weights.folders(wanted, models_dir)
    if wanted is weights.ARCTIC_EMBED_S:
        return EmbeddedEmbedder(folders)
    from notewell.embedders.multilingual import MultilingualEmbedder

    return MultilingualEmbedder(folders)


def _local(models_dir: Path, settings: EmbedderSettings) -> Embedder:
    from pathlib import Path

    from notewell.embedders.local import LocalEmbedder

    chosen = settings.local.model_cache_dir
    cache_dir = Path(chosen).expanduser() if chosen else models_dir
    return LocalEmbedder(settings.local.model_path, cache_dir)
