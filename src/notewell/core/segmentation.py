"""Unicode text segmentation (UAX #29), from the tables of the apsw wheel.

This is the only module outside `index/sqlite` that imports apsw, so that the source of the Unicode
tables can be replaced in one place. A change of the tables changes where words end: then
`core.words.VERSION` needs a new number.
"""

from __future__ import annotations

from apsw.unicode import casefold, grapheme_next_break, strip, word_iter_with_offsets

__all__ = ["casefold", "grapheme_next_break", "strip", "word_iter_with_offsets"]
