"""Settings that mean harm: refused in a moment, with a reason, and nothing of them is carried out.

Alias bombs, undefined aliases, tags, duplicate keys, too many levels, pipes in place of a file and
links in a workspace are in tests/config/test_readers.py; these are sizes and combinations.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from notewell import open_memory
from notewell.config import load_settings
from notewell.errors import NotewellError
from notewell.testing import HashEmbedder

LONGEST_S = 60.0
"""What a bomb is made for takes hours; slow machines and coverage take seconds."""

DEFAULTS = "agents: {defaults: {memorySearch: {query: {%s}}}}\n"
YAML: dict[str, str] = {
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi")),
    "laughs by merging": "a: &a {x: 1}\n"
    + "".join(f"k{n}: &k{n} {{<<: [{', '.join(['*a'] * 50)}]}}\n" for n in range(300)),
    "contains itself": "a: &a [*a]\n",
    "merges itself": "a: &a\n  <<: *a\n",
    "deep lists": "a: " + "[" * 100_000,
    "deep objects": "{a: " * 50_000,
    "deep by indentation": "\n".join(" " * n + "a:" for n in range(1200)),
    "python object": "a: !!python/object/apply:os.system ['touch {folder}/harm']\n",
    "python name": "a: !!python/name:os.system\n",
    "unknown tag": "a: !harm {b: !!binary '!!!!'}\n",
    "huge number": DEFAULTS % ("maxResults: 1" + "0" * 5000),
    "huge exponent": DEFAULTS % "minScore: 1e999999999",
    "huge hexadecimal": DEFAULTS % ("maxResults: 0x" + "f" * 5000),
    "many documents": "---\na: 1\n" * 50_000,
    "many keys": "".join(f"k{n}: 1\n" for n in range(60_000)),
    "many anchors": "".join(f"k{n}: &k{n} 1\n" for n in range(40_000)),
    "quotes": 'a: "' + "\\" * 200_000,
    "odd key": "? [a, b]\n: 1\n",
    "nul": "a: \0\n",
    "control": "a: \x07\n",
}  # fmt: skip
JSON5: dict[str, str] = {
    "deep lists": "[" * 100_000,
    "deep objects": "{a:" * 100_000,
    "deep and closed": "[" * 100_000 + "]" * 100_000,
    "huge number": "{a: 1" + "0" * 100_000 + "}",
    "huge hexadecimal": "{a: 0x" + "f" * 100_000 + "}",
    "huge exponent": "{a: 1e999999999}",
    "open comment": "{" + "/*" * 200_000,
    "open text": "{a: '" + "\\'" * 200_000,
    "line comments": "//\n" * 200_000,
    "half a pair": '{a: "\\ud800"}',
    "white space": " " * 900_000,
    "commas": "[" + "," * 200_000,
    "names": "{" + "a:1," * 200_000 + "}",
    "signs": "{a: " + "+-" * 100_000,
    "dots": "{a: " + "." * 200_000,
}


def why_refused(workspace: Path, environment: dict[str, str]) -> str:
    """Empty for settings that can be read."""
    try:
        load_settings(workspace, "main", environment)
    except NotewellError as error:
        return str(error)
    return ""


def refused_or_read(folder: Path, name: str, text: str) -> None:
    """By itself as the user's file, and as the workspace's: either way in a moment."""
    (folder / "ws").mkdir()
    file = folder / name
    file.write_text(text.replace("{folder}", str(folder)), encoding="utf-8")
    began = time.thread_time()
    environment = {"NOTEWELL_CONFIG": str(file), "HOME": str(folder)}
    assert len(why_refused(folder / "ws", environment)) < 2000
    assert time.thread_time() - began < LONGEST_S
    assert not (folder / "harm").exists()


@pytest.mark.parametrize("attack", YAML)
def test_hostile_yaml_is_refused_or_read_in_a_moment(tmp_path: Path, attack: str) -> None:
    refused_or_read(tmp_path, "config.yaml", YAML[attack])


@pytest.mark.parametrize("attack", JSON5)
def test_hostile_json5_is_refused_or_read_in_a_moment(tmp_path: Path, attack: str) -> None:
    refused_or_read(tmp_path, "config.json5", JSON5[attack])


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def a_link_outside(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def an_endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_folder(path: Path) -> None:
    path.mkdir()


ODD = [a_pipe, a_link_to_itself, a_link_outside, an_endless_device, a_folder]


@pytest.mark.parametrize("put", ODD)
def test_what_is_no_file_is_not_waited_for_as_settings(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    put(tmp_path / "notewell.json")
    assert len(why_refused(tmp_path, {"HOME": str(tmp_path)})) < 500


@pytest.mark.parametrize("put", ODD)
def test_what_is_no_file_is_not_waited_for_as_a_note(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    memory_folder = tmp_path / "ws" / "memory"
    memory_folder.mkdir(parents=True)
    put(tmp_path / "ws" / "MEMORY.md")
    put(memory_folder / "odd.md")
    (memory_folder / "good.md").write_text("the walrus sleeps\n", encoding="utf-8")
    environment = {"HOME": str(tmp_path)}
    with open_memory(
        tmp_path / "ws",
        state_dir=tmp_path / "state",
        embedder=HashEmbedder(),
        environment=environment,
    ) as memory:
        report = memory.sync()
        assert report.notes == 1
        for path in ("MEMORY.md", "memory/odd.md"):
            with pytest.raises(NotewellError):
                memory.get(path)
        with pytest.raises(NotewellError):
            memory.append("entry", section="Remembered", origin="test")
