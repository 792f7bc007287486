"""Each package's `__init__` lists its public names twice: for type checkers and for `lazy`."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import notewell

PACKAGES = sorted(
    path.parent.name
    for path in Path(notewell.__file__).parent.glob("*/__init__.py")
    if "lazy_exports" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", PACKAGES)
def test_both_lists_of_a_package_agree_and_every_name_is_there(name: str) -> None:
    package = import_module(f"notewell.{name}")
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    for_type_checkers = {
        (alias.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"notewell.{name}.")
        for alias in node.names
    }
    assert {one for one, _ in for_type_checkers} == set(package.__all__)
    for public, module in for_type_checkers:
        assert getattr(package, public) is getattr(import_module(str(module)), public)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = package.nonsense


def test_importing_every_package_loads_none_of_their_modules() -> None:
    names = ", ".join(f"notewell.{name}" for name in PACKAGES)
    code = (
        f"import sys, {names}; "
        "print(sorted(name for name in sys.modules if name.startswith('notewell.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    expected = sorted([*(f"notewell.{name}" for name in PACKAGES), "notewell.lazy"])
    assert loaded.stdout.decode().strip() == str(expected)
