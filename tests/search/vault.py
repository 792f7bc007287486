"""A small vault of an Obsidian user: front matter in its usual forms, tags, aliases, links."""

from __future__ import annotations

from pathlib import Path

NOTES = {
    "MEMORY.md": "# Facts\n\nThe spare key of the router cabinet hangs in the hall. #keys\n",
    "memory/2026-05-02.md": "# Saturday\n\nChanged the router password. #Network #to-do\n",
    "memory/2025-12-24.md": "# Eve\n\nThe router fell asleep again, unplugged it. #network/wifi\n",
    "memory/projects/Edge router.md": (
        "---\ntitle: Edge router\ndate: 2026-03-04\naliases: [the box in the cellar, OPNsense]\n"
        "tags:\n  - network/home\n  - hardware\n---\n# Edge router\n\n"
        "It sits in the cellar. Its configuration is saved by restic every night.\n\n"
        "```sh\n#hardware-test is a comment of the shell\nping router\n```\n"
    ),
    "memory/projects/DNS.md": (
        "---\ntags: network, naming\ndate: '2026-04-01T09:30'\nalias: name server\n---\n"
        "Unbound answers for the router and everybody else.\n"
    ),
    "memory/projects/Garden.md": (
        "The pump listens to the router, too. Ask about colour #fff or ticket #42.\n\n"
        "See [[Edge router|our gateway]], [[DNS]] and [the resolver](DNS.md).\n"
    ),
    "memory/garten.md": (
        "---\ntags: [Häuser/Garten]\n---\nDer Router im Garten steht unter dem Dach, und die "
        "Häuser haben eine Leitung aus Glasfaser bekommen, die nicht schnell ist.\n"
    ),
    "memory/Werkzeug.md": "The router is deployed by Ansible. #DevOps_tools #DevOps\n",
    "memory/日记.md": "路由器在地下室。 #网络/家里\n",
}


def write_vault(folder: Path) -> Path:
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder
