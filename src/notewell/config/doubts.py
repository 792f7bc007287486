"""Values that are used, but cannot have the effect that they are meant to have.

`doubtful` compares values with one another. `absent` also looks at this machine: at folders, files
and programs that the values name. Only `config check` and `doctor` ask for that.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.config.agents import RULES
from notewell.config.document import ConfigFinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.config.agents import Value
    from notewell.config.effects import AgentValues
    from notewell.config.provider_entries import ProviderEntry

_SEARCH = "memorySearch"
_QMD = "memory.qmd"
_LANCE = "plugins.entries.memory-lancedb"


def doubtful(
    agent: AgentValues, providers: Mapping[str, ProviderEntry]
) -> Iterator[ConfigFinding]:
    """Values that cannot do what they say, whatever is on this machine."""
    values = agent.values
    yield from _incomplete_entries(values, providers)
    yield from _foreign_model(values)
    yield from _prefixes_that_never_match(values)
    yield from _rules_never_reached(values)
    yield from _exports_among_notes(agent)
    yield from _relative_paths(values)
    yield from _nothing_to_search(values)


def _note(value: Value, key: str, message: str) -> ConfigFinding:
    return ConfigFinding("note", value.file, value.line, key, message)


def _incomplete_entries(
    values: Mapping[str, Value], named: Mapping[str, ProviderEntry]
) -> Iterator[ConfigFinding]:
    """Entries of the user's own that lack an address or a model: no vector can be computed."""
    from notewell.embedders import PROVIDER_NAMES, ProviderSettings

    for key in (f"{_SEARCH}.provider", f"{_SEARCH}.fallback"):
        value = values[key]
        entry = named.get(value.value)
        if entry is None or value.value in PROVIDER_NAMES:
            continue
        # `remote.baseUrl` and `model` are for the provider, not for its fallback.
        is_first = key == f"{_SEARCH}.provider"
        model = values[f"{_SEARCH}.model"].value if is_first else None
        address = values[f"{_SEARCH}.remote.baseUrl"].value if is_first else None
        lacks = [] if address or entry.base_url else ["baseUrl"]
        lacks += [] if model or ProviderSettings(models=entry.models).model else ["models"]
        for name in lacks:
            message = f"no vectors: models.providers.{value.value}.{name} is not set"
            yield ConfigFinding("note", value.file, value.line, key, message)


def _foreign_model(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    from notewell.embedders import embedded_models

    model = values[f"{_SEARCH}.model"]
    if values[f"{_SEARCH}.provider"].value == "embedded" and model.value is not None:
        known = embedded_models()
        if model.value not in known:
            message = f"no embedded model is called {model.value!r}; known: {', '.join(known)}"
            yield ConfigFinding("error", model.file, model.line, f"{_SEARCH}.model", message)


def _prefixes_that_never_match(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    for path in RULES:
        rules = values[path]
        for number, rule in enumerate(rules.value):
            if str(rule.get("match.keyPrefix", "")).lower().startswith("agent:"):
                key = f"{path}[{number}].match.keyPrefix"
                message = (
                    "never matches: it is compared with the key after its `agent:<id>:`; write "
                    "the rest of it, or use rawKeyPrefix"
                )
                yield ConfigFinding("note", rules.file, rules.line, key, message)


def _rules_never_reached(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    for path in RULES:
        rules = values[path]
        earlier: dict[frozenset[tuple[str, str]], int] = {}
        for number, rule in enumerate(rules.value):
            conditions = frozenset((name, str(rule[name])) for name in rule.keys() - {"action"})
            first = next((at for known, at in earlier.items() if known <= conditions), None)
            earlier.setdefault(conditions, number)
            if first is not None:
                message = f"never reached: rules[{first}] matches the same conversations, or more"
                yield _note(rules, f"{path}[{number}]", message)


def _exports_among_notes(agent: AgentValues) -> Iterator[ConfigFinding]:
    """Exported transcripts are private, but a file in a folder of notes is a note."""
    folder = agent.values["memory.qmd.sessions.exportDir"]
    if folder.value is None or agent.workspace is None:
        return
    root = agent.workspace
    extra = (entry[0] for entry in agent.values[f"{_SEARCH}.extraPaths"].value)
    exports = _normal(root, folder.value)
    if any(exports.is_relative_to(_normal(root, path)) for path in ("memory", *extra)):
        message = (
            "the exported transcripts become notes there, and groups see notes: choose a folder "
            "outside the notes"
        )
        key = "memory.qmd.sessions.exportDir"
        yield ConfigFinding("note", folder.file, folder.line, key, message)


def _normal(root: Path, path: str) -> Path:
    return Path(os.path.normpath(root / Path(path).expanduser()))


def _relative_paths(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    """Paths that start wherever a command happens to run."""
    keys = ("sessions.paths", "sessions.keep.leaveOut", "store.vector.extensionPath")
    for key in (*keys, "local.modelPath", "local.modelCacheDir"):
        value = values[f"{_SEARCH}.{key}"]
        for path in _paths(value):
            is_address = key == "local.modelPath" and path.startswith(("hf:", "https:"))
            if not is_address and not Path(path).expanduser().is_absolute():
                message = f"{path!r} starts in the folder of each command: write an absolute path"
                yield _note(value, f"{_SEARCH}.{key}", message)


def _nothing_to_search(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    """Combinations under which a search finds nothing, or by other means than the key says."""
    default = values[f"{_QMD}.includeDefaultMemory"]
    others = (f"{_QMD}.paths", f"{_QMD}.sessions.enabled", f"{_SEARCH}.extraPaths")
    is_qmd = values["memory.backend"].value == "qmd"
    if is_qmd and not default.value and not any(values[key].value for key in others):
        message = f"QMD has nothing to search: add {_QMD}.paths"
        yield _note(default, f"{_QMD}.includeDefaultMemory", message)
    hybrid = values[f"{_SEARCH}.query.hybrid.enabled"]
    if not hybrid.value and values[f"{_SEARCH}.provider"].value == "none":
        message = "the provider 'none' computes no vectors, so keywords answer"
        yield _note(hybrid, f"{_SEARCH}.query.hybrid.enabled", message)
    slot = values["plugins.slots.memory"]
    if slot.value == "memory-lancedb" and not values[f"{_LANCE}.enabled"].value:
        message = f"the notes answer; entries need {_LANCE}.enabled, too"
        yield _note(slot, "plugins.slots.memory", message)


def shared_workspaces(agents: Sequence[AgentValues]) -> Iterator[ConfigFinding]:
    """Agents with the same folder search, and write, one another's notes."""
    first: dict[str, str] = {}
    for agent in agents:
        value = agent.values["workspace"]
        if not value.file or agent.workspace is None:
            continue
        other = first.setdefault(os.path.realpath(agent.workspace), agent.id)
        if other != agent.id:
            message = f"{other!r} and {agent.id!r} have this folder: they share all notes"
            yield _note(value, "workspace", message)


# -- what is not on this machine -----------------------------------------------------------------


def absent(agent: AgentValues, environment: Mapping[str, str]) -> Iterator[ConfigFinding]:
    """Folders, files, programs and keys that the values need and this machine does not have."""
    yield from _absent_folders(agent)
    yield from _absent_library(agent.values)
    yield from _absent_programs(agent.values, environment)
    yield from _absent_keys(agent)


def _absent_folders(agent: AgentValues) -> Iterator[ConfigFinding]:
    values, root = agent.values, agent.workspace
    named = agent.named_workspace
    if named is not None and not named.is_dir():
        value = values["workspace"]
        message = f"there is no folder {value.value!r}: create it, or correct the path"
        yield _note(value, "workspace", message)
        return
    keys = [f"{_SEARCH}.extraPaths", f"{_SEARCH}.sessions.paths"]
    keys += [f"{_QMD}.paths"] if values["memory.backend"].value == "qmd" else []
    for key in keys:
        for path in _paths(values[key]):
            folder = Path(path).expanduser()
            # A relative path starts in the workspace, which is not always known here.
            if not folder.is_absolute() and (root is None or key.endswith("sessions.paths")):
                continue
            if not (root / folder if root else folder).exists():
                yield _note(values[key], key, f"there is no {path!r}: correct the path")


def _absent_library(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    """sqlite-vec that is not there: the other driver takes its place."""
    from importlib.util import find_spec

    driver, path, enabled = (
        values[f"{_SEARCH}.store.vector.{name}"] for name in ("driver", "extensionPath", "enabled")
    )
    if not enabled.value or driver.value == "segments":
        return
    instead = "'segments' stores the vectors instead"
    if path.value and not _is_library(Path(path.value).expanduser()):
        message = f"there is no file {path.value!r}: {instead}"
        yield _note(path, f"{_SEARCH}.store.vector.extensionPath", message)
    elif driver.value and not path.value and find_spec("sqlite_vec") is None:
        message = f"the package sqlite-vec is not installed: {instead}"
        yield _note(driver, f"{_SEARCH}.store.vector.driver", message)


def _is_library(path: Path) -> bool:
    """SQLite adds the ending of the platform if a name has none."""
    names = (path.with_name(path.name + end) for end in ("", ".so", ".dylib", ".dll"))
    return any(name.is_file() for name in names)


def _absent_programs(
    values: Mapping[str, Value], environment: Mapping[str, str]
) -> Iterator[ConfigFinding]:
    commands = []
    if values["memory.backend"].value == "qmd":
        commands.append((f"{_QMD}.command", values[f"{_QMD}.command"].value))
    slug_key = "hooks.internal.entries.session-memory.slugCommand"
    if values[slug_key].value:
        commands.append((slug_key, values[slug_key].value[0]))
    for key, command in commands:
        if not shutil.which(Path(command).expanduser(), path=environment.get("PATH")):
            value = values[key] if values[key].file else values["memory.backend"]
            yield _note(value, key, f"there is no program {command!r}: install it")


def _absent_keys(agent: AgentValues) -> Iterator[ConfigFinding]:
    """Providers that compute no vectors here, most often for want of a key."""
    from notewell.embedders import PROVIDER_NAMES

    if agent.choice is None:
        return
    lacks = {"provider": agent.choice.lacks, "fallback": agent.choice.fallback_lacks}
    for name, reason in lacks.items():
        value = agent.values[f"{_SEARCH}.{name}"]
        # What an entry of the user's own lacks, `doubtful` has said.
        if reason and value.file and value.value in PROVIDER_NAMES:
            yield _note(value, f"{_SEARCH}.{name}", f"no vectors from it here: {reason}")


def _paths(value: Value) -> Iterable[str]:
    """The path of a setting, or the paths of a list of them."""
    if value.value is None:
        return ()
    return (value.value,) if isinstance(value.value, str) else [entry[0] for entry in value.value]
