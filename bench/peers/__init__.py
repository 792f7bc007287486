"""Notewell beside other memory programs: the same notes, the same questions, one table.

See `__main__.py` for the command and docs/compare.md for the last run.
"""
