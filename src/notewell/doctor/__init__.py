"""Looking for what is wrong, mending what can be mended, and proving that the index is right.

    examine(patient)            every check; findings, well or not; changes nothing
    mend(patient, findings)     what of it can be done safely, done
    verify(memory)              index and notes, compared to the last line

finding.py       a finding, and the remedies it may name
patient.py       who is looked at; a memory that cannot be opened can be looked at too
checkup.py       START HERE: every check, one after another
machine.py       SQLite, packages, inotify
place.py         permissions, file system, room
ours.py          which files are ours, by their names
leases.py        who holds the right to write
orphans.py       what belongs to nothing
workspaces.py    settings, and indexes whose workspace is gone
index_health.py  index and cache
notes_health.py  notes, conflict copies, the clock
repairs.py       carrying out remedies
pages.py         the pages of one SQLite file
proof.py         the proof; proof_notes, proof_vectors and proof_kept are its parts
verdict.py       what the proof says
rows.py          the questions to SQLite that only the proof asks
"""

from notewell.doctor.checkup import examine
from notewell.doctor.finding import Finding
from notewell.doctor.patient import Patient
from notewell.doctor.proof import verify
from notewell.doctor.repairs import Deed, mend
from notewell.doctor.verdict import Disagreement, Verdict

__all__ = [
    "Deed",
    "Disagreement",
    "Finding",
    "Patient",
    "Verdict",
    "examine",
    "mend",
    "verify",
]
