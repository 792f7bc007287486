"""`notewell model`: list the models on this machine, and download one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.config import default_state_dir, load_configuration
from notewell.embedders import gguf_dir, list_models, pull_model
from notewell.errors import EmbedderMissing
from notewell.sync import Progress

if TYPE_CHECKING:
    import argparse

    from notewell.embedders import ModelState


def run(arguments: argparse.Namespace) -> int:
    state = Path(arguments.state_dir) if arguments.state_dir else default_state_dir()
    models_dir = state / "models"
    gguf_models = gguf_dir(_configured_dir(), models_dir)
    if arguments.action == "list":
        return _list(list_models(models_dir, gguf_models), as_json=arguments.json)
    # Without a name: the embedded model, which some installs lack.
    name = getattr(arguments, "name", None)
    return _pull(models_dir, gguf_models, name, as_json=arguments.json)


def _configured_dir() -> str | None:
    """From the user's own settings: no workspace's file may name this folder."""
    configuration = load_configuration()
    values = configuration.agents[configuration.default_agent].values
    folder: str | None = values["memorySearch.local.modelCacheDir"]
    return folder


def _pull(models_dir: Path, gguf_models: Path, name: str | None, *, as_json: bool) -> int:
    bar = ProgressBar()
    try:
        outcome = pull_model(
            models_dir,
            name,
            gguf_dir=gguf_models,
            # Whole MiB: the bar has no use for bytes.
            progress=lambda have, size: bar.update(Progress(have >> 20, size >> 20, "MiB")),
        )
    except EmbedderMissing as error:
        # The bar ends first, so that the message starts on a line of its own.
        bar.done()
        tell(f"notewell: {error}")
        return 1
    bar.done()
    if as_json:
        print_json({"did": outcome})
    else:
        say(outcome)
    return 0


def _list(states: list[ModelState], *, as_json: bool) -> int:
    if as_json:
        print_json({"models": [_as_json(state) for state in states]})
        return 0
    for state in states:
        say(f"{state.name}  {state.bytes / 1e6:.0f} MB  {state.about}")
        say(f"    {state.path or _how_to_get(state)}")
    return 0


def _how_to_get(state: ModelState) -> str:
    if state.is_part:
        return "not here, or damaged: reinstall notewell"
    return f"not here: notewell model pull {state.name}"


def _as_json(state: ModelState) -> dict[str, object]:
    return {
        "name": state.name,
        "about": state.about,
        "path": str(state.path) if state.path else None,
        "bytes": state.bytes,
    }
