"""`notewell config`: what holds and who said so, what is wrong, and what editors need."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import counted, print_json, say, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from notewell.config import AgentConfig, Configuration, Finding, Kind, OpenClaw, Owner
    from notewell.core import Binding

WRONG = 2
_FATAL = ("error", "refused")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("show", "check", "schema", "openclaw"),
        help="what holds · every problem · a JSON Schema · what an OpenClaw would bring",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="with check and openclaw: this")
    parser.add_argument(
        "--as",
        dest="owner",
        choices=("user", "workspace", "openclaw"),
        help="whose file FILE is (default: by its name)",
    )
    parser.add_argument("--origin", action="store_true", help="say who said each value")
    parser.add_argument("-w", "--workspace", default=".", metavar="DIR", help="(default: here)")
    parser.add_argument("--agent", metavar="ID", help="only this agent")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "schema":
        return _schema()
    if arguments.action == "openclaw":
        return _openclaw(arguments)
    if arguments.action == "check":
        return _check(arguments)
    return _show(arguments)


def _schema() -> int:
    import json

    from notewell.config import json_schema

    say(json.dumps(json_schema(), indent=2, ensure_ascii=False))
    return 0


# -- check ---------------------------------------------------------------------------------------


def _check(arguments: argparse.Namespace) -> int:
    findings = _findings(arguments)
    wrong = [finding for finding in findings if finding.kind in _FATAL]
    if arguments.json:
        print_json({"ok": not wrong, "findings": [_finding_json(one) for one in findings]})
        return WRONG if wrong else 0
    for finding in findings:
        say(f"{finding.kind}: {finding}")
    if not findings:
        say("nothing to complain about")
    elif wrong:
        tell(counted(len(wrong), "problem"))
    return WRONG if wrong else 0


def _findings(arguments: argparse.Namespace) -> tuple[Finding, ...]:
    from notewell.config import Asked, check_file, read_configuration

    if arguments.file is None:
        workspace = Path(arguments.workspace)
        return read_configuration(Asked(workspace, arguments.agent), os.environ).findings
    path = Path(arguments.file)
    owner: Owner = arguments.owner or _owner(path)
    if owner == "openclaw":
        from notewell.config import from_openclaw

        return from_openclaw(path).findings
    return check_file(path, owner, os.environ)


def _owner(path: Path) -> Owner:
    if path.stem == "notewell":
        return "workspace"
    return "openclaw" if path.stem in ("openclaw", "clawdbot", "moltbot") else "user"


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {**finding._asdict(), "line": finding.line or None}


# -- show ----------------------------------------------------------------------------------------


def _show(arguments: argparse.Namespace) -> int:
    from notewell.config import load_configuration

    configuration = load_configuration(Path(arguments.workspace), arguments.agent)
    if arguments.json:
        print_json(as_json(configuration))
        return 0
    for agent in configuration.agents.values():
        _show_agent(agent, origin=arguments.origin)
    _show_routes(configuration, origin=arguments.origin)
    for finding in configuration.findings:
        tell(f"{finding.kind}: {finding}")
    return 0


def _show_agent(agent: AgentConfig, *, origin: bool) -> None:
    off = f"  (off: {agent.off_because})" if agent.off_because else ""
    say(f"agent {agent.id}{off}")
    _show_rows(
        ((f"  {key}", masked(value), agent.origins[key]) for key, value in agent.values.items()),
        origin=origin,
    )


def _show_routes(configuration: Configuration, *, origin: bool) -> None:
    rows: list[tuple[str, Any, str]] = []
    for name, provider in configuration.providers.items():
        for field, value in provider._asdict().items():
            if value is not None:
                rows.append((f"models.providers.{name}.{field}", masked(value), ""))
    for binding, (key, place) in zip(
        configuration.bindings,
        [pair for pair in configuration.origins.items() if pair[0].startswith("bindings")],
        strict=True,
    ):
        rows.append((key, _binding_json(binding), place))
    _show_rows(rows, origin=origin)


def masked(value: Any) -> Any:
    """A value that may be shown. Imported late: every command's parser looks into this file."""
    from notewell.config import masked as shown

    return shown(value)


def _show_rows(rows: Iterable[tuple[str, Any, str]], *, origin: bool) -> None:
    import json

    for key, value, place in rows:
        text = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        say(f"{text:<60} # {place}" if origin and place else text)


def _binding_json(binding: Binding) -> dict[str, Any]:
    told = {name: part for name, part in binding._asdict().items() if part is not None}
    return {**told, "peer": binding.peer._asdict()} if binding.peer else told


def as_json(configuration: Configuration) -> dict[str, Any]:
    return {
        "files": list(configuration.files),
        "defaultAgent": configuration.default_agent,
        "agents": [
            {
                "id": agent.id,
                "enabled": agent.enabled,
                "offBecause": agent.off_because,
                "settings": {key: masked(value) for key, value in agent.values.items()},
                "origins": dict(agent.origins),
            }
            for agent in configuration.agents.values()
        ],
        "bindings": [_binding_json(binding) for binding in configuration.bindings],
        "providers": {
            name: {field: masked(value) for field, value in provider._asdict().items()}
            for name, provider in configuration.providers.items()
        },
        "origins": dict(configuration.origins),
        "findings": [_finding_json(finding) for finding in configuration.findings],
    }


# -- openclaw ------------------------------------------------------------------------------------


def _openclaw(arguments: argparse.Namespace) -> int:
    from notewell.config import from_openclaw

    found = from_openclaw(Path(arguments.file) if arguments.file else None)
    if arguments.json:
        print_json(_openclaw_json(found))
        return 0
    say(f"OpenClaw in {found.state_dir}, configured by {found.config_file or 'no file'}")
    for id_, agent in found.agents.items():
        say(f"agent {id_}: notes in {agent.settings.workspace}, sessions in {agent.transcripts}")
    kinds: Sequence[Kind] = ("taken", "left", "note", "error")
    for kind in kinds:
        for finding in found.findings:
            if finding.kind == kind:
                say(f"{kind}: {finding}")
    return 0


def _openclaw_json(found: OpenClaw) -> dict[str, Any]:
    return {
        "configFile": str(found.config_file) if found.config_file else None,
        "stateDir": str(found.state_dir),
        "agents": [
            {
                "id": id_,
                "workspace": str(agent.settings.workspace),
                "transcripts": str(agent.transcripts),
            }
            for id_, agent in found.agents.items()
        ],
        "findings": [_finding_json(finding) for finding in found.findings],
    }
