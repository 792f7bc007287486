"""The engines that find lines in notes, behind one small shape; see `protocol`.

protocol.py   what every engine does, and the question it is asked
builtin.py    START HERE: our own index
looking.py    what our own index holds, for who looks at it
qmd.py        QMD, a program of its own; beside it what it is given and how it is
fallback.py   another engine answers while the first cannot
"""
