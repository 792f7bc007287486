"""Which embedder is used, and why. The decision is a value that `status` can show.

    auto        local, if its model file is there → openai → gemini → voyage, each if it has a
                key → embedded, which needs nothing
    a name      that provider. Where something is missing and there is a fallback, the fallback;
                else the provider all the same: it tells what is missing, and search goes on by
                keyword. `fallback: none` never leads to another provider.

Choosing calls nobody. What to do about a provider that fails later is `after_failure`: another
provider has another model, and vectors of two models are never mixed, so it comes with a rebuild.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from notewell.embedders.batch import with_batch
from notewell.embedders.decision import Chosen, Decision, Step
from notewell.embedders.keys import KeySources
from notewell.embedders.open_remote import REMOTE, open_remote
from notewell.embedders.remote import Runtime
from notewell.embedders.settings import BatchSettings
from notewell.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from notewell.embedders.settings import EmbedderSettings
    from notewell.errors import EmbedderTrouble
    from notewell.ports import Embedder

Maker: TypeAlias = "Callable[[EmbedderSettings], Embedder]"

AUTO = ("local", "openai", "gemini", "voyage", "embedded")
NONE = "none"

FAILURES_BEFORE_SWITCH = 2
"""A rebuild embeds everything anew: one bad answer is no reason for that."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the choice depends on besides the settings."""

    makers: Mapping[str, Maker]
    """The providers on this machine, by name: `embedded`, and `local` where it is installed."""
    keys: KeySources = field(default_factory=KeySources)
    runtime: Runtime = field(default_factory=Runtime)
    batch_dir: Path | None = None
    """Where batch jobs are remembered; without it there are none."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A provider that could be used, and what speaks against it."""

    provider: str
    embedder: Embedder
    lacks: str | None
    model: str
    key_from: str | None = None
    endpoint: str | None = None


def choose(settings: EmbedderSettings, around: Surroundings) -> Chosen:
    """Raises `BadSetting` for a name nobody has; everything else becomes a decision."""
    _check_names(settings, around)
    if settings.provider == "auto":
        return _auto(settings, around)
    return _named(settings, around)


def _auto(settings: EmbedderSettings, around: Surroundings) -> Chosen:
    steps: list[Step] = []
    for provider in AUTO:
        if provider not in REMOTE and provider not in around.makers:
            steps.append(Step(provider, "passed over", "not installed"))
            continue
        if provider == "local" and not _has_model_file(settings):
            steps.append(Step(provider, "passed over", "no model file at local.modelPath"))
            continue
        candidate = _candidate(provider, settings, around)
        if candidate.lacks is None or provider == "embedded":
            why = _why(candidate) if candidate.lacks is None else candidate.lacks
            return _chosen(settings, candidate, f"auto: {why}", steps)
        steps.append(Step(provider, "passed over", candidate.lacks))
    raise BadSetting("provider", "auto found no provider; 'embedded' should always be there")


def _named(settings: EmbedderSettings, around: Surroundings) -> Chosen:
    first = _candidate(settings.provider, settings, around)
    fallback = settings.fallback
    if first.lacks is None:
        return _chosen(settings, first, f"requested: {_why(first)}", [])
    steps = [Step(first.provider, "passed over", first.lacks)]
    if fallback in (NONE, settings.provider):
        return _chosen(settings, first, f"requested, but {first.lacks}", [])
    second = _candidate(fallback, settings, around)
    if second.lacks is None:
        why = f"fallback, because {first.provider}: {first.lacks}"
        return _chosen(settings, second, why, steps)
    steps.append(Step(fallback, "passed over", second.lacks))
    why = f"requested, but {first.lacks}; the fallback {fallback!r} neither: {second.lacks}"
    return _chosen(settings, first, why, steps[1:])


def _candidate(provider: str, settings: EmbedderSettings, around: Surroundings) -> _Candidate:
    if provider not in REMOTE:
        here = around.makers[provider](settings)
        return _Candidate(provider, here, here.missing(), here.facts.model)
    # `remote.*` and `dims` are meant for the provider that was asked for, not for its stand-in.
    meant = provider == settings.provider or settings.provider == "auto"
    model = _model_for(provider, settings)
    opened = open_remote(
        REMOTE[provider], settings, around.keys, around.runtime, model=model, meant=meant
    )
    batch = settings.remote.batch if meant else BatchSettings()
    embedder = with_batch(opened.embedder, batch, around.batch_dir)
    return _Candidate(
        provider,
        embedder,
        embedder.missing(),
        embedder.model or "not set",
        opened.key_from,
        embedder.endpoint,
    )


def _model_for(provider: str, settings: EmbedderSettings) -> str | None:
    """A model is named for the provider that was asked for; another takes it only if it has it."""
    if provider == settings.provider or settings.model in REMOTE[provider].models:
        return settings.model
    return None


def _chosen(
    settings: EmbedderSettings, candidate: _Candidate, why: str, steps: list[Step]
) -> Chosen:
    decision = Decision(
        requested=settings.provider,
        used=candidate.provider,
        model=candidate.model,
        why=why,
        fallback=settings.fallback,
        steps=(*steps, Step(candidate.provider, "used", why)),
        key_from=candidate.key_from,
        endpoint=candidate.endpoint,
    )
    return Chosen(candidate.embedder, decision)


def _why(candidate: _Candidate) -> str:
    if candidate.key_from:
        return f"a key from {candidate.key_from}"
    return "it needs no key"


def _has_model_file(settings: EmbedderSettings) -> bool:
    path = settings.local.model_path
    return bool(path) and Path(path or "").expanduser().is_file()


def _check_names(settings: EmbedderSettings, around: Surroundings) -> None:
    known = sorted({*REMOTE, *around.makers})
    for setting, name, also in (
        ("provider", settings.provider, "auto"),
        ("fallback", settings.fallback, NONE),
    ):
        if name != also and name not in known:
            choices = ", ".join([also, *known])
            raise BadSetting(setting, f"no provider is called {name!r}; known: {choices}")


# -- a provider that fails later -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoOn:
    """Keep the provider: text is indexed, search goes on by keyword, vectors come later."""

    why: str
    ask_again: bool
    """False: not before the user has acted."""


@dataclass(frozen=True, slots=True)
class SwitchTo:
    """Use the fallback from now on. Its vectors do not go with those in the index."""

    provider: str
    why: str
    rebuild: Literal[True] = True


def after_failure(
    decision: Decision, trouble: EmbedderTrouble, failures_in_a_row: int
) -> GoOn | SwitchTo:
    """What to do about a provider that failed while indexing."""
    why = str(trouble)
    has_other = decision.fallback not in (NONE, decision.used, decision.requested)
    lasting = trouble.until_user_acts or failures_in_a_row >= FAILURES_BEFORE_SWITCH
    if has_other and lasting:
        return SwitchTo(decision.fallback, why)
    return GoOn(why, ask_again=not trouble.until_user_acts)
