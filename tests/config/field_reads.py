"""Which fields of settings the source reads, found without running it.

A read is an attribute access on something that is annotated as the settings, or comes from it:

    def plan(settings: QmdSettings): settings.paths        a parameter
    memory.settings.search.keyword_only                    a chain of groups
    qmd = load_settings(folder).qmd; qmd.command           a local variable

Names are typed once for a whole module and attributes once for the whole source, so the result can
contain a read too many where one name stands for two kinds of settings. It misses none that is
written plainly. Checks in `__post_init__` do not count: they give a value no effect.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

Classes = frozenset[str]
NONE: Classes = frozenset()
Nodes = Sequence[ast.AST]
"""All nodes of a module. They are read several times, and a walk takes longer than a reading."""


def reads(folder: Path, groups: Mapping[str, Mapping[str, str]]) -> set[tuple[str, str]]:
    """Pairs of a class and a field that modules below `folder` read, `config/` left out.

    `groups` has the fields of each class of settings, each with its class of settings or "".
    """
    modules = {
        path: tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        for path in folder.rglob("*.py")
    }
    source = _Source(modules.values(), groups)
    outside = (nodes for path, nodes in modules.items() if "config" not in path.parts)
    return {read for nodes in outside for read in source.reads_of(nodes)}


class _Source:
    def __init__(self, modules: Iterable[Nodes], groups: Mapping[str, Mapping[str, str]]) -> None:
        self._groups = dict(groups)
        self._bases: dict[str, str] = {}
        self._attributes: defaultdict[str, set[str]] = defaultdict(set)
        self._functions: defaultdict[str, set[str]] = defaultdict(set)
        modules = list(modules)
        for node in (node for nodes in modules for node in nodes):
            if isinstance(node, ast.ClassDef):
                self._note_class(node)
        for nodes in modules:
            names = self._names(nodes)
            for node in nodes:
                self._note_attributes(node, names)

    def _note_class(self, node: ast.ClassDef) -> None:
        """A subclass of settings has their fields; what is read of it is read of them."""
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self._groups:
                self._bases[node.name] = base.id
                self._groups[node.name] = self._groups[base.id]

    def _note_attributes(self, node: ast.AST, names: Mapping[str, Classes]) -> None:
        if isinstance(node, ast.FunctionDef) and node.returns:
            is_property = any(
                getattr(mark, "id", "") == "property" for mark in node.decorator_list
            )
            home = self._attributes if is_property else self._functions
            home[node.name] |= self._annotated(node.returns)
        elif isinstance(node, ast.ClassDef):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    self._attributes[field.target.id] |= self._annotated(field.annotation)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            self._attributes[node.targets[0].attr] |= self._type_of(node.value, names)

    def _annotated(self, annotation: ast.expr) -> Classes:
        return frozenset(re.findall(r"\w+", ast.unparse(annotation))) & self._groups.keys()

    def _names(self, nodes: Nodes) -> dict[str, Classes]:
        """What parameters and variables of a module can be."""
        names: dict[str, Classes] = {}
        for node in nodes:
            if isinstance(node, ast.arg) and node.annotation:
                names[node.arg] = names.get(node.arg, NONE) | self._annotated(node.annotation)
        for _ in range(2):  # Twice: a variable can come from one that is assigned further down.
            for name, value in _assignments(nodes):
                names[name] = names.get(name, NONE) | self._type_of(value, names)
        return names

    def _type_of(self, value: ast.expr, names: Mapping[str, Classes]) -> Classes:
        if isinstance(value, ast.Name):
            return names.get(value.id, NONE)
        if isinstance(value, ast.Attribute):
            above = self._type_of(value.value, names)
            inner = frozenset(self._groups[one].get(value.attr, "") for one in above) - {""}
            return inner or frozenset(self._attributes[value.attr])
        if isinstance(value, ast.BoolOp | ast.IfExp):
            parts = value.values if isinstance(value, ast.BoolOp) else [value.body, value.orelse]
            return frozenset().union(*(self._type_of(part, names) for part in parts))
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            name = value.func.id
            if name == "replace" and value.args:
                return self._type_of(value.args[0], names)
            return frozenset({name} & self._groups.keys()) | frozenset(self._functions[name])
        return NONE

    def reads_of(self, nodes: Nodes) -> Iterator[tuple[str, str]]:
        names = self._names(nodes)
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name in self._groups:
                yield from self._own_reads(node)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                for one in self._type_of(node.value, names):
                    if node.attr in self._groups[one]:
                        yield self._bases.get(one, one), node.attr

    def _own_reads(self, node: ast.ClassDef) -> Iterator[tuple[str, str]]:
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name != "__post_init__":
                for read in ast.walk(method):
                    if isinstance(read, ast.Attribute) and ast.unparse(read.value) == "self":
                        yield self._bases.get(node.name, node.name), read.attr


def _assignments(nodes: Nodes) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            if isinstance(node.value, ast.Tuple):
                for target, value in zip(node.targets[0].elts, node.value.elts, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, value
        elif isinstance(node, ast.NamedExpr):
            yield node.target.id, node.value
