"""Which embedder is in use, why, and when another one takes its place.

EmbedderSelection(settings, …)   the embedder in use; switches to the fallback and back
choose_embedder(settings, …)     one choice with its `Decision`; loads and sends nothing
open_embedded(…)                 an embedder that needs no key

The settings name a provider and perhaps a fallback. The provider is used as long as it works. If
it refuses until the user acts, or fails twice in a row during an index run, the fallback takes
its place. Vectors of two models are never mixed, so a switch rebuilds the index, and an index
that the fallback built is searched with the fallback until the first provider works again.

Every search imports this module. The remote providers are imported (`choose.py`) only if there
are settings; a key in the environment alone leads to none.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.embedders.absent import AbsentEmbedder, NoEmbedder
from notewell.embedders.decision import Chosen, Decision, Step, should_switch
from notewell.embedders.registry import NONE, ambient_keys
from notewell.errors import BadSetting, EmbedderTrouble
from notewell.ports import PROBE_TEXT, Closes
from notewell.records import replace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.embedders.registry import AmbientKey
    from notewell.embedders.settings import EmbedderSettings
    from notewell.embedders.sharing import SharedModels
    from notewell.ports import Embedder, ModelFacts

# -- the embedder in use -------------------------------------------------------------------------


class EmbedderSelection:
    """The embedder in use. It changes when one fails for good and a fallback is configured."""

    def __init__(
        self,
        settings: EmbedderSettings | None,
        models_dir: Path,
        environment: Mapping[str, str],
        given: Embedder | None = None,
        *,
        auth_profiles: tuple[Path, ...] = (),
        started_by_user: bool = False,
        shared: SharedModels | None = None,
    ) -> None:
        """`settings` None: nothing is configured. `given` is used in place of any choice.

        `auth_profiles` are the files of our own state folder, which need not exist.
        `started_by_user` False: a host started this process, so that its environment says what the
        host uses, and nothing about where the user wants notes to go.
        `shared`: models on this machine are taken from there and are not closed here.
        """
        self._settings = settings.with_own_names() if settings else None
        self._models_dir = models_dir
        self._environment = environment
        self._auth_profiles = auth_profiles
        self._started_by_user = started_by_user
        self._shared = shared
        self._failures = 0
        self._first: Chosen | None = None
        """The requested embedder, once it could be opened."""
        self._fallback: Chosen | None = None
        """Opened once: its cool-down spares a fallback that fails too from a request per sync."""
        self.decision: Decision | None = None
        """None for an embedder that was given."""
        self.embedder = given or self._use_chosen(self._choose(settings))

    def _choose(self, settings: EmbedderSettings | None) -> Chosen:
        return choose_embedder(
            settings,
            self._models_dir,
            self._environment,
            auth_profiles=self._auth_profiles,
            started_by_user=self._started_by_user,
            shared=self._shared,
        )

    def _use(self, chosen: Chosen) -> Embedder:
        self.decision = chosen.decision
        return chosen.embedder

    def _use_chosen(self, chosen: Chosen) -> Embedder:
        if not chosen.decision.fell_back:
            self._first = chosen
        return self._use(chosen)

    def close(self) -> None:
        """An embedder that was given is closed by its maker, a shared one by its owner."""
        opened = [chosen.embedder for chosen in (self._first, self._fallback) if chosen]
        if self.decision is not None:
            opened.append(self.embedder)
        for embedder in {id(embedder): embedder for embedder in opened}.values():
            is_shared = self._shared is not None and self._shared.owns(embedder)
            if isinstance(embedder, Closes) and not is_shared:
                embedder.close()

    def fallback_after(self, trouble: EmbedderTrouble) -> Embedder | None:
        """The fallback, if one is configured and the embedder in use will not recover. It is in
        use only after `use_fallback`: it may not work either."""
        if self.decision is None or self._settings is None:
            return None
        # In a row: only a success of the first provider resets the count.
        self._failures += 1
        if not should_switch(self.decision, trouble, self._failures):
            return None
        return self._open_fallback(self._settings).embedder

    def succeeded(self) -> None:
        """The embedder in use has computed vectors: earlier failures no longer count."""
        self._failures = 0

    @property
    def names_fallback(self) -> bool:
        """Whether the settings name a fallback, whichever embedder is in use."""
        return self._settings is not None and self._settings.fallback != NONE

    @property
    def has_second(self) -> bool:
        """Whether the settings name a fallback that is not already in use."""
        return (
            self._settings is not None
            and self.decision is not None
            and self._settings.fallback not in (NONE, self.decision.used)
        )

    def first_choice(self) -> Chosen | None:
        """The requested embedder, whichever is in use; None for one that was given. Nothing is
        sent."""
        if self._first is not None or self._settings is None or self.decision is None:
            return self._first
        # It lacked something when it was chosen. Chosen again: a file may have its key by now.
        chosen = self._choose(replace(self._settings, fallback=NONE))
        decision = replace(chosen.decision, fallback=self._settings.fallback)
        return replace(chosen, decision=decision)

    def return_to_first(self) -> Embedder | None:
        """The requested embedder, which is in use again because it has answered one request; None:
        it has not."""
        first = self.first_choice()
        if first is None:
            return None
        try:
            # One short query: the cheapest request that proves key, quota and model.
            first.embedder.embed([PROBE_TEXT], "query")
        except EmbedderTrouble as trouble:
            if self.decision is not None:
                self.decision = replace(self.decision, why=f"fallback, because {trouble}")
            return None
        self._failures = 0
        self._first = first
        self.embedder = self._use(first)
        return self.embedder

    def keep_first(self, made_by: str, reason: str) -> Embedder | None:
        """The requested embedder if it built the index, although it lacks something. `reason` says
        why the fallback, which was chosen instead, must not replace its vectors."""
        decision = self.decision
        if decision is None or not decision.fell_back or made_by != decision.requested:
            return None
        first = self.first_choice()
        if first is None:
            return None
        why = f"{first.decision.why}; the fallback {decision.used!r} is not used: {reason}"
        self._first = first
        self.embedder = self._use(replace(first, decision=replace(first.decision, why=why)))
        return self.embedder

    def keep_fallback(self, indexed_by: str) -> Embedder | None:
        """The fallback, if it built the index: vectors of two models are never mixed."""
        settings = self._settings
        if settings is None or not self.has_second or indexed_by != settings.fallback:
            return None
        return self.use_fallback(
            f"it built the index; `notewell index` tries {settings.provider} again"
        )

    @property
    def is_automatic(self) -> bool:
        """Whether nothing names the provider: what `auto` finds may differ between processes."""
        return self.decision is not None and self.decision.requested == "auto"

    def choose_again(self) -> Embedder:
        """What `auto` finds, whatever built the index."""
        self.embedder = self._use_chosen(self._choose(self._settings))
        return self.embedder

    def keep_maker(self, made: ModelFacts) -> Embedder | None:
        """The embedder that built the index, if `auto` has found another provider now.

        An index costs time or money, so it is not thrown away because a process sees other
        variables or files. A maker that sends text elsewhere is not used: only this machine is
        certain to be where the user wants it. Then the vectors wait, and words are searched.
        """
        if self.decision is None or not self.is_automatic or made.provider == self.decision.used:
            return None
        found = self.decision.used
        action = f"`notewell index --force` builds an index with {found}"
        maker = self.maker(made, action)
        why = f"auto: it built the index; {action}"
        passed_over = Step(found, "passed over", f"{made.provider} built the index")
        self.decision = replace(
            self.decision,
            used=made.provider,
            model=made.model,
            why=why,
            steps=(*self.decision.steps[:-1], passed_over, Step(made.provider, "used", why)),
            # Those of the provider that is not used.
            key_from=None,
            endpoint=None,
            exposed_file=None,
        )
        return maker

    def maker(self, made: ModelFacts, action: str) -> Embedder:
        """The embedder that built an index, or one that stands for it; `action` is the next
        step of the user. Nothing is loaded."""
        if made.provider == "embedded":
            with suppress(BadSetting):
                return _open_embedded(self._models_dir, made.model, self._shared)
        return AbsentEmbedder(made, action)

    def use_fallback(self, reason: object) -> Embedder | None:
        """The fallback, which is the embedder in use from now on; None: there is none."""
        if self._settings is None:
            return None
        chosen, wanted = self._open_fallback(self._settings), self._settings.provider
        if wanted == "auto" and self.decision is not None:
            wanted = self.decision.used  # What `auto` had chosen.
        why = f"fallback, because {reason}"
        self.decision = replace(chosen.decision, requested=wanted, why=why)
        self.embedder = chosen.embedder
        return self.embedder

    def _open_fallback(self, settings: EmbedderSettings) -> Chosen:
        if self._fallback is None:
            # By the same choice as the first one, so that it reports what it lacks in the same
            # way.
            self._fallback = self._choose(settings.for_fallback())
        return self._fallback


def profile_files(state: Path, agent: str) -> tuple[Path, ...]:
    """OpenClaw's files of keys for an agent in a state folder, strongest first; they need not
    exist. An agent also has the keys of the main agent."""
    agents = dict.fromkeys((agent, "main"))
    return tuple(state / "agents" / name / "agent" / "auth-profiles.json" for name in agents)


# -- one choice ----------------------------------------------------------------------------------


def choose_embedder(
    settings: EmbedderSettings | None,
    models_dir: Path,
    environment: Mapping[str, str],
    *,
    auth_profiles: tuple[Path, ...] = (),
    started_by_user: bool = False,
    shared: SharedModels | None = None,
) -> Chosen:
    """Decide without a call; `models_dir` also stores what was learned about remote models."""
    if settings is not None and settings.provider == NONE:
        return _no_embedder()
    if _is_embedded(settings, auth_profiles):
        # `auto` would come to the same result after it has imported every provider.
        return _embedded_by_default(models_dir, ambient_keys(environment), shared)
    from notewell.embedders.api_keys import KeySources
    from notewell.embedders.choose import SelectionContext, choose
    from notewell.embedders.remote_plan import DimsCache, Runtime
    from notewell.embedders.settings import EmbedderSettings

    settings = settings or EmbedderSettings()

    context = SelectionContext(
        on_this_machine={
            "embedded": lambda settings: _open_embedded(models_dir, settings.model, shared),
            "local": lambda settings: _open_local(models_dir, settings, shared),
        },
        keys=KeySources(
            environment,
            {name: entry.api_key for name, entry in settings.providers.items() if entry.api_key},
            settings.auth_profiles or auth_profiles,
            settings.auth_order,
        ),
        runtime=Runtime(dims_cache=DimsCache(models_dir)),
        batch_dir=models_dir / "batch-jobs",
        environment_keys=started_by_user and settings.use_environment_keys,
    )
    return choose(settings, context)


def _is_embedded(settings: EmbedderSettings | None, auth_profiles: tuple[Path, ...]) -> bool:
    """Whether `auto` can only come to the built-in model."""
    if settings is None:
        return not any(path.exists() for path in auth_profiles)
    return (settings.provider, settings.pinned, settings.model) == ("auto", "embedded", None)


def _no_embedder() -> Chosen:
    why = "requested: keyword search alone answers"
    steps = (Step(NONE, "used", why),)
    return Chosen(NoEmbedder(), Decision(NONE, NONE, NoEmbedder.FACTS.model, why, NONE, steps))


def _embedded_by_default(
    models_dir: Path, unused_keys: tuple[AmbientKey, ...], shared: SharedModels | None
) -> Chosen:
    embedder = _open_embedded(models_dir, None, shared)
    why = str(embedder.missing() or "it needs no key")
    decision = Decision(
        requested="auto",
        used="embedded",
        model=embedder.facts.model,
        why=f"auto: {why}",
        fallback=NONE,
        steps=(Step("embedded", "used", why),),
        unused_keys=unused_keys,
    )
    return Chosen(embedder, decision)


def _open_embedded(models_dir: Path, model: str | None, shared: SharedModels | None) -> Embedder:
    if shared is None:
        return open_embedded(models_dir, model)
    return shared.get(("embedded", models_dir, model), lambda: open_embedded(models_dir, model))


def open_embedded(models_dir: Path | None = None, model: str | None = None) -> Embedder:
    """An embedder that needs no key; `model` names a pulled one, None is the built-in one."""
    from notewell.embedders import weights
    from notewell.embedders.embedded import EmbeddedEmbedder

    files = weights.NOTEWELL_EMBED if model is None else weights.model_called(model)
    if files is None:
        known = ", ".join(files.name for files in weights.MODELS)
        raise BadSetting("model", f"no embedded model is called {model!r}; known: {known}")
    folder = weights.folder_of(files, models_dir)
    if files is weights.NOTEWELL_EMBED:
        return EmbeddedEmbedder(folder)
    from notewell.embedders.multilingual import MultilingualEmbedder

    return MultilingualEmbedder(folder)


def _open_local(
    models_dir: Path, settings: EmbedderSettings, shared: SharedModels | None
) -> Embedder:
    from notewell.embedders.local import LocalEmbedder

    folder = gguf_dir(settings.local.model_cache_dir, models_dir)

    def open_model() -> Embedder:
        return LocalEmbedder(
            settings.local.model_path,
            folder,
            context_size=settings.local.context_size,
            query_timeout_s=settings.query_timeout_s,
            document_timeout_s=settings.document_timeout_s,
        )

    if shared is None:
        return open_model()
    times = (settings.query_timeout_s, settings.document_timeout_s)
    return shared.get(("local", settings.local, folder, times), open_model)


def gguf_dir(configured: str | None, models_dir: Path) -> Path:
    """Where downloaded GGUF models are, for the embedder and for `notewell model`; `configured` is
    `local.modelCacheDir`."""
    return Path(configured).expanduser() if configured else models_dir
