"""Limits that several packages share, each with its reason."""

CHARS_PER_TOKEN = 4
"""The average of English prose under most tokenizers; `core.token_weight` counts CJK apart."""

CHUNK_TOKENS = 200
CHUNK_OVERLAP_TOKENS = 0
"""OpenClaw has 400 and an overlap of 80. Small chunks rank better, and a hit is widened by the
lines around it (`core.passages`), which helps more than an overlap. On LoCoMo workspaces, six hits
contained 94 % of the evidence; with 400 and 80 they contained 92 %."""

MAX_NOTE_BYTES = 32 * 1024 * 1024
"""A larger file is a dump and not a note; it is reported and left out."""

MAX_QUERY_CHARS = 100_000
"""More than any question. A file that was pasted by mistake is refused, not truncated."""
MAX_QUERY_TERMS = 64
"""FTS5 took 76 s for 100 000 OR terms. Of a longer question, the rarest words are searched."""

MAX_RESULTS = 200
"""No agent reads more hits; a larger number is refused, not reduced."""
SNIPPET_CHARS = 700
"""OpenClaw's value: the most that one long line or one hit alone shows."""
ANSWER_CHARS = 4000
"""About a thousand tokens: what the hits of one answer show in all (see `core.packing`)."""
CANDIDATES = 200
"""The most rows that one leg of a search returns, whatever the caller asks for."""

GET_LINES = 120
GET_CHARS = 12_000
"""What `get` returns by default: a few screens, well inside an agent's context budget."""
