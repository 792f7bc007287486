"""A configuration file from disk to a `Document`.

The file may come from a stranger's folder: it is not waited for, not read past a limit, and not
followed where it links to. JSON is read without importing YAML.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from notewell.config.positions import MAX_FILE_BYTES, Document, Finding, Located, Malformed

if TYPE_CHECKING:
    from pathlib import Path


def read_document(path: Path, *, follow_links: bool = True) -> Document:
    """Whatever stands in the file; what cannot be read is a finding, never an exception."""
    file = str(path)
    try:
        data = _read_regular(path, follow_links=follow_links)
        text = data.decode("utf-8-sig")
        root, findings = _read_text(text, file, path.suffix)
    except Malformed as error:
        return _unread(file, error.line, str(error))
    except UnicodeDecodeError as error:
        return _unread(file, data.count(b"\n", 0, error.start) + 1, "not UTF-8")
    except OSError as error:
        return _unread(file, 0, f"cannot be read: {error.strerror or error}")
    if not isinstance(root.data, dict):
        return _unread(file, root.line, "expected an object { … } at the top of the file")
    return Document(file, root, findings)


def _unread(file: str, line: int, message: str) -> Document:
    return Document(file, Located({}, 1), (Finding("error", file, line, "", message),))


def _read_text(text: str, file: str, suffix: str) -> tuple[Located, tuple[Finding, ...]]:
    if suffix in (".yaml", ".yml"):
        from notewell.config.read_yaml import read_yaml

        return read_yaml(text, file)
    from notewell.config.read_json5 import read_json5

    return read_json5(text, file)


def _read_regular(path: Path, *, follow_links: bool) -> bytes:
    """A pipe of that name must not make us wait for somebody to write into it."""
    if not follow_links and path.is_symlink():
        raise Malformed("a link; links are not followed here: put the file itself there", 0)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Malformed("not a regular file", 0)
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Malformed(f"larger than {MAX_FILE_BYTES} bytes", 0)
    return data
