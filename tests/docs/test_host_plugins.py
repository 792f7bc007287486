"""The plugins in the repository are what `notewell install` writes, in the form of each host."""

from __future__ import annotations

import json
from typing import Any

from scripts.host_plugins import COMMON, ROOT, files

from notewell import __version__


def _json(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_plugins_are_generated_from_the_installer() -> None:
    generated = files()
    stale = [
        name
        for name, text in generated.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `python -m scripts.host_plugins`"


def test_each_manifest_has_the_version_of_the_package() -> None:
    market = _json(".claude-plugin/marketplace.json")
    versions = {
        "marketplace": market["plugins"][0]["version"],
        "claude-code": _json("plugins/claude-code/.claude-plugin/plugin.json")["version"],
        "codex": _json("plugins/codex/.codex-plugin/plugin.json")["version"],
        "gemini": _json("plugins/gemini/gemini-extension.json")["version"],
    }
    assert set(versions.values()) == {__version__}


def test_a_marketplace_names_a_folder_that_is_there() -> None:
    (claude,) = _json(".claude-plugin/marketplace.json")["plugins"]
    assert (ROOT / claude["source"] / ".claude-plugin" / "plugin.json").is_file()
    (codex,) = _json(".agents/plugins/marketplace.json")["plugins"]
    root = ROOT / codex["source"]["path"]
    manifest = json.loads((root / ".codex-plugin/plugin.json").read_text(encoding="utf-8"))
    for part in ("skills", "mcpServers", "hooks"):
        assert (root / manifest[part]).exists()


def test_the_skill_names_tools_that_exist() -> None:
    from notewell.tools import TOOLS

    text = (COMMON / "SKILL.md").read_text(encoding="utf-8")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert [line.partition(":")[0] for line in head.split("\n")] == ["name", "description"]
    assert len(head) < 1024  # Claude Code cuts a longer description.
    for spec in TOOLS:
        assert f"`{spec.name}`" in body
