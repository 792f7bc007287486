"""A map of the package: size, names, comments and imports in figures.

    python scripts/map.py [PACKAGE ...]     all packages, or only these

Prints one line per package, then the class names that are defined more than once, the imports
that go past a package's `__init__`, and the modules that a keyword search passes through.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "notewell"
SHORT_LINES = 60


class Module(NamedTuple):
    name: str
    package: str
    tree: ast.Module
    lines: int
    code: int
    comments: int


def read_module(path: Path) -> Module:
    relative = path.relative_to(SRC)
    package = relative.parts[0] if len(relative.parts) > 1 else "."
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    comments, code = set[int](), set[int]()
    ignored = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                comments.add(token.start[0])
            elif token.type not in ignored:
                code.update(range(token.start[0], token.end[0] + 1))
    code -= docstring_lines(tree)
    name = ".".join(("notewell", *relative.with_suffix("").parts)).removesuffix(".__init__")
    return Module(name, package, tree, text.count("\n"), len(code), len(comments))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Docstrings, and the strings below fields and constants that document them."""
    lines = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def cross_package_imports(modules: list[Module]) -> tuple[list[str], int]:
    """Imports of a module of another package in place of the package, and how many there are."""
    packages = {module.package for module in modules} - {"."}
    past, total = [], 0
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            _, _, path = node.module.partition("notewell.")
            target, _, inner = path.partition(".")
            if target in packages and target != module.package:
                total += 1
                if inner:
                    past.append(f"{module.name} -> {node.module}")
    return past, total


def duplicate_classes(modules: list[Module]) -> dict[str, list[str]]:
    homes = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module.name)
    return {name: places for name, places in homes.items() if len(places) > 1}


def modules_of_a_search() -> set[str]:
    """Modules of ours in which code runs during a second `Memory.search` by words."""
    from notewell import open_memory

    passed = set[str]()

    def note(frame: object, event: str, argument: object) -> None:
        module = getattr(frame, "f_globals", {}).get("__name__", "")
        if event == "call" and module.startswith("notewell"):
            passed.add(module)

    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        (workspace / "memory").mkdir(parents=True)
        (workspace / "MEMORY.md").write_text("We ship the router on Friday.\n", encoding="utf-8")
        with open_memory(workspace, state_dir=Path(folder, "state")) as memory:
            memory.sync(vectors=False)
            memory.search("router", mode="keyword")
            sys.setprofile(note)
            try:
                memory.search("router", mode="keyword")
            finally:
                sys.setprofile(None)
    return passed


def show(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    modules = [read_module(path) for path in sorted(SRC.rglob("*.py"))]
    wanted = set(sys.argv[1:])
    by_package = defaultdict(list)
    for module in modules:
        if not wanted or module.package in wanted:
            by_package[module.package].append(module)
    show(f"{'package':<14}{'files':>6}{'short':>6}{'lines':>7}{'code':>7}{'comments/100':>14}")
    shown = [module for group in by_package.values() for module in group]
    for name, group in [*sorted(by_package.items()), ("all", shown)]:
        code = sum(module.code for module in group)
        comments = sum(module.comments for module in group)
        short = sum(module.lines < SHORT_LINES for module in group)
        show(
            f"{name:<14}{len(group):>6}{short:>6}{sum(module.lines for module in group):>7}"
            f"{code:>7}{100 * comments / max(1, code):>14.1f}"
        )
    show()
    duplicates = duplicate_classes(modules)
    show(f"class names defined more than once: {len(duplicates)}")
    for name, places in sorted(duplicates.items()):
        show(f"  {name}: {', '.join(places)}")
    past, total = cross_package_imports(modules)
    show(f"imports past a package's __init__: {len(past)} of {total}")
    for line in past:
        show(f"  {line}")
    show(f"modules that a keyword search passes: {len(modules_of_a_search())}")


if __name__ == "__main__":
    main()
