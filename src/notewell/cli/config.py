"""`notewell config`: the values in force and who set them, problems, and a schema for editors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notewell.cli.output import print_json, say, tell
from notewell.types import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from notewell.config import (
        AgentConfig,
        ConfigFinding,
        Configuration,
        FindingKind,
        OpenClaw,
        Owner,
    )
    from notewell.core import Binding

EXIT_PROBLEMS = 2
NOTHING_FOUND = 3
_FATAL = ("error", "refused")
"""Kinds of findings that make `check` fail; notes do not."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("show", "check", "schema", "openclaw"),
        help="values in force · problems · a JSON Schema · what an OpenClaw would set",
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="with check and openclaw: the file to read"
    )
    parser.add_argument(
        "--as",
        dest="owner",
        choices=("user", "workspace", "openclaw"),
        help="the owner of FILE (default: by its name)",
    )
    parser.add_argument(
        "--origin", action="store_true", help="show the file and line of each value"
    )
    parser.add_argument(
        "-w",
        "--workspace",
        default=".",
        metavar="DIR",
        type=os.path.expanduser,
        help="(default: here)",
    )
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
    problems = [finding for finding in findings if finding.kind in _FATAL]
    if arguments.json:
        print_json(
            {"ok": not problems, "findings": [_finding_json(finding) for finding in findings]}
        )
        return EXIT_PROBLEMS if problems else 0
    for finding in findings:
        say(f"{finding.kind}: {finding}")
    if not findings:
        say("no problems found")
    elif problems:
        tell(counted(len(problems), "problem"))
    return EXIT_PROBLEMS if problems else 0


def _findings(arguments: argparse.Namespace) -> tuple[ConfigFinding, ...]:
    from notewell.config import ConfigScope, check_file, read_configuration

    # Without a file: everything that a memory in this folder would read.
    if arguments.file is None:
        workspace = Path(arguments.workspace)
        scope = ConfigScope(workspace, arguments.agent)
        return read_configuration(scope, os.environ, on_this_machine=True).findings
    path = Path(arguments.file)
    owner: Owner = arguments.owner or _owner(path)
    if owner == "openclaw":
        from notewell.config import from_openclaw

        return from_openclaw(path).findings
    return check_file(path, owner, os.environ)


def _owner(path: Path) -> Owner:
    """Whose file this is, by its name."""
    if path.stem == "notewell":
        return "workspace"
    return "openclaw" if path.stem in ("openclaw", "clawdbot", "moltbot") else "user"


def _finding_json(finding: ConfigFinding) -> dict[str, Any]:
    # Line 0 stands for the whole file; in JSON that is null.
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
    # To stderr, so that the values can be piped.
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
    for name, entry in _providers_json(configuration).items():
        for key, value in entry.items():
            path = f"models.providers.{name}.{key}"
            # Only what a file sets has an origin; the rest of an entry is empty.
            if path in configuration.origins:
                rows.append((path, value, configuration.origins[path]))
    # `bindings` and their origins are made in one loop, so they have the same order.
    for binding, (key, place) in zip(
        configuration.bindings,
        [pair for pair in configuration.origins.items() if pair[0].startswith("bindings")],
        strict=True,
    ):
        rows.append((key, _binding_json(binding), place))
    _show_rows(rows, origin=origin)


def masked(value: Any) -> Any:
    """A copy without secrets. Imported late: the parser of every command loads this module."""
    from notewell.config import masked as shown

    return shown(value)


def _show_rows(rows: Iterable[tuple[str, Any, str]], *, origin: bool) -> None:
    import json

    for key, value, place in rows:
        text = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        # Aligned for people; a long value only moves its own comment.
        say(f"{text:<60} # {place}" if origin and place else text)


def _providers_json(configuration: Configuration) -> dict[str, dict[str, Any]]:
    """The entries of `models.providers`, with their keys as files spell them."""
    from notewell.config import PROVIDER_FIELDS

    return {
        name: {key: masked(getattr(entry, field)) for key, field in PROVIDER_FIELDS.items()}
        for name, entry in configuration.providers.items()
    }


def _binding_json(binding: Binding) -> dict[str, Any]:
    parts = {name: part for name, part in binding._asdict().items() if part is not None}
    return {**parts, "peer": binding.peer._asdict()} if binding.peer else parts


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
        "providers": _providers_json(configuration),
        "origins": dict(configuration.origins),
        "findings": [_finding_json(finding) for finding in configuration.findings],
    }


# -- openclaw ------------------------------------------------------------------------------------


def _openclaw(arguments: argparse.Namespace) -> int:
    from notewell.config import from_openclaw

    openclaw = from_openclaw(Path(arguments.file) if arguments.file else None)
    code = _openclaw_code(openclaw)
    if arguments.json:
        print_json(_openclaw_json(openclaw))
        return code
    if code == NOTHING_FOUND:
        tell(
            f"no OpenClaw was found: there is no folder {str(openclaw.state_dir)!r}; if it is "
            f"elsewhere, name its file: `notewell config openclaw FILE`"
        )
        return code
    say(f"OpenClaw in {openclaw.state_dir}, configured by {openclaw.config_file or 'no file'}")
    for id_, agent in openclaw.agents.items():
        sessions = " and ".join(str(folder) for folder, _ in agent.session_folders())
        say(f"agent {id_}: notes in {agent.config.workspace}, sessions in {sessions}")
    # Grouped by kind, because OpenClaw's files have hundreds of keys.
    kinds: Sequence[FindingKind] = ("taken", "left", "note", "error")
    for kind in kinds:
        for finding in openclaw.findings:
            if finding.kind == kind:
                say(f"{kind}: {finding}")
    return code


def _openclaw_code(openclaw: OpenClaw) -> int:
    if openclaw.config_file is None and not openclaw.state_dir.is_dir():
        return NOTHING_FOUND
    return EXIT_PROBLEMS if any(one.kind == "error" for one in openclaw.findings) else 0


def _openclaw_json(openclaw: OpenClaw) -> dict[str, Any]:
    return {
        "configFile": str(openclaw.config_file) if openclaw.config_file else None,
        "stateDir": str(openclaw.state_dir),
        "agents": [
            {
                "id": id_,
                "workspace": str(agent.config.workspace),
                "transcripts": [str(folder) for folder, _ in agent.session_folders()],
            }
            for id_, agent in openclaw.agents.items()
        ],
        "findings": [_finding_json(finding) for finding in openclaw.findings],
    }
