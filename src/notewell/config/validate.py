"""A file compared with the table of keys: what it sets, and everything that is wrong with it.

A problem costs one key, never the file: the walk goes on, and the default of the key holds.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notewell.config.checks import (
    BadValue,
    Key,
    Unused,
)
from notewell.config.document import ConfigFinding, Located, plain, shown
from notewell.config.outside_folders import answers, real_folder
from notewell.config.registry import RENAMED, all_keys, tree
from notewell.config.secret_values import (
    Headers,
    SecretText,
    environment_name,
    substituted,
    unset_variable,
)
from notewell.config.workspace_rules import (
    Outside,
    Ruled,
    apply_rule,
    is_allowed,
    leaves_the_workspace,
    refusal,
    rule_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from notewell.config.document import Document, FindingKind
    from notewell.config.registry import Tree

Owner: TypeAlias = Literal["user", "workspace", "openclaw"]
"""Whose file it is: the user's own, one that came with a folder, or OpenClaw's."""

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""Names and, for entries of lists, their number: `("agents", "list", 0, "workspace")`."""

_UNCHECKED = frozenset({"$schema"})


class Setting(NamedTuple):
    """A value that a file sets."""

    path: KeyPath
    key: Key
    value: Any
    line: int


class Layer(NamedTuple):
    """A checked file; several layers on top of each other make a configuration."""

    owner: Owner
    file: str
    settings: tuple[Setting, ...]
    findings: tuple[ConfigFinding, ...]
    unasked: tuple[str, ...] = ()
    """Folders outside a workspace that its file names, and that the user was not asked about."""


def dotted(path: KeyPath) -> str:
    """The path as people write it: `agents.list[0].workspace`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def check_document(
    document: Document,
    owner: Owner,
    environment: Mapping[str, str],
    left: Mapping[str, str] = MappingProxyType({}),
) -> Layer:
    """What the document sets, and what is wrong with it.

    `left` names keys of OpenClaw's file that are not used, each with the reason.
    """
    checker = _DocumentChecker(document.file, owner, environment, left)
    settings = tuple(checker.below((), document.root, tree()))
    unasked = tuple(folder for folder, answer in checker.outside.items() if answer is None)
    findings = (*document.findings, *checker.findings)
    return Layer(owner, document.file, settings, findings, unasked)


class _DocumentChecker:
    """Descends into a file and the tree of keys at the same time."""

    def __init__(
        self, file: str, owner: Owner, environment: Mapping[str, str], left: Mapping[str, str]
    ) -> None:
        self._file = file
        self._owner = owner
        self._environment = environment
        self._left = left
        self.findings: list[ConfigFinding] = []
        self.outside: dict[str, bool | None] = {}

    def _report(self, kind: FindingKind, path: KeyPath, line: int, message: str) -> None:
        # OpenClaw's file is not ours to correct: what we cannot use is left, not an error.
        if self._owner == "openclaw" and kind == "error":
            kind, message = "left", f"{message}; the default holds"
        self.findings.append(ConfigFinding(kind, self._file, line, dotted(path), message))

    def below(self, path: KeyPath, value: Located, node: Tree | Key) -> Iterator[Setting]:
        """What `value` sets, where `node` is the part of the tree that belongs to it."""
        # In YAML, `memorySearch:` with nothing below it is null and sets nothing.
        if value.data is None:
            return
        if isinstance(node, Key):
            yield from self._leaf(path, value, node)
        elif "[]" in node:
            yield from self._entries(path, value, node["[]"])
        elif isinstance(value.data, dict):
            for name, inner in value.data.items():
                yield from self._member((*path, name), inner, node)
        else:
            message = f"expected an object {{ … }}, not {shown(plain(value))}"
            self._report("error", path, value.line, message)

    def _entries(self, path: KeyPath, value: Located, node: Tree | Key) -> Iterator[Setting]:
        if not isinstance(value.data, list):
            message = f"expected a list [ … ], not {shown(plain(value))}"
            self._report("error", path, value.line, message)
            return
        for number, entry in enumerate(value.data):
            yield from self.below((*path, number), entry, node)

    def _member(self, path: KeyPath, value: Located, node: Tree) -> Iterator[Setting]:
        name = str(path[-1])
        # A name of the table wins over `*`, which stands for the names that users choose.
        below = node.get(name, node.get("*"))
        reason = self._left.get(below_agent(path))
        # OpenClaw has many keys that we do not know: they are no mistakes of its user.
        if reason or (below is None and self._owner == "openclaw"):
            self._report("left", path, value.line, reason or _foreign(path))
        elif below is not None:
            yield from self.below(path, value, below)
        elif path[0] not in _UNCHECKED:
            self._report("error", path, value.line, f"no such setting{_hint(path, node)}")

    def _leaf(self, path: KeyPath, value: Located, key: Key) -> Iterator[Setting]:
        if isinstance(key.check, Unused):
            # `openclaw.py` reports every key of OpenClaw's file itself.
            if self._owner != "openclaw":
                self._report("note", path, value.line, f"not used by Notewell: {key.meaning}")
            if self._owner != "workspace":
                yield Setting(path, key, plain(value), value.line)
            return
        is_foreign = self._owner == "workspace"
        if is_foreign and not is_allowed(key):
            self._report("refused", path, value.line, refusal(key))
            return
        try:
            checked = key.check(self._filled(plain(value), key))
        except BadValue as error:
            self._report("error", path, value.line, str(error))
            return
        if checked.note:
            self._report("note", path, value.line, checked.note)
        if name := self._missing_key(plain(value), key):
            message = f"the environment has no {name}: the key is missing until you set it"
            self._report("note", path, value.line, message)
        ruled = self._ruled(key, checked.value) if is_foreign else Ruled(checked.value)
        for message in ruled.refusals:
            self._report("refused", path, value.line, message)
        if ruled.value is not None:
            yield Setting(path, key, ruled.value, value.line)

    def _ruled(self, key: Key, value: Any) -> Ruled:
        """What a workspace's file may set of a value."""
        outside = self._outside(value) if rule_of(key) == "inside" else {}
        self.outside |= {one.folder: one.answer for one in outside.values()}
        return apply_rule(key, value, outside)

    def _outside(self, entries: tuple[tuple[str, ...], ...]) -> dict[str, Outside]:
        paths = [entry[0] for entry in entries if leaves_the_workspace(entry[0])]
        if not paths:
            return {}
        workspace = Path(self._file).parent
        known = answers(workspace, self._environment)
        folders = {path: real_folder(path, workspace, self._environment) for path in paths}
        return {path: Outside(folder, known.get(folder)) for path, folder in folders.items()}

    def _filled(self, value: object, key: Key) -> object:
        """The value with `${NAME}` replaced."""
        # A stranger's file must not read the environment: it could send a secret of the user's
        # to an address of its choice.
        if self._owner == "workspace":
            return value
        if isinstance(key.check, SecretText):
            value = _key_text(value)
        if self._missing_key(value, key):
            return value
        if isinstance(value, str):
            return substituted(value, self._environment)
        if isinstance(key.check, Headers) and isinstance(value, dict):
            return {name: self._filled(inner, key) for name, inner in value.items()}
        return value

    def _missing_key(self, value: object, key: Key) -> str | None:
        """The variable that an API key refers to, if the environment does not have it.

        Hosts start us without the user's variables. That is no error, since most commands need no
        key: the reference stays, and the embedder that needs it reports what it lacks.
        """
        if self._owner != "user" or not isinstance(key.check, SecretText):
            return None
        text = _key_text(value)
        return unset_variable(text, self._environment) if isinstance(text, str) else None


def _key_text(value: object) -> object:
    # OpenClaw also writes a reference to a variable as an object.
    name = environment_name(value)
    return f"${{{name}}}" if name else value


def below_agent(path: KeyPath) -> str:
    """A key without the part that names the agent: `agents.list[0].model` is `model`."""
    if path[:2] == ("agents", "defaults"):
        return dotted(path[2:])
    return dotted(path[3:] if path[:2] == ("agents", "list") else path)


def _foreign(path: KeyPath) -> str:
    about_memory = path[0] == "memory" or "memorySearch" in path
    return "Notewell has no such setting" if about_memory else "not about memory"


def _hint(path: KeyPath, siblings: Tree) -> str:
    """The end of the message: the key that was probably meant, if there is one."""
    here = dotted(path)
    if here in RENAMED:
        return f"; Notewell calls it {RENAMED[here]!r}"
    name = str(path[-1])
    above = dotted(path[:-1])
    # A misspelled key is more likely than one at the wrong level, so siblings come first.
    near = _nearest(name, [sibling for sibling in siblings if sibling not in ("[]", "*")])
    if near:
        return f"; did you mean {f'{above}.{near}'.lstrip('.')!r}?"
    elsewhere = _elsewhere(name, above)
    return f"; did you mean {elsewhere!r}?" if elsewhere else ""


def did_you_mean(name: str, choices: Sequence[str]) -> str:
    """The end of a message about a word that is none of the choices."""
    near = _nearest(name, choices)
    return f"; did you mean {near!r}?" if near else f": choose {', '.join(choices)}"


def _nearest(name: str, choices: Sequence[str]) -> str | None:
    import difflib  # Only files with mistakes need it.

    folded = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def _elsewhere(name: str, above: str) -> str | None:
    """The same or a similar name elsewhere in the tree; of several, the one nearest to `above`."""
    import re

    written = re.sub(r"\[\d+\]", "[]", above).split(".")
    last = {path.rsplit(".", 1)[-1] for path in all_keys()}
    near = _nearest(name, sorted(last))
    if not near:
        return None
    # `enabled` is the name of a dozen keys: take the one with the longest common prefix.
    paths = [path for path in all_keys() if path.rsplit(".", 1)[-1] == near]
    return max(paths, key=lambda path: (_shared(path.split("."), written), -len(path)))


def _shared(path: list[str], other: list[str]) -> int:
    """The length of the common prefix of two paths."""
    same = [a == b for a, b in zip(path, other, strict=False)]
    return same.index(False) if False in same else len(same)
