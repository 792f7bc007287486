"""One script of all modules of the page: a browser asks once, and not for each of 36 files.

Each module becomes a function of its own scope, in the order in which they are needed:

    import { el } from "./dom.js";         const { el } = dom_js;
    export function draw() { … }           const hits_js = (() => { …; return { draw }; })();

The page uses these two forms and `import * as` only; anything else is an error. There is no other
translation: what runs is what was written.
"""

import re
from collections.abc import Mapping

IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<file>\w+\.js)";$',
    re.MULTILINE,
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """The script of `entry` and of all that it imports. Raises `ValueError`."""
    return "".join(_function(name, modules[name]) for name in _in_order(modules, entry))


def _in_order(modules: Mapping[str, str], entry: str) -> list[str]:
    """Each module after those that it imports."""
    done: list[str] = []

    def visit(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            raise ValueError(f"these modules import each other: {[*importers, name]}")
        if name not in done:
            for found in IMPORT.finditer(modules[name]):
                visit(found["file"], (*importers, name))
            done.append(name)

    visit(entry, ())
    return done


def _function(name: str, text: str) -> str:
    body = EXPORT.sub("", IMPORT.sub(_constants, text))
    if unknown := UNKNOWN.search(body):
        raise ValueError(f"{name} has a statement that cannot be bundled: {unknown[0]!r}")
    exported = ", ".join(EXPORT.findall(text))
    return f"const {_identifier(name)} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"


def _constants(found: re.Match[str]) -> str:
    imported = _identifier(found["file"])
    if found["all"]:
        return f"const {found['all']} = {imported};"
    # `a as b` of an import is `a: b` of an object.
    return f"const {{{found['names'].replace(' as ', ': ')}}} = {imported};"


def _identifier(name: str) -> str:
    return name.replace(".", "_")
