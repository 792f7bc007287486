"""The tables of one generation. After a change of the schema the number grows and old indexes are
rebuilt: an index is a copy, so there are no migrations. Until the new one is published, the old
one answers: `AS_CURRENT` gives its readers the columns and tables that it lacks."""

from __future__ import annotations

APPLICATION_ID = 0x52434C54  # "RCLT"
SCHEMA = 4

META_KEY = "memory_index_meta_v1"
SCALE_KEY = "cosine_scale"

# chunks_fts holds the words of core.words, not the text: the ASCII tokenizer only splits them at
# spaces. `source` is a word, too, so that FTS5 filters by source while it matches, instead of
# joining afterwards. The table is contentless: the text is stored once, in `chunks`.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  path TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  hash TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  ctime INTEGER NOT NULL,
  inode TEXT NOT NULL, -- some file systems use all 64 bits, SQLite's integers are signed
  day TEXT,            -- that of a transcript; a note's is in its name
  folder TEXT,         -- where its host ran
  host TEXT
) WITHOUT ROWID;
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  hash TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  piece INTEGER NOT NULL,       -- 1 for a part of one line that is longer than a chunk
  line_offset INTEGER NOT NULL, -- where such a part begins, in characters
  said_at TEXT NOT NULL, -- when its first line was said; empty for a note
  embedded INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE chunk_windows (
  id INTEGER PRIMARY KEY, -- of the chunk
  codes BLOB NOT NULL     -- see core/window_codes.py
);
CREATE INDEX chunks_by_place ON chunks (path, start_line);
CREATE INDEX chunks_without_vector ON chunks (id) WHERE embedded = 0;
CREATE INDEX chunks_unread ON chunks (id) WHERE embedded = 2; -- mostly empty: for counting only
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  source, body, heading, name,
  content = '', contentless_delete = 1, tokenize = "ascii tokenchars '_'"
);
CREATE VIRTUAL TABLE chunks_words USING fts5vocab (chunks_fts, row);
"""

# A temporary object hides the one of the same name in the file, which stays as it is.
AS_CURRENT = {
    # Before 4, a part of a long line did not know where it begins. With places that are far apart,
    # the parts of one line are not joined, and each is shown as it is.
    3: """
CREATE TEMP VIEW chunks AS
  SELECT *, piece * id * 1000000 AS line_offset FROM main.chunks;
CREATE TEMP TABLE chunk_windows (id INTEGER PRIMARY KEY, codes BLOB NOT NULL);
"""
}
"""For each older schema that can be read, what makes it look like the current one."""

CACHE_TABLE = """
CREATE TABLE IF NOT EXISTS embedding_cache (
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  hash TEXT NOT NULL,
  embedding BLOB NOT NULL,
  dims INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (provider, model, provider_key, hash)
);
"""
