"""Asks the user, once, about folders outside a workspace that its settings file names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.output import tell
from notewell.cli.place import location_of

if TYPE_CHECKING:
    import argparse


def ask_about_outside(arguments: argparse.Namespace) -> None:
    """On a terminal; see `index`."""
    from notewell.cli.install import asks
    from notewell.config import record_outside_answer, workspace_layer

    workspace = Path(location_of(arguments).workspace)
    layer = workspace_layer(workspace)
    for folder in layer.unasked if layer else ():
        tell(f"the settings file of this workspace adds notes outside it: {folder}")
        record_outside_answer(
            workspace, folder, os.environ, allowed=asks("Index these as well? [y/N] ")
        )
