"""The engines that find lines in notes, behind one small shape; see `protocol`.

protocol.py   what every engine does, and the question it is asked
builtin.py    START HERE: our own index
qmd.py        QMD, a program of its own
fallback.py   another engine answers while the first cannot
"""
