"""The engines that find lines in notes, behind one small shape; see `protocol`.

protocol.py   what every engine does, and the question it is asked
builtin.py    START HERE: our own index
looking.py    what our own index holds, for who looks at it
qmd.py        QMD, a program of its own; beside it what it is given and how it is
fallback.py   another engine answers while the first cannot
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from notewell.engines.builtin import Builtin
    from notewell.engines.fallback import WithFallback
    from notewell.engines.inspect import Looking, Placed
    from notewell.engines.protocol import Backend, Question, Weighing
    from notewell.engines.qmd import open_qmd
    from notewell.engines.status import Answering, Probe, Status
else:
    from notewell.lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "builtin": "Builtin",
            "fallback": "WithFallback",
            "inspect": "Looking Placed",
            "protocol": "Backend Question Weighing",
            "qmd": "open_qmd",
            "status": "Answering Probe Status",
        },
    )
