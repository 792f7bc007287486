"""Configuration files from disk: found, read, parsed and checked.

A file may come with a stranger's folder. It is opened without waiting (O_NONBLOCK) and, in a
workspace, without following links (O_NOFOLLOW); its size, depth and number of values are limited.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.config.document import ConfigFinding, Document, Located, Malformed
from notewell.config.paths import (
    CONFIG_VARIABLE,
    SUFFIXES,
    USER_STEM,
    WORKSPACE_STEM,
    expanded,
    user_config_dir,
)
from notewell.config.validate import check_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from notewell.config.validate import Layer, Owner

MAX_FILE_BYTES = 1024 * 1024
"""The largest configuration seen in public repositories is a fiftieth of this."""


def user_layer(environment: Mapping[str, str] = os.environ) -> Layer | None:
    """The user's own file; None if there is none."""
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return read_layer(expanded(named, environment, Path.cwd()), "user", environment)
    return _only_one(user_config_dir(environment), USER_STEM, "user", environment)


def workspace_layer(workspace: Path, environment: Mapping[str, str] = os.environ) -> Layer | None:
    """The file of a workspace; None if there is none."""
    return _only_one(workspace, WORKSPACE_STEM, "workspace", environment)


def read_layer(path: Path, owner: Owner, environment: Mapping[str, str]) -> Layer:
    """One file, read and checked."""
    # Users link their own configuration from a repository. A link in a stranger's folder could
    # point to any file of the user's, whose content would then appear in messages.
    document = read_document(path, follow_links=owner != "workspace")
    return check_document(document, owner, environment)


def _only_one(
    folder: Path, stem: str, owner: Owner, environment: Mapping[str, str]
) -> Layer | None:
    paths = _candidates(folder, stem)
    if len(paths) > 1:
        names = " and ".join(path.name for path in paths)
        message = f"both {names} exist: keep one of them, so that it is clear which one counts"
        finding = ConfigFinding("error", str(folder), 0, "", message)
        document = Document(str(folder), Located({}, 1), (finding,))
        return check_document(document, owner, environment)
    return read_layer(paths[0], owner, environment) if paths else None


def workspace_file(workspace: Path) -> Path | None:
    """A settings file of the workspace, readable or not."""
    return next(iter(_candidates(workspace, WORKSPACE_STEM)), None)


def _candidates(folder: Path, stem: str) -> list[Path]:
    candidates = (folder / f"{stem}{suffix}" for suffix in SUFFIXES)
    # lexists, not exists: a broken link or an unreadable file must be reported, not ignored.
    return [path for path in candidates if os.path.lexists(path)]


# -- one file ------------------------------------------------------------------------------------


def read_document(path: Path, *, follow_links: bool = True) -> Document:
    """The content of the file; a file that cannot be read is a finding, never an exception."""
    file = str(path)
    try:
        data = _read_regular(path, follow_links=follow_links)
        if not data and not follow_links:
            return _unreadable(file, 0, "the file is empty: write its settings, or remove it")
        # Editors on Windows put a byte order mark before UTF-8.
        text = data.decode("utf-8-sig")
        root, findings = _parsed(text, file, path.suffix)
    except Malformed as error:
        return _unreadable(file, error.line, str(error))
    except UnicodeDecodeError as error:
        return _unreadable(file, data.count(b"\n", 0, error.start) + 1, "not UTF-8")
    except OSError as error:
        return _unreadable(file, 0, f"cannot be read: {error.strerror or error}")
    if not isinstance(root.data, dict):
        return _unreadable(file, root.line, "expected an object { … } at the top of the file")
    return Document(file, root, findings)


def _unreadable(file: str, line: int, message: str) -> Document:
    return Document(file, Located({}, 1), (ConfigFinding("error", file, line, "", message),))


def _parsed(text: str, file: str, suffix: str) -> tuple[Located, tuple[ConfigFinding, ...]]:
    # Only a YAML file pays for importing PyYAML.
    if suffix in (".yaml", ".yml"):
        from notewell.config.read_yaml import read_yaml

        return read_yaml(text, file)
    from notewell.config.read_json5 import read_json5

    return read_json5(text, file)


def _read_regular(path: Path, *, follow_links: bool) -> bytes:
    """The bytes of a regular file of limited size."""
    # O_NOFOLLOW alone is not enough: Windows has none, and its error says nothing about links.
    if not follow_links and path.is_symlink():
        raise Malformed("a link; links are not followed here: put the file itself there", 0)
    # Opening a pipe blocks until somebody writes to it; O_NONBLOCK opens it at once, and the
    # check below refuses it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        # fstat, not stat: the name may point to another file by now.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Malformed("not a regular file", 0)
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Malformed(f"larger than {MAX_FILE_BYTES} bytes", 0)
    return data
