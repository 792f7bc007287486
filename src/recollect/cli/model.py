"""`recollect model pull`: the weights of the embedded model, where the install lacks them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.output import print_json, say, tell
from recollect.config import default_state_dir
from recollect.core.errors import EmbedderMissing
from recollect.embedders import pull_model

if TYPE_CHECKING:
    import argparse


def run(arguments: argparse.Namespace) -> int:
    state = Path(arguments.state_dir) if arguments.state_dir else default_state_dir()
    try:
        done = pull_model(state / "models")
    except EmbedderMissing as error:
        tell(f"recollect: {error}")
        return 1
    if arguments.json:
        print_json({"did": done})
    else:
        say(done)
    return 0
