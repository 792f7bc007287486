"""One entry more in a YAML file whose servers are a list, inserted as text.

    mcpServers:
      - name: "other"
        command: "…"
      - name: "notewell"          <- ours, after the last item
        command: "…"

YAML has many forms. Where the list has another one (`mcpServers: [...]`), the file is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from notewell.clients.merge import CannotMerge, EntryExists, line_break_of

NEW_FILE = "name: Local\nversion: 1.0.0\nschema: v1\n"
"""What Continue requires of a file besides the servers."""
_ITEM = re.compile(r"^([ ]*)- ", re.MULTILINE)


def merged_yaml(text: str, key: str, name: str, entry: dict[str, Any]) -> str | None:
    """The file with the entry; None if it has the same one already. Raises `CannotMerge`."""
    text = text if text.strip() else NEW_FILE
    before, item = parse_yaml(text), {"name": name, **entry}
    servers = _servers(before, key)
    for server in servers:
        if isinstance(server, dict) and server.get("name") == name:
            if server == item:
                return None
            raise EntryExists(name, server)
    after = _appended(text, key, item)
    try:
        is_as_expected = parse_yaml(after) == {**before, key: [*servers, item]}
    except CannotMerge:
        is_as_expected = False
    if not is_as_expected:
        raise CannotMerge(f"an item cannot be added to {key!r} as it is written there")
    return after


def parse_yaml(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise CannotMerge("it is not valid YAML") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise CannotMerge("it does not contain an object")
    return document


def yaml_file_with(key: str, name: str, entry: dict[str, Any]) -> str:
    """The list with the entry alone, to paste."""
    return f"{key}:\n{yaml_item({'name': name, **entry}, '  ')}"


def yaml_item(item: dict[str, Any], indent: str) -> str:
    # A string or a list in JSON is the same in YAML.
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in item.items()]
    return f"{indent}- " + f"{indent}  ".join(lines)


def yaml_without(text: str, key: str, item: dict[str, Any]) -> list[str]:
    """The text without the item, without and with the key of the list."""
    line_break = line_break_of(text)
    indents = {match[1] for match in _ITEM.finditer(text)}
    blocks = [yaml_item(item, indent).replace("\n", line_break) for indent in indents]
    without = [text.replace(block, "", 1) for block in blocks if block in text]
    head = _list_head(key)
    return [*(head.sub("", one) for one in without), *without]


def _list_head(key: str) -> re.Pattern[str]:
    """The line with the key of the list, and nothing but a comment behind it."""
    pattern = rf"^{re.escape(key)}:[ \t]*(?:#.*)?\r?$\n?"
    return re.compile(pattern, re.MULTILINE)


def _servers(document: dict[str, Any], key: str) -> list[Any]:
    servers = document.get(key) or []
    if not isinstance(servers, list):
        raise CannotMerge(f"{key!r} is not a list there")
    return servers


def _appended(text: str, key: str, item: dict[str, Any]) -> str:
    line_break = line_break_of(text)
    text = text if text.endswith("\n") else text + line_break
    head = _list_head(key).search(text)
    if head is None:
        added = f"{key}:\n{yaml_item(item, '  ')}"
        return text + added.replace("\n", line_break)
    # The list ends at the next line that begins in the first column and is no item.
    end = re.compile(r"^(?![ \t\r\n#]|- )", re.MULTILINE).search(text, head.end())
    body = text[head.end() : end.start() if end else len(text)]
    at = head.end() + len(body.rstrip()) if body.strip() else head.end()
    at = text.find("\n", at) + 1 if body.strip() else at
    first = _ITEM.search(body)
    block = yaml_item(item, first[1] if first else "  ").replace("\n", line_break)
    return text[:at] + block + text[at:]
