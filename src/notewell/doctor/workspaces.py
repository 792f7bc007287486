"""What the settings say, and indexes whose workspace is gone or unknown.

An index does not say of which folder it was made: the folder's name is a digest of it. So the
workspaces that are known, those of the settings and the one that is looked at, are looked up.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.doctor.finding import Finding, size_told
from notewell.doctor.state_files import index_folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from notewell.doctor.subject import Patient


def settings(patient: Patient) -> Iterator[Finding]:
    from notewell.config import ConfigScope, read_configuration

    asked = ConfigScope(patient.workspace, patient.agent.lower())
    configuration = read_configuration(asked, patient.environment)
    told = ", ".join(configuration.files) or "none set: the defaults hold"
    yield Finding("settings", told)
    for finding in configuration.findings:
        bad = finding.kind in ("error", "refused")
        todo = "mend it; `notewell config check` lists all" if bad else None
        yield Finding("settings", str(finding), todo)


def other_indexes(patient: Patient) -> Iterator[Finding]:
    """Those of workspaces that are gone; and how many nobody can say anything about."""
    from notewell.index.sqlite import IndexFolder

    known = dict(_known(patient))
    for folder, workspace in known.items():
        if os.path.isdir(folder) and not os.path.isdir(workspace):  # noqa: PTH112
            size = size_told(IndexFolder(folder).size())
            told = f"the workspace {workspace} is gone, its index ({size}) is still there"
            yield Finding("orphans", told, f"if it does not come back: `rm -r {folder}`")
    others = [one for one in index_folders(patient.state, patient.index) if one not in known]
    if others:
        size = size_told(sum(IndexFolder(folder).size() for folder in others))
        number = f"{len(others)} index{'es' if others[1:] else ''}"
        told = (
            f"{number} ({size}) of workspaces that the settings do not name, below {patient.state}"
        )
        yield Finding("indexes", told)


def _known(patient: Patient) -> Iterator[tuple[Path, Path]]:
    """Index folders with the workspaces they are of."""
    from notewell.config import ConfigScope, read_configuration
    from notewell.memory import index_dir

    for agent, told in read_configuration(ConfigScope(), patient.environment).agents.items():
        if told.workspace is not None:
            root = Path(os.path.realpath(told.workspace))
            yield index_dir(patient.state, agent, root), root
    yield patient.index, patient.workspace
