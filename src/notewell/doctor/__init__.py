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

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.doctor.checkup import examine
    from notewell.doctor.finding import Finding
    from notewell.doctor.repairs import Deed, mend
    from notewell.doctor.report import Disagreement, Verdict
    from notewell.doctor.state_dir import nearest
    from notewell.doctor.subject import Patient
    from notewell.doctor.verification import verify
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "checkup": "examine",
            "finding": "Finding",
            "repairs": "Deed mend",
            "report": "Disagreement Verdict",
            "state_dir": "nearest",
            "subject": "Patient",
            "verification": "verify",
        },
    )
