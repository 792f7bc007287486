"""Names in src: a public class name means one thing, and a variable is named by its value."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import notewell

SRC = Path(notewell.__file__).parent


def test_a_public_class_name_is_defined_once() -> None:
    modules = defaultdict(list)
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(module)
    several = {name: places for name, places in modules.items() if len(places) > 1}
    assert not several


def test_no_identifier_says_told() -> None:
    """`told` fits every value and so describes none."""
    uses = {
        module
        for module, tree in trees().items()
        if any("told" in words(name) for name in identifiers(tree))
    }
    assert sorted(uses) == []


@cache
def trees() -> dict[str, ast.Module]:
    """By path below the package: `core/words.py`."""
    return {
        path.relative_to(SRC).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(SRC.rglob("*.py"))
    }


def identifiers(tree: ast.Module) -> Iterator[str]:
    """Every name that the code binds or uses, as variable, attribute, parameter or import."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname", "rest"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def words(name: str) -> list[str]:
    """The words of `snake_case` and `CamelCase`, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
