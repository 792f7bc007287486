"""A file held against the table: what it sets, and everything that is wrong with it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.config.checks import Unused, Wrong
from notewell.config.key import Key
from notewell.config.positions import Finding, Located, plain, shown
from notewell.config.registry import RENAMED, all_keys, tree
from notewell.config.secret import Headers, SecretText, environment_name, substituted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.config.positions import Document, Kind
    from notewell.config.registry import Tree

Owner: TypeAlias = Literal["user", "workspace", "openclaw"]
"""Whose file it is: the user's own, one that came with a folder, or OpenClaw's."""

_MAY_BE_ANYTHING = frozenset({"$schema"})


class Setting(NamedTuple):
    """A value that a file gives."""

    path: tuple[str | int, ...]
    """Names and, for entries of lists, their number: `("agents", "list", 0, "workspace")`."""
    key: Key
    value: Any
    line: int


class Walked(NamedTuple):
    owner: Owner
    file: str
    settings: tuple[Setting, ...]
    findings: tuple[Finding, ...]


def dotted(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def walk(
    document: Document,
    owner: Owner,
    environment: Mapping[str, str],
    left: Mapping[str, str] = MappingProxyType({}),
) -> Walked:
    """Everything the document sets, checked; a problem costs one key, not the file.

    `left` names keys of a foreign file that are not taken, with the reason.
    """
    walker = _Walker(document.file, owner, environment, left)
    settings = tuple(walker.below((), document.root, tree()))
    return Walked(owner, document.file, settings, (*document.findings, *walker.findings))


class _Walker:
    def __init__(
        self, file: str, owner: Owner, environment: Mapping[str, str], left: Mapping[str, str]
    ) -> None:
        self._file = file
        self._owner = owner
        self._environment = environment
        self._left = left
        self.findings: list[Finding] = []

    def _find(self, kind: Kind, path: tuple[str | int, ...], line: int, message: str) -> None:
        if self._owner == "openclaw" and kind == "error":
            kind, message = "left", f"{message}; the default holds"
        self.findings.append(Finding(kind, self._file, line, dotted(path), message))

    def below(
        self, path: tuple[str | int, ...], value: Located, known: Tree | Key
    ) -> Iterator[Setting]:
        if value.data is None:  # `memorySearch:` with nothing below it says nothing.
            return
        if isinstance(known, Key):
            yield from self._leaf(path, value, known)
        elif "[]" in known:
            yield from self._entries(path, value, known["[]"])
        elif isinstance(value.data, dict):
            for name, inner in value.data.items():
                yield from self._member((*path, name), inner, known)
        else:
            message = f"expected an object {{ … }}, not {shown(plain(value))}"
            self._find("error", path, value.line, message)

    def _entries(
        self, path: tuple[str | int, ...], value: Located, known: Tree | Key
    ) -> Iterator[Setting]:
        if not isinstance(value.data, list):
            message = f"expected a list [ … ], not {shown(plain(value))}"
            self._find("error", path, value.line, message)
            return
        for number, entry in enumerate(value.data):
            yield from self.below((*path, number), entry, known)

    def _member(
        self, path: tuple[str | int, ...], value: Located, known: Tree
    ) -> Iterator[Setting]:
        name = str(path[-1])
        below = known.get(name, known.get("*"))
        reason = self._left.get(below_agent(path))
        if reason or (below is None and self._owner == "openclaw"):
            self._find("left", path, value.line, reason or _foreign(path))
        elif below is not None:
            yield from self.below(path, value, below)
        elif path[0] not in _MAY_BE_ANYTHING:
            self._find("error", path, value.line, f"no such setting{_hint(path, known)}")

    def _leaf(self, path: tuple[str | int, ...], value: Located, key: Key) -> Iterator[Setting]:
        if key.own and self._owner == "workspace":
            self._find("refused", path, value.line, _only_own(key))
            return
        try:
            checked = key.check(self._filled(plain(value), key))
        except Wrong as wrong:
            self._find("error", path, value.line, str(wrong))
            return
        if checked.note:
            self._find("note", path, value.line, checked.note)
        if key.outside and self._owner == "workspace":
            self._tell_outside(path, value.line, checked.value)
        yield Setting(path, key, checked.value, value.line)

    def _filled(self, value: object, key: Key) -> object:
        """`${NAME}` filled in, where the file is the user's: a stranger's may not ask for any."""
        if self._owner == "workspace" or isinstance(key.check, Unused):
            return value
        if isinstance(key.check, SecretText) and (name := environment_name(value)):
            value = f"${{{name}}}"
        if isinstance(value, str):
            return substituted(value, self._environment)
        if isinstance(key.check, Headers) and isinstance(value, dict):
            return {name: self._filled(inner, key) for name, inner in value.items()}
        return value

    def _tell_outside(
        self, path: tuple[str | int, ...], line: int, entries: tuple[tuple[str, ...], ...]
    ) -> None:
        for entry in entries:
            if entry[0].startswith(("/", "~", "\\")) or ".." in entry[0] or ":" in entry[0][:2]:
                message = f"{entry[0]!r} is outside the workspace: be sure you want it searched"
                self._find("note", path, line, message)


def below_agent(path: tuple[str | int, ...]) -> str:
    """A key as it is called below an agent, whether of the defaults or of an entry."""
    if path[:2] == ("agents", "defaults"):
        return dotted(path[2:])
    return dotted(path[3:] if path[:2] == ("agents", "list") else path)


def _foreign(path: tuple[str | int, ...]) -> str:
    about_memory = path[0] == "memory" or "memorySearch" in path
    return "Notewell has no such setting" if about_memory else "not about memory"


def _only_own(key: Key) -> str:
    return (
        "not taken from a workspace's file, which may come with a stranger's folder: "
        f"put it into your own ({key.meaning})"
    )


def _hint(path: tuple[str | int, ...], siblings: Tree) -> str:
    """The key that was probably meant."""
    here = dotted(path)
    if here in RENAMED:
        return f"; Notewell calls it {RENAMED[here]!r}"
    name = str(path[-1])
    above = dotted(path[:-1])
    near = _nearest(name, [sibling for sibling in siblings if sibling not in ("[]", "*")])
    if near:
        return f"; did you mean {f'{above}.{near}'.lstrip('.')!r}?"
    elsewhere = _elsewhere(name, above)
    return f"; did you mean {elsewhere!r}?" if elsewhere else ""


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a message about a word that is not one of those known."""
    near = _nearest(name, known)
    return f"; did you mean {near!r}?" if near else f": choose {', '.join(known)}"


def _nearest(name: str, known: Sequence[str]) -> str | None:
    import difflib

    folded = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def _elsewhere(name: str, above: str) -> str | None:
    """The same or a like name elsewhere in the tree, as near to where it was written as can be."""
    import re

    written = re.sub(r"\[\d+\]", "[]", above).split(".")
    last = {path.rsplit(".", 1)[-1] for path in all_keys()}
    near = _nearest(name, sorted(last))
    if not near:
        return None
    paths = [path for path in all_keys() if path.rsplit(".", 1)[-1] == near]
    return max(paths, key=lambda path: (_shared(path.split("."), written), -len(path)))


def _shared(one: list[str], other: list[str]) -> int:
    """How many names two paths have in common from the start."""
    same = [a == b for a, b in zip(one, other, strict=False)]
    return same.index(False) if False in same else len(same)
