"""What is kept beside the index: vectors that were paid for, and what captures remember."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from notewell.doctor.report import steps
from notewell.doctor.state_files import files, is_capture_file
from notewell.doctor.verify_vectors import why_unsound
from notewell.errors import NotewellError
from notewell.index.sqlite import bad_pages, opened, pages_told, rows
from notewell.index.sqlite.integrity import integrity

if TYPE_CHECKING:
    from pathlib import Path

    from notewell.doctor.report import ProgressCallback, Verdict
    from notewell.doctor.subject import Patient


def verify_cache(file: Path, verdict: Verdict, told: ProgressCallback) -> None:
    from notewell.index.sqlite import require_checksums

    if not os.path.lexists(file):
        return
    with opened(file) as db:
        require_checksums(db, file)
        _, bad = bad_pages(db, file, steps(told, "cache"))
        if bad:
            verdict.differs("cache", file.name, f"{pages_told(bad)}: run `notewell doctor --fix`")
        for line in integrity(db):
            verdict.differs("cache", file.name, line)
        for row in rows.cache_rows(db):
            verdict.cached += 1
            if why := why_unsound(row.vector, row.dims, unit=False):
                told_of = f"the vector of {row.digest[:12]} ({row.model}) {why}; it is not used"
                verdict.differs("cache", file.name, told_of)


def verify_state(patient: Patient, verdict: Verdict) -> None:
    from notewell.capture import capture_dir
    from notewell.redaction import KEY_BYTES, KEY_FILE

    folder = capture_dir(patient.state, patient.agent, patient.workspace)
    for file in files(folder):
        if is_capture_file(file.name):
            with verdict.part("state", file):
                verdict.state_files += 1
                _verify_json(file, verdict)
    key = patient.state / KEY_FILE
    if os.path.lexists(key):
        with verdict.part("state", key):
            verdict.state_files += 1
            if len(key.read_bytes()) != KEY_BYTES:
                raise NotewellError(f"it is no key of {KEY_BYTES} bytes; remove it")


def _verify_json(file: Path, verdict: Verdict) -> None:
    """A log is one object a line; what is no object is passed over by whoever reads it."""
    is_log = file.suffix == ".jsonl"
    data = file.read_bytes()
    for number, line in enumerate(data.split(b"\n") if is_log else [data], 1):
        if is_log and not line:
            continue
        try:
            is_object = isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            is_object = False
        if not is_object:
            what = "this line is" if is_log else "it is"
            told = f"{what} no JSON object, and is passed over: remove it"
            verdict.differs("state", f"{file}:{number}", told)
