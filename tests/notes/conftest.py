from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

from notewell.files import PathDir
from notewell.notes import ExtraPath
from notewell.notes.scope import scope_of
from notewell.notes.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


class OpenWorkspace(Protocol):
    def __call__(self, path: Path, *extra_paths: ExtraPath) -> Workspace: ...


@pytest.fixture(params=["held", "checked"])
def open_workspace(request: pytest.FixtureRequest) -> OpenWorkspace:
    """Opens a workspace by descriptors, and once more the way it goes without them."""

    def opened(path: Path, *extra_paths: ExtraPath) -> Workspace:
        workspace = Workspace.open(path, extra_paths)
        if request.param == "held":
            return workspace
        scope = scope_of(workspace.root, path.absolute(), extra_paths)
        return Workspace(scope, PathDir("", None))

    return opened


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file below `tmp_path`, folders included."""

    def written(path: str, text: str = "a note\n") -> Path:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    return written
