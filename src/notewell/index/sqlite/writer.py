"""Writing to one generation; only the holder of the writer lease has a writer."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from notewell.core import index_words
from notewell.errors import IndexTooNew, IndexUnreadable
from notewell.index.records import UNREAD, WAITING, MustRebuild, UpToDate
from notewell.index.sqlite.connect import (
    cannot_open,
    create_empty,
    found_schema,
    is_damage,
    not_damage,
    open_new,
    open_writer,
    our_errors,
    select,
    stamp,
    transaction,
)
from notewell.index.sqlite.folder import SUSPECTED
from notewell.index.sqlite.full_text import row_words
from notewell.index.sqlite.schema import META_KEY, SCALE_KEY, SCHEMA, TABLES
from notewell.index.sqlite.view import SqliteView, driver_in, driver_of
from notewell.records import asdict
from notewell.types import NO_SESSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import apsw

    from notewell.index.records import Identity, StoredChunk
    from notewell.index.sqlite.folder import IndexFolder
    from notewell.index.sqlite.vectors import VectorDriver
    from notewell.ports import CosineScale, Vectors
    from notewell.types import Chunk, NoteStat, SessionFacts, Source


LATEST_NS = (1 << 63) - 1  # 2262-04-11; SQLite's integers end there, those of file systems do not.


class SqliteWriter:
    """See `IndexWriter`."""

    def __init__(self, folder: IndexFolder, driver: VectorDriver) -> None:
        self._folder = folder
        self._own_driver = driver
        self._driver = driver
        """Of the generation that is open."""
        self._db: apsw.Connection | None = None
        self._path: Path | None = None

    # -- opening ---------------------------------------------------------------------------------

    def open_current(self, *, force: bool = False) -> UpToDate | MustRebuild:
        if odd := self._folder.set_aside_pointer():
            return MustRebuild("pointer", odd)
        try:
            generation = self._folder.current()
            if generation is None or not generation.exists():
                return MustRebuild("first")
            with our_errors(generation):
                return self._open(generation)
        # A newer Notewell may still use it, so only the user may decide to replace it.
        except IndexTooNew:
            if force:
                return MustRebuild("newer")
            raise
        except IndexUnreadable as error:
            return self.set_aside(error)

    def _open(self, generation: Path) -> UpToDate | MustRebuild:
        # A search met damage on a page that opening does not read.
        if self._folder.is_suspect(generation):
            raise IndexUnreadable(str(generation), SUSPECTED)
        if not generation.is_file():
            raise IndexUnreadable(str(generation), "it is not a file")
        db = open_writer(generation)
        try:
            schema = found_schema(db, generation)
        except (IndexUnreadable, IndexTooNew):
            db.close()
            raise
        if schema < SCHEMA:
            db.close()
            return MustRebuild("schema", f"its schema was {schema}, now {SCHEMA}")
        self._db, self._path = db, generation
        self._driver = driver_in(db, generation, self._own_driver)
        self._folder.sweep()  # A writer that was killed while building left files behind.
        return UpToDate()

    def set_aside(self, damage: IndexUnreadable) -> MustRebuild:
        self.close()
        if not is_damage(damage):
            raise cannot_open(self._folder.path, damage.why) from damage
        generation = self._folder.current()
        kept = self._folder.set_aside(generation) if generation else None
        where = f" and is kept as {kept.name}" if kept else ""
        return MustRebuild("damaged", f"the old index was damaged ({damage.why}){where}")

    def start_generation(self, identity: Identity) -> None:
        self.close()
        path = self._folder.next_generation()
        self._folder.sweep()
        # A new file cannot be damaged: a failure here is a full disk or a missing permission.
        with our_errors(path), not_damage(path):
            db = open_new(path)
            self._db, self._path = db, path
            self._driver = driver_of(identity, self._own_driver)
            with transaction(db):
                stamp(db)
                db.execute(TABLES)
                self._driver.create(db, identity.dims)
                self._put_meta(META_KEY, asdict(identity))

    def publish(self) -> None:
        # Checkpointed, closed and synced first; CURRENT names it last.
        path = self._opened_path
        self.finish()
        self.close()
        self._folder.publish(path)
        self._folder.sweep()
        with our_errors(path):
            self._db, self._path = open_writer(path), path

    def finish(self) -> None:
        """Merge the tail of the vectors, and copy the write-ahead log into the file."""
        import apsw

        with self.transaction() as db:
            self._driver.settle(db)
        with self._our_errors():
            try:
                self._opened.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                # A reader still uses the log, which is durable as it is: copy what is possible.
                self._opened.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def purge(self) -> None:
        """A copy and not a VACUUM in place: a reader of the old file could keep its pages from
        being overwritten, and a crash would leave the old words in the log."""
        with self.transaction() as db:
            # Deleted rows stay in the segments of FTS5 until they are merged.
            db.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
            self._driver.purge(db)
        new = self._folder.next_generation()
        with self._our_errors():
            create_empty(new)
            self._opened.execute("VACUUM INTO ?", (str(new),))
            # The copy has no write-ahead log. The switch to one writes its header, so it comes
            # before anybody reads the file.
            open_writer(new).close()
        self.close()
        self._folder.publish(new)
        self._folder.remove_others()
        with our_errors(new):
            self._db, self._path = open_writer(new), new

    def discard(self) -> None:
        self.close()
        self._folder.discard()

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = self._path = None

    @property
    def _opened(self) -> apsw.Connection:
        if self._db is None:
            raise RuntimeError("no generation is open for writing")
        return self._db

    @property
    def _opened_path(self) -> Path:
        if self._path is None:
            raise RuntimeError("no generation is open for writing")
        return self._path

    # -- reading back ----------------------------------------------------------------------------

    @property
    def view(self) -> SqliteView:
        return SqliteView(self._opened, self._opened_path, self._driver, self._driver.reader)

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        with self._our_errors(), transaction(self._opened) as db:
            yield db

    @contextmanager
    def _our_errors(self) -> Iterator[None]:
        """Damage that a write meets is recorded, too: the next sync may not read that page."""
        try:
            with our_errors(self._opened_path), not_damage(self._opened_path):
                yield
        except IndexUnreadable as error:
            if is_damage(error):
                self._folder.mark_suspect(self._opened_path)
            raise

    def replace(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        chunks: Sequence[Chunk],
        session: SessionFacts = NO_SESSION,
    ) -> None:
        old: dict[str, list[int]] = {}
        # Descending, so that `pop` takes the oldest: of equal chunks the first keeps its id.
        sql = "SELECT id, hash FROM chunks WHERE path = ? ORDER BY id DESC"
        for chunk_id, chunk_digest in select(self._opened, sql, (path,)):
            old.setdefault(chunk_digest, []).append(chunk_id)
        name = index_words(path)  # Once for the note, not for each chunk.
        for chunk in chunks:
            same = old.get(chunk.digest)
            if same:
                self._move(same.pop(), chunk)
            else:
                self._insert(path, source, name, chunk)
        self._remove([chunk_id for ids in old.values() for chunk_id in ids])
        self.note_seen(path, source, digest, stat, session)

    def _move(self, chunk_id: int, chunk: Chunk) -> None:
        # Equal digest, equal text: its words and its vector stay, only the lines have changed.
        self._opened.execute(
            "UPDATE chunks SET start_line = ?, end_line = ?, piece = ?, line_offset = ?, "
            "said_at = ? WHERE id = ?",
            (*chunk.span, int(chunk.piece), chunk.offset, chunk.said_at, chunk_id),
        )

    def _insert(self, path: str, source: Source, name: str, chunk: Chunk) -> None:
        db = self._opened
        db.execute(
            "INSERT INTO chunks "
            "(path, source, start_line, end_line, hash, heading, text, piece, line_offset, "
            "said_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                source,
                *chunk.span,
                chunk.digest,
                chunk.heading,
                chunk.text,
                int(chunk.piece),
                chunk.offset,
                chunk.said_at,
            ),
        )
        db.execute(
            "INSERT INTO chunks_fts (rowid, source, body, heading, name) VALUES (?, ?, ?, ?, ?)",
            (db.last_insert_rowid(), *row_words(source, name, chunk.text, chunk.heading)),
        )

    def _remove(self, ids: Sequence[int]) -> None:
        self._driver.remove(self._opened, ids)
        for table, key in (("chunks_fts", "rowid"), ("chunk_windows", "id"), ("chunks", "id")):
            self._opened.executemany(
                f"DELETE FROM {table} WHERE {key} = ?",  # noqa: S608 - all names stand above
                ((chunk_id,) for chunk_id in ids),
            )

    def note_seen(
        self,
        path: str,
        source: Source,
        digest: str,
        stat: NoteStat,
        session: SessionFacts = NO_SESSION,
    ) -> None:
        # Clamped, not refused: a wrong clock must not keep a note from being indexed.
        mtime, ctime = min(stat.mtime_ns, LATEST_NS), min(stat.ctime_ns, LATEST_NS)
        self._opened.execute(
            "INSERT OR REPLACE INTO files "
            "(path, source, hash, size, mtime, ctime, inode, day, folder, host) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                source,
                digest,
                stat.size,
                mtime,
                ctime,
                str(stat.inode),
                session.day.isoformat() if session.day else None,
                session.folder,
                session.host,
            ),
        )

    def mark_unread(self, path: str, digests: Sequence[str]) -> None:
        if not digests:
            return
        # Only chunks that wait: one that has a vector keeps it.
        self._opened.execute(
            "UPDATE chunks SET embedded = ? WHERE path = ? AND embedded = ? "
            "AND hash IN (SELECT value FROM json_each(?))",
            (UNREAD, path, WAITING, json.dumps(digests)),
        )

    def forget(self, paths: Iterable[str]) -> None:
        for path in paths:
            rows = select(self._opened, "SELECT id FROM chunks WHERE path = ?", (path,))
            self._remove([row[0] for row in rows])
            self._opened.execute("DELETE FROM files WHERE path = ?", (path,))

    def add_vectors(
        self, chunks: Sequence[StoredChunk], vectors: Vectors, windows: Sequence[bytes] = ()
    ) -> int:
        # By id and digest: a chunk may have been replaced while its text was being embedded.
        waiting = dict(
            select(
                self._opened,
                "SELECT id, hash FROM chunks WHERE embedded = 0 "
                "AND id IN (SELECT value FROM json_each(?))",
                (json.dumps([chunk.id for chunk in chunks]),),
            )
        )
        rows = [
            number for number, chunk in enumerate(chunks) if waiting.get(chunk.id) == chunk.digest
        ]
        for source in sorted({chunks[number].source for number in rows}):
            of_source = [number for number in rows if chunks[number].source == source]
            ids = [chunks[number].id for number in of_source]
            self._driver.add(self._opened, source, ids, vectors[of_source])
            self._opened.executemany(
                "UPDATE chunks SET embedded = 1 WHERE id = ?", ((chunk_id,) for chunk_id in ids)
            )
        self._opened.executemany(
            "INSERT INTO chunk_windows VALUES (?, ?)",
            (
                (chunks[number].id, windows[number])
                for number in rows
                if windows and windows[number]
            ),
        )
        return len(rows)

    def set_cosine_scale(self, scale: CosineScale) -> None:
        self._put_meta(SCALE_KEY, scale._asdict())

    def _put_meta(self, key: str, value: Mapping[str, object]) -> None:
        self._opened.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, json.dumps(value))
        )
