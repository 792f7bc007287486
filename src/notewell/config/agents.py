"""Agents, bindings and providers, gathered from the settings of the layers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.positions import Finding
from notewell.config.registry import agent_keys, global_keys
from notewell.config.validate import dotted
from notewell.core import Binding, Peer, chat_type_of, normal_agent_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.config.validate import Setting, Walked
    from notewell.core import Secret

DEFAULT = "default"
MAX_AGENTS = 256
"""Each is resolved for itself; a file with more was not written by hand."""
_CONCATENATED = "memorySearch.extraPaths"
_RULES = "memory.qmd.scope.rules"


class Value(NamedTuple):
    """The strongest word for a key, and where it stands."""

    value: Any
    file: str = ""
    line: int = 0

    @property
    def origin(self) -> str:
        return f"{self.file}:{self.line}" if self.file else DEFAULT


class ProviderEntry(NamedTuple):
    """An entry of `models.providers`."""

    base_url: str | None = None
    api_key: Secret | None = None
    headers: Mapping[str, Secret] | None = None
    api: str | None = None


class Entry(NamedTuple):
    """An entry of `agents.list`."""

    id: str
    default: bool
    line: int


@cache
def _built_in() -> dict[str, Value]:
    keys = {**agent_keys(), **global_keys()}
    return {path: Value(key.default) for path, key in keys.items()} | {_RULES: Value(())}


def agent_entries(layers: Iterable[Walked]) -> tuple[dict[str, Entry], list[Finding]]:
    """The agents that are named, by id, and what is wrong with their names."""
    entries: dict[str, Entry] = {}
    findings: list[Finding] = []
    for layer in layers:
        found, problems = _layer_entries(layer)
        findings += problems
        entries.update((entry.id, entry) for entry in found.values())
        marked = [entry for entry in found.values() if entry.default]
        for entry in marked[1:]:
            message = f"{entry.id!r} and {marked[0].id!r} are both the default: only one can be"
            findings.append(_problem(layer, entry.line, "agents.list", message))
    return entries, findings


def _problem(layer: Walked, line: int, key: str, message: str) -> Finding:
    """An error, but in OpenClaw's file only something that is left."""
    return Finding(
        "left" if layer.owner == "openclaw" else "error", layer.file, line, key, message
    )


def _layer_entries(layer: Walked) -> tuple[dict[int, Entry], list[Finding]]:
    """The entries of a file by their number; one without a usable id is left out."""
    told: dict[int, dict[Any, Setting]] = {}
    for setting in layer.settings:
        if setting.path[:2] == ("agents", "list") and isinstance(setting.path[2], int):
            told.setdefault(setting.path[2], {})[setting.path[3]] = setting
    entries: dict[str, tuple[int, Entry]] = {}
    findings = []
    for number, settings in told.items():
        entry, message = _entry(settings, entries)
        if entry:
            entries[entry.id] = (number, entry)
        else:
            line = settings.get("id", next(iter(settings.values()))).line
            findings.append(_problem(layer, line, f"agents.list[{number}].id", message))
    return dict(entries.values()), findings


def _entry(
    settings: Mapping[Any, Setting], known: Mapping[str, tuple[int, Entry]]
) -> tuple[Entry | None, str]:
    told = settings.get("id")
    if told is None:
        return None, "an agent needs an id"
    id_ = normal_agent_id(told.value)
    if id_ is None:
        return None, f"{told.value!r} is no id of an agent"
    if id_ in known:
        return None, f"the id {id_!r} is taken by the entry in line {known[id_][1].line}"
    if len(known) >= MAX_AGENTS:
        return None, f"more than {MAX_AGENTS} agents"
    return Entry(id_, "default" in settings and settings["default"].value, told.line), ""


# -- the values of one agent ---------------------------------------------------------------------


def agent_values(
    id_: str, layers: Sequence[Walked], *, is_default: bool
) -> tuple[dict[str, Value], list[Finding]]:
    """Defaults of all layers first, then the agent's own entries: the later word is stronger."""
    values = dict(_built_in())
    for layer in layers:
        for setting in layer.settings:
            if setting.path[0] != "agents":
                _take_global(values, setting, layer)
            elif setting.path[1] == "defaults":
                path = dotted(setting.path[2:])
                if path != "workspace" or is_default:  # Agents do not share a folder unasked.
                    _take(values, path, setting, layer)
    for layer in layers:
        numbers = {at for at, entry in _layer_entries(layer)[0].items() if entry.id == id_}
        for setting in layer.settings:
            if setting.path[:2] == ("agents", "list") and setting.path[2] in numbers:
                _take(values, dotted(setting.path[3:]), setting, layer)
    return values, _reconciled(values)


def _take_global(values: dict[str, Value], setting: Setting, layer: Walked) -> None:
    path = dotted(setting.path)
    if path.startswith(_RULES):
        rules = {} if values[_RULES].file != layer.file else dict(values[_RULES].value)
        number, *rest = setting.path[4:]
        rules[number] = {**rules.get(number, {}), dotted(tuple(rest)): setting.value}
        values[_RULES] = Value(rules, layer.file, setting.line)
    elif path in values:
        values[path] = Value(setting.value, layer.file, setting.line)


def _take(values: dict[str, Value], path: str, setting: Setting, layer: Walked) -> None:
    if path not in values:  # `id`, `default` and the parts of a profile that we do not use.
        return
    value = setting.value
    if path == _CONCATENATED and value:
        value = tuple(dict.fromkeys((*values[path].value, *value)))
    values[path] = Value(value, layer.file, setting.line)


def _reconciled(values: dict[str, Value]) -> list[Finding]:
    """Keys that have to agree with one another."""
    rules = values[_RULES].value
    if isinstance(rules, dict):
        values[_RULES] = values[_RULES]._replace(value=tuple(rules.values()))
    return [
        *_without_unasked_sessions(values),
        *_overlap_below_chunk(values),
        *_weights_to_shares(values),
    ]


def _without_unasked_sessions(values: dict[str, Value]) -> Iterator[Finding]:
    told = values["memorySearch.sources"]
    if "sessions" in told.value and not values["memorySearch.experimental.sessionMemory"].value:
        kept = tuple(source for source in told.value if source != "sessions") or ("memory",)
        values["memorySearch.sources"] = told._replace(value=kept)
        message = "sessions are left out unless experimental.sessionMemory is true as well"
        yield Finding("note", told.file, told.line, "memorySearch.sources", message)


def _overlap_below_chunk(values: dict[str, Value]) -> Iterator[Finding]:
    tokens, overlap = (
        values["memorySearch.chunking.tokens"],
        values["memorySearch.chunking.overlap"],
    )
    if overlap.value >= tokens.value:
        key = "memorySearch.chunking.overlap"
        values[key] = overlap._replace(value=tokens.value - 1)
        message = f"{overlap.value} is taken as {tokens.value - 1}: less than a chunk"
        yield Finding(
            "note", overlap.file or tokens.file, overlap.line or tokens.line, key, message
        )


def _weights_to_shares(values: dict[str, Value]) -> Iterator[Finding]:
    """The two weights are shares of 1: one of them is enough to know both."""
    above = "memorySearch.query.hybrid"
    vector, text = values[f"{above}.vectorWeight"], values[f"{above}.textWeight"]
    if vector.value is None and text.value is None:
        return
    shares = (
        1.0 - text.value if vector.value is None else vector.value,
        1.0 - vector.value if text.value is None else text.value,
    )
    total = sum(shares)
    said = vector if vector.value is not None else text
    if total <= 0:
        message = "vectorWeight and textWeight cannot both be 0"
        yield Finding("error", said.file, said.line, above, message)
        shares, total = (0.5, 0.5), 1.0
    for name, told, share in (
        ("vectorWeight", vector, shares[0]),
        ("textWeight", text, shares[1]),
    ):
        place = told if told.file else said
        values[f"{above}.{name}"] = place._replace(value=share / total)


# -- bindings and providers ----------------------------------------------------------------------


def bindings_of(
    layers: Iterable[Walked], entries: Mapping[str, Entry]
) -> tuple[tuple[Binding, ...], dict[str, str], list[Finding]]:
    """The rules that route messages, in the order of the file."""
    bindings, origins, findings = [], {}, []
    for layer in layers:
        for number, told in _bindings_told(layer).items():
            line = next(iter(told.values())).line
            binding, problem = _binding({key: told[key].value for key in told}, entries)
            key = f"bindings[{number}]"
            # Without a part of what it asks for, a binding would take messages of others.
            if any(one.key.startswith(f"{key}.match") for one in _not_taken(layer)):
                problem = problem or "not used: a part of what it asks for is not understood"
            if problem:
                findings.append(_problem(layer, line, key, problem))
            else:
                bindings.append(binding)
                origins[key] = f"{layer.file}:{line}"
    return tuple(bindings), origins, findings


def _not_taken(layer: Walked) -> list[Finding]:
    return [one for one in layer.findings if one.kind in ("error", "left")]


def _bindings_told(layer: Walked) -> dict[Any, dict[str, Setting]]:
    told: dict[Any, dict[str, Setting]] = {}
    for setting in layer.settings:
        if setting.path[0] == "bindings":
            told.setdefault(setting.path[1], {})[dotted(setting.path[2:])] = setting
    return told


def _binding(told: Mapping[str, Any], entries: Mapping[str, Entry]) -> tuple[Binding, str]:
    agent = normal_agent_id(told.get("agentId", "")) or ""
    if not agent:
        return Binding(""), "a binding needs an agentId"
    if entries and agent not in entries:
        return Binding(""), f"there is no agent {agent!r}: agents are {', '.join(entries)}"
    kind, id_ = chat_type_of(told.get("match.peer.kind")), told.get("match.peer.id")
    if (kind is None) != (id_ is None):
        return Binding(""), "a peer has a kind (direct, group or channel) and an id"
    peer = Peer(kind, id_) if kind and id_ else None
    places = (told.get(f"match.{name}") for name in ("guildId", "teamId"))
    channel, account = told.get("match.channel"), told.get("match.accountId")
    return Binding(agent, channel, account, peer, *places), ""


def providers_of(layers: Iterable[Walked]) -> tuple[dict[str, ProviderEntry], dict[str, str]]:
    """`models.providers`, and who said each of its values."""
    fields = {"baseUrl": "base_url", "apiKey": "api_key", "headers": "headers", "api": "api"}
    providers: dict[str, ProviderEntry] = {}
    origins = {}
    for layer in layers:
        for setting in layer.settings:
            if setting.path[:2] == ("models", "providers"):
                name, field = str(setting.path[2]), fields.get(str(setting.path[3]))
                known = providers.setdefault(name, ProviderEntry())
                if field:
                    providers[name] = known._replace(**{field: setting.value})
                    origins[dotted(setting.path)] = f"{layer.file}:{setting.line}"
    return providers, origins
