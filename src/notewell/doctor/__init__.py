"""Finding problems, repairing what can be repaired safely, and proving that the index is right.

    examine(subject)            every check; findings, problems or not; changes nothing
    repair(subject, findings)   carries out the remedies that the findings name
    verify(memory)              compares index and notes, down to the last line

checkup.py       START HERE: every check, one after another
finding.py       what is examined, a finding, and the remedies it may name
machine.py       Python, its packages, inotify
state_dir.py     permissions, file system, free space
state_files.py   which files are ours, by their names
notes_health.py  notes, conflict copies, the clock
repairs.py       carrying out remedies
secrets.py       `notewell doctor --secrets`: where notes hold secrets
verification.py  `notewell verify`

What concerns the storage of the index is asked of `IndexStore`: `check`, `repair`, `verify`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.doctor.checkup import examine
    from notewell.doctor.finding import SYNC, Finding, Subject
    from notewell.doctor.repairs import RepairResult, repair
    from notewell.doctor.secrets import SecretsReport, find_note_secrets
    from notewell.doctor.state_dir import nearest
    from notewell.doctor.verification import VerifyReport, verify
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "checkup": "examine",
            "finding": "SYNC Finding Subject",
            "repairs": "RepairResult repair",
            "secrets": "SecretsReport find_note_secrets",
            "state_dir": "nearest",
            "verification": "VerifyReport verify",
        },
    )
