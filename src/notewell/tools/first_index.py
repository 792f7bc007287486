"""A memory that was never indexed answers its first question too.

`Memory.search` takes in what was saved a moment ago, but it builds no index: that may take longer
than a question should. Without any index, though, there is no answer at all. So when nothing was
found because there is none, the words of the notes are taken in, if they are not too many, and the
question is asked again. Vectors follow later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from notewell.errors import IndexTrouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from notewell.memory import Memory
    from notewell.sync import Progress

FIRST_NOTES = 2000
"""Their words are read in some seconds; whoever has more indexes them beforehand."""
FEW_NOTES = 32
"""What an index that somebody made this moment may lack."""


def take_in_first(memory: Memory, told: Callable[[Progress], None] | None) -> bool:
    """Make the first index, of words alone; whether it is worth asking again."""
    status = memory.status()
    most = FIRST_NOTES if status.state == "missing" else FEW_NOTES
    if status.state == "unreadable" or not 0 < status.dirty <= most:
        return False
    try:
        memory.sync(vectors=False, progress=told)
    except IndexTrouble:
        return False  # Somebody else is making it, or cannot: what the first answer said holds.
    return True
