"""One description per host, and every list is derived from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import notewell
from notewell.hosts import HOOK_FILES, HOSTS, MCP_FILES, TRANSCRIPT_FORMATS

HERE = Path(notewell.__file__).parent / "hosts"
SHARED = {"__init__", "host", "messages", "registry"}


def test_each_host_has_one_file_and_is_registered() -> None:
    modules = {path.stem for path in HERE.glob("*.py")} - SHARED
    # A module cannot be imported under a keyword: `continue_`.
    assert {module.rstrip("_") for module in modules} == set(HOSTS)
    assert set(HOOK_FILES) | set(MCP_FILES) <= set(HOSTS)


@pytest.mark.parametrize("host", HOSTS.values(), ids=list(HOSTS))
def test_a_host_has_something_to_read_or_to_install(host: notewell.hosts.Host) -> None:
    assert host.title
    assert host.transcripts or host.hooks or host.mcp


def test_a_suffix_has_one_file_shape() -> None:
    shapes = {(one.suffix, one.is_document) for one in TRANSCRIPT_FORMATS}
    assert len(shapes) == len({suffix for suffix, _ in shapes})


def test_hooks_call_events_that_exist() -> None:
    from notewell.cli.hook import _EVENTS

    for hooks in HOOK_FILES.values():
        assert {*hooks.events.values(), *hooks.turn_events.values()} <= set(_EVENTS)


def test_no_other_module_names_a_host_or_a_suffix() -> None:
    """What a module does for one host only belongs into that host's file."""
    # OpenClaw's settings; the default of --host; the host that is replayed; the chat app, whose
    # exports are imported.
    allowed = {"cli/place.py", "cli/hook.py", "cli/eval_replay.py"}
    allowed |= {"cli/imports.py", "imports/claude_export.py", "imports/conversations.py"}
    for file in sorted(HERE.parent.rglob("*.py")):
        path = file.relative_to(HERE.parent).as_posix()
        if path.startswith(("hosts/", "config/", "adapters/")) or path in allowed:
            continue
        text = file.read_text(encoding="utf-8")
        # Gemini is also a provider of embeddings.
        for name in {*HOSTS, "claude-code"} - {"gemini", "openclaw"}:
            assert f'"{name}"' not in text, path
