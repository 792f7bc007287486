"""Agents, and the values of each of them, collected from the settings of the layers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from notewell.config.document import ConfigFinding
from notewell.config.registry import agent_keys, global_keys
from notewell.config.validate import dotted
from notewell.core import normal_agent_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from notewell.config.document import FindingKind
    from notewell.config.validate import Layer, Setting

DEFAULT = "default"
_PROVIDER = "memorySearch.provider"
_FOR_ONE_PROVIDER = tuple(
    f"memorySearch.{key}"
    for key in (
        *("remote.baseUrl", "remote.apiKey", "remote.headers", "model", "outputDimensionality"),
        *("inputType", "queryInputType", "documentInputType"),
    )
)
MAX_AGENTS = 256
"""Each agent is resolved by itself, which takes time; no hand-written file has so many."""
_CONCATENATED = "memorySearch.extraPaths"
"""A list of paths adds to the weaker layer's instead of replacing it."""
AUTH_ORDER = "auth.order"
RULES = ("memory.scope.rules", "memory.qmd.scope.rules")
"""Lists of rules; their values are collected from the settings inside them."""


class Value(NamedTuple):
    """The strongest value of a key, and where it is set."""

    value: Any
    file: str = ""
    line: int = 0
    added_to: tuple[str, ...] = ()
    """For a list that adds to those of weaker layers: where these are set."""
    follows: bool = False
    """Whether no file has it: it follows from the value of another key, which has the line."""

    @property
    def origin(self) -> str:
        if not self.file:
            return DEFAULT
        return ", ".join((*self.added_to, f"{self.file}:{self.line}"))


class AgentEntry(NamedTuple):
    """An entry of `agents.list`."""

    id: str
    default: bool
    line: int


# Cached: each of up to 256 agents starts from a copy of the same values.
@cache
def _built_in() -> dict[str, Value]:
    keys = {**agent_keys(), **global_keys()}
    values = {path: Value(key.default) for path, key in keys.items()}
    return values | dict.fromkeys(RULES, Value(())) | {AUTH_ORDER: Value({})}


def agent_entries(layers: Iterable[Layer]) -> tuple[dict[str, AgentEntry], list[ConfigFinding]]:
    """The entries of `agents.list` by id, and what is wrong with them."""
    entries: dict[str, AgentEntry] = {}
    findings: list[ConfigFinding] = []
    for layer in layers:
        layer_entries, problems = _layer_entries(layer)
        findings += problems
        entries.update((entry.id, entry) for entry in layer_entries.values())
        # Per file, not over all: a workspace's file may mark another default than the user's.
        marked = [entry for entry in layer_entries.values() if entry.default]
        for entry in marked[1:]:
            message = f"{entry.id!r} and {marked[0].id!r} are both the default: only one can be"
            findings.append(problem_of(layer, entry.line, "agents.list", message))
    return entries, findings


def problem_of(layer: Layer, line: int, key: str, message: str) -> ConfigFinding:
    """An error in a file of ours; in OpenClaw's file, something that is left."""
    kind: FindingKind = "left" if layer.owner == "openclaw" else "error"
    return ConfigFinding(kind, layer.file, line, key, message)


def _layer_entries(layer: Layer) -> tuple[dict[int, AgentEntry], list[ConfigFinding]]:
    """The entries of a file by their number; one without a usable id is left out."""
    by_number: dict[int, dict[Any, Setting]] = {}
    for setting in layer.settings:
        if setting.path[:2] == ("agents", "list") and isinstance(setting.path[2], int):
            by_number.setdefault(setting.path[2], {})[setting.path[3]] = setting
    entries: dict[str, tuple[int, AgentEntry]] = {}
    findings = []
    for number, settings in by_number.items():
        entry, message = _entry(settings, entries)
        if entry:
            entries[entry.id] = (number, entry)
        else:
            # An entry without an id has no line of its own; point to the first key in it.
            line = settings.get("id", next(iter(settings.values()))).line
            findings.append(problem_of(layer, line, f"agents.list[{number}].id", message))
    return dict(entries.values()), findings


def _entry(
    settings: Mapping[Any, Setting], earlier: Mapping[str, tuple[int, AgentEntry]]
) -> tuple[AgentEntry | None, str]:
    """The entry, or None and the reason why it cannot be used."""
    id_setting = settings.get("id")
    if id_setting is None:
        return None, "an agent needs an id"
    # Ids become names of files and folders, so they are lower case and have few characters.
    id_ = normal_agent_id(id_setting.value)
    if id_ is None:
        return None, f"{id_setting.value!r} is not a valid agent id"
    if id_ in earlier:
        return None, f"the entry in line {earlier[id_][1].line} has the id {id_!r} already"
    if len(earlier) >= MAX_AGENTS:
        return None, f"more than {MAX_AGENTS} agents"
    is_default = "default" in settings and settings["default"].value
    return AgentEntry(id_, is_default, id_setting.line), ""


# -- the values of one agent ---------------------------------------------------------------------


def agent_values(
    id_: str, layers: Sequence[Layer], numbers: EntryNumbers, *, is_default: bool
) -> tuple[dict[str, Value], list[ConfigFinding]]:
    """The defaults of all layers first, then the agent's own entries: the later value wins."""
    values = dict(_built_in())
    for layer in layers:
        for setting in layer.settings:
            if setting.path[0] != "agents":
                _take_global(values, setting, layer)
            elif setting.path[1] == "defaults":
                path = dotted(setting.path[2:])
                # A default workspace is for the default agent only: two agents that share a
                # folder would write into each other's notes.
                if path != "workspace" or is_default:
                    _take(values, path, setting, layer)
    # Only now the entries: an agent's own value in the weak layer wins over a default in a strong
    # one.
    own = list(_own_settings(id_, layers, numbers))
    findings = _without_foreign_remote(values, own)
    for path, setting, layer in own:
        _take(values, path, setting, layer)
    return values, [*findings, *_reconciled(values)]


class EntryNumbers:
    """The place of an agent's entry in each file. A file is looked at once, not for each agent:
    with a great many entries that took seconds."""

    def __init__(self) -> None:
        self._by_file: dict[tuple[str, str], dict[str, int]] = {}

    def of(self, id_: str, layer: Layer) -> int | None:
        file = (layer.owner, layer.file)
        if file not in self._by_file:
            entries, _ = _layer_entries(layer)
            self._by_file[file] = {entry.id: number for number, entry in entries.items()}
        return self._by_file[file].get(id_)


class _OwnSetting(NamedTuple):
    path: str
    setting: Setting
    layer: Layer


def _own_settings(
    id_: str, layers: Sequence[Layer], numbers: EntryNumbers
) -> Iterator[_OwnSetting]:
    """The settings in the agent's own entries of `agents.list`."""
    for layer in layers:
        number = numbers.of(id_, layer)
        if number is None:
            continue
        entry = ("agents", "list", number)
        for setting in layer.settings:
            if setting.path[:3] == entry:
                yield _OwnSetting(dotted(setting.path[3:]), setting, layer)


def _without_foreign_remote(
    values: dict[str, Value], own: Sequence[_OwnSetting]
) -> list[ConfigFinding]:
    """A key, an address and a model of the defaults belong to the provider of the defaults: an
    agent with another provider does not inherit them."""
    chosen = [setting for setting in own if setting.path == _PROVIDER]
    if not chosen:
        return []
    default, provider = values[_PROVIDER].value, chosen[-1].setting.value
    if _owner(default) == _owner(provider):
        return []
    dropped = [path for path in _FOR_ONE_PROVIDER if values[path].file]
    findings = []
    for path in dropped:
        message = (
            f"written for {default!r}; an agent with the provider {provider!r} does not use it"
        )
        value = values[path]
        findings.append(ConfigFinding("note", value.file, value.line, path, message))
        values[path] = _built_in()[path]
    return findings


def _owner(provider: str) -> str:
    """The provider that `remote` is for; with `auto` it is OpenAI's."""
    from notewell.embedders import own_name

    name = own_name(provider)
    return "openai" if name == "auto" else name


def _take_global(values: dict[str, Value], setting: Setting, layer: Layer) -> None:
    path = dotted(setting.path)
    if path.startswith(RULES):
        _take_rule(values, setting, layer)
    elif path.startswith(f"{AUTH_ORDER}."):
        order = {**values[AUTH_ORDER].value, str(setting.path[2]): setting.value}
        values[AUTH_ORDER] = Value(order, layer.file, setting.line)
    # Bindings and `models.providers` are not values of an agent: `bindings.py` and
    # `provider_entries.py` collect them.
    elif path in values:
        values[path] = Value(setting.value, layer.file, setting.line)


def _take_rule(values: dict[str, Value], setting: Setting, layer: Layer) -> None:
    """Rules arrive field by field, and are collected by their number."""
    depth = setting.path.index("rules") + 1
    path = dotted(setting.path[:depth])
    # A stronger file replaces the whole list: rules of two files in one list would have no clear
    # order.
    is_first = values[path].file != layer.file
    rules = {} if is_first else dict(values[path].value)
    number, *rest = setting.path[depth:]
    rules[number] = {**rules.get(number, {}), dotted(tuple(rest)): setting.value}
    values[path] = Value(rules, layer.file, setting.line if is_first else values[path].line)


def _take(values: dict[str, Value], path: str, setting: Setting, layer: Layer) -> None:
    # `id`, `default` and OpenClaw's other keys of a profile have no value of their own.
    if path not in values:
        return
    value, weaker = setting.value, values[path]
    added_to: tuple[str, ...] = ()
    # An empty list is not added but replaces: it is the way to clear the defaults.
    if path == _CONCATENATED and value:
        value = tuple(dict.fromkeys((*weaker.value, *value)))
        added_to = (weaker.origin,) if weaker.value else ()
    values[path] = Value(value, layer.file, setting.line, added_to)


def _reconciled(values: dict[str, Value]) -> list[ConfigFinding]:
    """Makes keys agree that depend on one another, and reports what it changed."""
    # `_take_global` collected the rules by number; from here on they are a list.
    for path in RULES:
        rules = values[path].value
        if isinstance(rules, dict):
            values[path] = values[path]._replace(value=tuple(rules.values()))
    return [
        *_rules_without_action(values),
        *_without_disabled_sessions(values),
        *_overlap_below_chunk(values),
        *_weights_to_shares(values),
    ]


def _rules_without_action(values: Mapping[str, Value]) -> Iterator[ConfigFinding]:
    for path in RULES:
        rules = values[path]
        for number, rule in enumerate(rules.value):
            if "action" not in rule:
                key, message = f"{path}[{number}]", "the rule has no `action`, so it denies"
                yield ConfigFinding("note", rules.file, rules.line, key, message)


def _without_disabled_sessions(values: dict[str, Value]) -> Iterator[ConfigFinding]:
    # Two switches, as in OpenClaw: `sources` may come from a workspace's file, the experimental
    # switch only from the user.
    sources = values["memorySearch.sources"]
    if "sessions" in sources.value and not values["memorySearch.experimental.sessionMemory"].value:
        others = tuple(source for source in sources.value if source != "sessions") or ("memory",)
        values["memorySearch.sources"] = sources._replace(value=others)
        message = "sessions are left out unless experimental.sessionMemory is true as well"
        yield ConfigFinding("note", sources.file, sources.line, "memorySearch.sources", message)


def _overlap_below_chunk(values: dict[str, Value]) -> Iterator[ConfigFinding]:
    tokens, overlap = (
        values["memorySearch.chunking.tokens"],
        values["memorySearch.chunking.overlap"],
    )
    if overlap.value >= tokens.value:
        key = "memorySearch.chunking.overlap"
        values[key] = overlap._replace(value=tokens.value - 1)
        message = f"{overlap.value} is taken as {tokens.value - 1}: less than a chunk"
        # If only `tokens` is set, the built-in overlap has no line: point to `tokens`.
        yield ConfigFinding(
            "note", overlap.file or tokens.file, overlap.line or tokens.line, key, message
        )


def _weights_to_shares(values: dict[str, Value]) -> Iterator[ConfigFinding]:
    """Scales the two weights to a sum of 1; if only one is set, the other is the rest."""
    above = "memorySearch.query.hybrid"
    vector, text = values[f"{above}.vectorWeight"], values[f"{above}.textWeight"]
    if vector.value is None and text.value is None:
        return
    shares = (
        max(0.0, 1.0 - text.value) if vector.value is None else vector.value,
        max(0.0, 1.0 - vector.value) if text.value is None else text.value,
    )
    total = sum(shares)
    set_by = vector if vector.value is not None else text
    if total <= 0:
        message = "vectorWeight and textWeight cannot both be 0"
        yield ConfigFinding("error", set_by.file, set_by.line, above, message)
        # `config check` goes on after an error, so the values must still be usable.
        shares, total = (0.5, 0.5), 1.0
    for name, weight, share in (
        ("vectorWeight", vector, shares[0]),
        ("textWeight", text, shares[1]),
    ):
        # The weight that nobody set follows from the other one, and so does its origin.
        origin = weight if weight.file else set_by._replace(follows=True)
        values[f"{above}.{name}"] = origin._replace(value=share / total)
