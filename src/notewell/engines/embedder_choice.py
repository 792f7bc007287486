"""Which embedder is in use, and when another takes its place.

The settings name one, and perhaps a fallback. The first is used as long as it answers; one that
refuses for good, or fails twice in a row while an index is made, gives way to the fallback. The
vectors of two models are never mixed, so that comes with a new index, and an index that the
fallback made is asked with the fallback until the first one answers again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from notewell.embedders import choose_embedder
from notewell.errors import EmbedderTrouble
from notewell.ports import Closes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from notewell.embedders import Chosen, Decision, EmbedderSettings
    from notewell.ports import Embedder


class Choice:
    """Which embedder is in use. It changes when one fails for good and another was named."""

    def __init__(
        self,
        settings: EmbedderSettings | None,
        models_dir: Path,
        environment: Mapping[str, str],
        given: Embedder | None,
    ) -> None:
        self._settings = settings
        self._models_dir = models_dir
        self._environment = environment
        self._failures = 0
        self.decision: Decision | None = None
        self.embedder = given or self._take(self._chosen(settings))

    def _chosen(self, settings: EmbedderSettings | None) -> Chosen:
        keys = settings.provider_keys if settings else {}
        return choose_embedder(settings, self._models_dir, self._environment, keys)

    def _take(self, chosen: Chosen) -> Embedder:
        self.decision = chosen.decision
        return chosen.embedder

    def close(self) -> None:
        """What was handed in is closed by who made it."""
        if self.decision is not None and isinstance(self.embedder, Closes):
            self.embedder.close()

    def after(self, trouble: EmbedderTrouble) -> Embedder | None:
        """The fallback, where the one in use will not recover and one was named."""
        if self.decision is None or self._settings is None:
            return None
        from notewell.embedders import SwitchTo, after_failure

        self._failures += 1
        move = after_failure(self.decision, trouble, self._failures)
        if not isinstance(move, SwitchTo):
            return None
        return self._switch(f"fallback, because {move.why}")

    @property
    def names_fallback(self) -> bool:
        """Whether the settings name a second embedder, whichever is in use."""
        return self._settings is not None and self._settings.fallback != "none"

    @property
    def has_second(self) -> bool:
        settings = self._settings
        return (
            settings is not None
            and self.decision is not None
            and settings.fallback not in ("none", self.decision.used)
        )

    def is_back(self, first: Embedder) -> bool:
        """Whether the embedder that was asked for answers; then it is the one in use again."""
        try:
            first.embed(["Is anybody there?"], "query")
        except EmbedderTrouble:
            return False
        self._failures = 0
        self.embedder = self._take(self._chosen(self._settings))
        return True

    def keep_fallback(self, indexed_by: str) -> Embedder | None:
        """An index that the fallback made is asked with the fallback: nothing is mixed."""
        settings = self._settings
        if settings is None or not self.has_second or indexed_by != settings.fallback:
            return None
        first = settings.provider
        return self._switch(
            f"fallback, because it made the index; `notewell index` tries {first} again"
        )

    def _switch(self, why: str) -> Embedder:
        settings = self._settings
        assert settings is not None  # noqa: S101 - both callers have checked it
        second = replace(settings, provider=settings.fallback, fallback="none", model=None)
        chosen = self._chosen(second)
        self.decision = replace(chosen.decision, requested=settings.provider, why=why)
        self.embedder = chosen.embedder
        return self.embedder
