"""Packages whose names are imported when they are first used (PEP 562).

A package's `__init__` lists its public names twice: for type checkers as imports, and for the
interpreter as a table. Importing the package then costs nothing, and `notewell search` loads only
the modules that a search needs.

    if TYPE_CHECKING:
        from notewell.index.sqlite.folder import IndexFolder as IndexFolder
    else:
        __getattr__, __dir__, __all__ = lazy_exports(__name__, {"folder": "IndexFolder"})
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_exports(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package; `modules` maps a module to its names,
    separated by spaces."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home}"), name)
        # The next access finds the attribute itself and does not come here.
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted(homes), sorted(homes)
