"""Every case by its name."""

from __future__ import annotations

from tests.hardening.faults.cases_clients import CLIENT_CASES
from tests.hardening.faults.cases_entries import ENTRY_CASES
from tests.hardening.faults.cases_forget import FORGET_CASES
from tests.hardening.faults.cases_index import INDEX_CASES
from tests.hardening.faults.cases_notes import NOTE_CASES
from tests.hardening.faults.scene import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in (*INDEX_CASES, *NOTE_CASES, *FORGET_CASES, *CLIENT_CASES, *ENTRY_CASES)
}
