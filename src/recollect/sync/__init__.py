"""Bringing the index up to date with the notes.

`plan` decides, `apply` makes the text searchable, `fill` adds the vectors.
"""

from recollect.sync.apply import TextSync
from recollect.sync.fill import VectorFill
from recollect.sync.plan import SyncPlan, behind, plan
from recollect.sync.report import Progress, SyncReport

__all__ = ["Progress", "SyncPlan", "SyncReport", "TextSync", "VectorFill", "behind", "plan"]
