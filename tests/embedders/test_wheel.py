"""What is built from the repository has the embedded model: no build fetches anything."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from notewell.embedders import weights

ROOT = Path(__file__).parents[2]


def test_a_wheel_has_the_pinned_files(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    folder = f"notewell/embedders/bundled/{weights.NOTEWELL_EMBED.name}"
    with zipfile.ZipFile(wheel) as archive:
        for file in weights.NOTEWELL_EMBED.files:
            content = archive.read(f"{folder}/{file.name}")
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
        assert any(name.endswith("licenses/NOTICE") for name in archive.namelist())
