"""`notewell model`: list the models on this machine, and download one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import ProgressBar, print_json, say, tell
from notewell.config import default_state_dir
from notewell.embedders import list_models, pull_model
from notewell.errors import EmbedderMissing
from notewell.sync import Progress

if TYPE_CHECKING:
    import argparse

    from notewell.embedders import ModelState


def run(arguments: argparse.Namespace) -> int:
    state = Path(arguments.state_dir) if arguments.state_dir else default_state_dir()
    if arguments.action == "list":
        return _list(state / "models", as_json=arguments.json)
    # Without a name: the embedded model, which some installs lack.
    return _pull(state / "models", getattr(arguments, "name", None), as_json=arguments.json)


def _pull(models_dir: Path, name: str | None, *, as_json: bool) -> int:
    bar = ProgressBar()
    try:
        outcome = pull_model(
            models_dir,
            name,
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


def _list(models_dir: Path, *, as_json: bool) -> int:
    states = list_models(models_dir)
    if as_json:
        print_json({"models": [_as_json(state) for state in states]})
        return 0
    for state in states:
        say(f"{state.name}  {state.bytes / 1e6:.0f} MB  {state.about}")
        say(f"    {state.path or f'not here: notewell model pull {state.name}'}")
    return 0


def _as_json(state: ModelState) -> dict[str, object]:
    return {
        "name": state.name,
        "about": state.about,
        "path": str(state.path) if state.path else None,
        "bytes": state.bytes,
    }
