"""Why an embedder gives no vectors. The tree is in `__init__.py`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from notewell.errors.memory import NotewellError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from notewell.ports import Vectors


class EmbedderTrouble(NotewellError):
    exit_code = 5
    until_user_acts: ClassVar[bool] = False
    """Whether every retry fails until the user changes something."""
    summary: ClassVar[str] = "failed"
    """What the embedder does, as the predicate of a sentence."""

    provider: str = ""
    action: str = ""
    """The next step, in words that name no folder; empty if there is none."""
    http_status: int | None = None
    finished: Mapping[int, Vectors] = MappingProxyType({})
    """Rows that were finished before the error, by the number of their text: they are paid for."""

    def public_text(self) -> str:
        # The reason may quote a provider, a library or the system, so it is left out.
        status = f" (HTTP {self.http_status})" if self.http_status else ""
        action = f"; {self.action}" if self.action else ""
        name = f"{self.provider!r} embedder" if self.provider else "embedder"
        return f"the {name} {self.summary}{status}{action}"


class EmbedderMissing(EmbedderTrouble):
    """A retry fails until the user acts."""

    until_user_acts = True
    summary = "is not available"

    def __init__(self, provider: str, problem: str, action: str) -> None:
        super().__init__(f"the {provider!r} embedder is not available: {problem}; {action}")
        self.provider = provider
        self.problem = problem
        self.action = action


class NoWorkingEmbedder(EmbedderTrouble):
    """The embedder of the index does not work, and none that could take its place does."""

    def __init__(self, troubles: Sequence[EmbedderTrouble], kept_model: str | None) -> None:
        kept = f". The index keeps its vectors of {kept_model}" if kept_model else ""
        super().__init__(_NO_FALLBACK.join(map(str, troubles)) + kept)
        self.troubles = tuple(troubles)
        """Of the provider, and of its fallback if there is one."""
        self.kept_model = kept_model
        """The model whose vectors are in the index; None: there are none."""
        self.provider = troubles[0].provider
        self.http_status = troubles[0].http_status

    def public_text(self) -> str:
        return _NO_FALLBACK.join(trouble.public_text() for trouble in self.troubles)


_NO_FALLBACK = ". The fallback cannot take its place: "


class FallbackNotUsed(EmbedderTrouble):
    """A fallback would replace the vectors of another model, and they would be lost."""

    summary = "is not used: vectors in the index would be lost"

    def __init__(self, provider: str, kept_model: str, why: str) -> None:
        action = f"to replace them all the same, set memorySearch.provider: {provider}"
        super().__init__(
            f"the {provider!r} embedder is not used: it would replace the vectors of {kept_model} "
            f"in the index, and {why}; {action}"
        )
        self.provider = provider
        self.kept_model = kept_model
        self.why = why
        self.action = action


class VectorsPending(EmbedderTrouble):
    """Nothing went wrong: the settings say that nobody waits for a batch job."""

    summary = "has batch jobs under way"

    def __init__(self, provider: str, texts: int, jobs: Sequence[str]) -> None:
        super().__init__(
            f"{texts} texts are in batch jobs of {provider!r} that have not ended "
            f"({', '.join(jobs)}); a later `notewell index` fetches their vectors"
        )
        self.provider = provider
        self.action = "a later sync fetches their vectors"
        self.texts = texts
        self.jobs = tuple(jobs)


class EmbedderRefused(EmbedderTrouble):
    """The provider replied and refuses: the key, the model or the account is wrong."""

    until_user_acts = True
    summary = "refuses every request"

    def __init__(
        self,
        provider: str,
        problem: str,
        action: str,
        *,
        http_status: int | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(f"the {provider!r} embedder refuses: {problem}; {action}")
        self.provider = provider
        self.action = action
        self.http_status = http_status
        self.code = code


class QuotaExhausted(EmbedderRefused):
    """The provider reports it with a code or status; it does not recover within seconds."""

    summary = "refuses every request: the quota is used up"


class EmbedderFailed(EmbedderTrouble):
    def __init__(
        self,
        provider: str,
        why: str,
        *,
        http_status: int | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"the {provider!r} embedder failed: {why}")
        self.provider = provider
        self.why = why
        self.http_status = http_status
        self.code = code
        self.retry_after_s = retry_after_s


class EmbedderUnreachable(EmbedderFailed):
    """No complete reply arrived, so it is unknown whether the server executed the request."""

    summary = "gave no complete reply"


class AnswerUnusable(EmbedderFailed):
    """The wrong count, order, length or numbers; nothing of the reply is used."""

    summary = "gave an unusable reply"


class TextTooLarge(EmbedderFailed):
    """The request or a text in it is larger than the provider accepts."""

    summary = "refuses a text that is too large"
