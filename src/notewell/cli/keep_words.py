"""What the installer says about kept conversations: what, where, who sees it, how to decline.

It is said before a person is asked, and after hooks are installed without a question.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.cli.place import location_of
from notewell.config import default_state_dir, load_settings
from notewell.embedders import choose_embedder, profile_files
from notewell.hosts import Machine
from notewell.sessions import kept_dir, transcripts_at
from notewell.types import counted

if TYPE_CHECKING:
    import argparse

    from notewell.config import Settings
    from notewell.hosts import Host

_ON_THIS_MACHINE = ("embedded", "multilingual", "local", "none", "ollama")


def settings_for(arguments: argparse.Namespace) -> Settings:
    agent, workspace, settings = location_of(arguments)
    return settings or load_settings(Path(workspace).absolute(), agent)


def will_keep(arguments: argparse.Namespace) -> bool:
    """Whether the hooks that are installed keep conversations."""
    return not arguments.notes_only and settings_for(arguments).capture.keep.enabled is not False


def keep_words(arguments: argparse.Namespace) -> list[str]:
    settings = settings_for(arguments)
    if not will_keep(arguments):
        messages = settings.capture.session_messages
        last = f"the last {messages} messages become a note" if messages else "no note is written"
        kept = f"conversations are not kept: of a session that ends, {last}"
        return [_whose_sessions(arguments), kept]
    return [
        _whose_sessions(arguments),
        "kept from now on: what you and the assistant say, with secrets masked, in "
        f"{kept_folder(arguments)}",
        _who_sees_it(arguments, settings),
        "to decline: `notewell install --notes-only`, instead of this or later; to forget what "
        "was said: `notewell forget`",
    ]


def _whose_sessions(arguments: argparse.Namespace) -> str:
    """One memory for all projects, or one for each: the user chooses it with the installation."""
    memory = os.path.realpath(location_of(arguments).workspace)
    if arguments.project is None:
        return (
            f"one memory for all projects: sessions in every folder belong to {memory}; for a "
            "project with a memory of its own, use --project DIR -w DIR"
        )
    project = Path(arguments.project).absolute()
    return (
        f"sessions in {project} belong to the memory in {memory}, and no others; for one memory "
        "of all projects, install without --project"
    )


def import_words(host: Host, project: str | None) -> list[str]:
    """That the host has conversations from before, and which command keeps them: those of the
    project, if the hooks are for one."""
    machine = Machine(Path.home(), os.environ, sys.platform)
    folders = host.transcript_folders(machine) if host.transcript_folders else ()
    found = [transcripts_at(folder) for folder in folders if folder.is_dir()]
    number = sum(len(one.transcripts) for one in found)
    if not number:
        return []
    size = f"{sum(one.bytes for one in found) / 1e6:.1f} MB"
    has = f"{host.title} has {counted(number, 'conversation')} from before ({size})"
    command = f"notewell sessions import {host.id}"
    if project is None:
        return [f"{has}: `{command}` keeps what was said there"]
    only = shlex.join(["--project", str(Path(project).absolute())])
    return [f"{has}: `{command} {only}` keeps what was said in this project"]


def kept_folder(arguments: argparse.Namespace) -> str | None:
    """Where conversations are kept; None if they are not."""
    if not will_keep(arguments):
        return None
    agent, workspace, _ = location_of(arguments)
    return str(kept_dir(_state(arguments), agent, os.path.realpath(workspace)))


def _state(arguments: argparse.Namespace) -> Path:
    named = arguments.state_dir
    return (Path(named).expanduser() if named else default_state_dir()).absolute()


def _who_sees_it(arguments: argparse.Namespace, settings: Settings) -> str:
    state, agent = _state(arguments), location_of(arguments).agent
    chosen = choose_embedder(
        settings.embedder,
        state / "models",
        os.environ,
        auth_profiles=profile_files(state, agent),
        started_by_user=False,
    )
    provider = chosen.decision.used
    if provider in _ON_THIS_MACHINE:
        return "it does not leave this machine, unless you set a remote provider for vectors"
    return f"your settings send text to {provider} to compute vectors; this text, too"
