"""Every limit in one place, each with its reason."""

CHARS_PER_TOKEN = 4
"""How English prose comes out under most tokenizers; CJK is weighed apart (see `weight`)."""

CHUNK_TOKENS = 200
CHUNK_OVERLAP_TOKENS = 0
"""Half of the original's 400 and none of its overlap of 80: small chunks are found more surely,
and a hit is widened by the lines around it (see `passages`), which does more than overlap.
On LoCoMo workspaces that found 94 % of the evidence in six hits, 400 and 80 found 92 %."""

MAX_NOTE_BYTES = 32 * 1024 * 1024
"""A note larger than this is a dump, not a note; it is reported and left out."""

MAX_QUERY_CHARS = 100_000
"""More than any question; a whole file pasted in by mistake is refused, not cut."""
MAX_QUERY_TERMS = 64
"""100 000 OR terms took FTS5 76 s; of a longer question the rarest words are asked for."""

MAX_RESULTS = 200
SNIPPET_CHARS = 700
CANDIDATES = 200
"""At most this many rows a leg, whatever the caller asks for."""

GET_LINES = 120
GET_CHARS = 12_000
"""What `get` returns unasked: a few screens, well inside an agent's budget."""
