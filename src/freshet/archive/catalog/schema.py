"""The tables of the catalog, the same in every database.

Times are epoch seconds, hashes are signed 64-bit integers, JSON is text. ``VERSION`` grows by one
with every migration; a test checks that the migrations create exactly these tables.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

VERSION = 8

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
# In SQLite, only a key of type INTEGER is the fast row number itself.
Id = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData(naming_convention=NAMES)

counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("last", Id, nullable=False),
)

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

pages = Table(
    "pages",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("host", Text, nullable=False, index=True),
    Column("site", Text, nullable=False),
    Column("directory", Text, nullable=False),
    Column("added", Double, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("removed", Double),
    Column("settings", Text, nullable=False),
    Column("asked", Double),
    UniqueConstraint("url", "source"),
)
# Partial indexes on the few pages with these columns set: a crawl queries them often.
Index(
    "ix_pages_asked",
    pages.c.asked,
    sqlite_where=pages.c.asked.is_not(None),
    postgresql_where=pages.c.asked.is_not(None),
)
Index(
    "ix_pages_paused",
    pages.c.paused,
    sqlite_where=text("paused = 1"),
    postgresql_where=pages.c.paused,
)
Index(
    "ix_pages_removed",
    pages.c.removed,
    sqlite_where=pages.c.removed.is_not(None),
    postgresql_where=pages.c.removed.is_not(None),
)
Index(
    "ix_pages_settings",
    pages.c.source,
    sqlite_where=text("settings != '{}'"),
    postgresql_where=text("settings != '{}'"),
)

tags = Table(
    "tags",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True, index=True),
)

tag_settings = Table(
    "tag_settings",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("settings", Text, nullable=False),
)

files = Table(
    "files",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("source", Text, nullable=False),
)

visits = Table(
    "visits",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), nullable=False),
    Column("time", Double, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("status", Integer),
    Column("size", BigInteger),
    Column("digest", LargeBinary(20)),
    Column("media_type", Text, nullable=False),
    Column("file_id", Id, ForeignKey(files.c.id)),
    Column("offset", BigInteger),
    Column("length", BigInteger),
    Column("final_url", Text),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("why", Text),
)
# The outcome is part of the index, so that looks are counted without reading the table.
Index("ix_visits_page_id_time", visits.c.page_id, visits.c.time, visits.c.outcome)
Index(
    "ix_visits_digest",
    visits.c.digest,
    sqlite_where=visits.c.digest.is_not(None),
    postgresql_where=visits.c.digest.is_not(None),
)
Index(
    "ix_visits_file_id_offset",
    visits.c.file_id,
    visits.c.offset,
    sqlite_where=visits.c.file_id.is_not(None),
    postgresql_where=visits.c.file_id.is_not(None),
)

changes = Table(
    "changes",
    metadata,
    Column("visit_id", Id, ForeignKey(visits.c.id, ondelete="CASCADE"), primary_key=True),
    Column("page_id", Id, nullable=False),
    Column("since", Id),
    Column("changed", Boolean, nullable=False),
    Column("mask", Integer, nullable=False),
    Column("bytes", Boolean),
    Column("text", Boolean),
    Column("significant", Boolean),
    Column("structure", Boolean),
    Column("links", Boolean),
    Column("moved", Boolean, nullable=False),
    Column("dice", Double),
    Column("words", Integer),
    Column("new_internal", Integer),
    Column("new_external", Integer),
    Column("never_seen", Integer),
    Column("removed_links", Integer),
)

facts = Table(
    "facts",
    metadata,
    Column("visit_id", Id, ForeignKey(visits.c.id, ondelete="CASCADE"), primary_key=True),
    Column("page_id", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("text_hash", BigInteger, nullable=False),
    Column("structure_hash", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("text_chars", BigInteger, nullable=False),
    Column("words", Integer, nullable=False),
    Column("distinct_words", Integer, nullable=False),
    Column("links_internal", Integer, nullable=False),
    Column("links_external", Integer, nullable=False),
    Column("elements", Integer, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("truncated", Boolean, nullable=False),
)

link_events = Table(
    "link_events",
    metadata,
    Column("visit_id", Id, ForeignKey(visits.c.id, ondelete="CASCADE"), primary_key=True),
    Column("page_id", Id, nullable=False, index=True),
    Column("added", LargeBinary, nullable=False),
    Column("removed", LargeBinary, nullable=False),
)

posts = Table(
    "posts",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("identity", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("author", Text),
    Column("visit_id", Id, ForeignKey(visits.c.id, ondelete="CASCADE"), nullable=False),
    Column("text", Text),
)
Index("ix_posts_visit_id", posts.c.visit_id)

threads = Table(
    "threads",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("next_page", Text),
)

found_pages = Table(
    "found_pages",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("found_on", Id, nullable=False),
    Column("tag", Text, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("found", Double, nullable=False),
    Index("ix_found_pages_tag_found", "tag", "found"),
)

waiting_links = Table(
    "waiting_links",
    metadata,
    Column("tag", Text, primary_key=True),
    Column("url", Text, primary_key=True),
    Column("found_on", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), nullable=False, index=True),
    Column("depth", Integer, nullable=False),
    Column("found", Double, nullable=False),
)

masks = Table(
    "masks",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("made", Double, nullable=False),
    Column("body", Text, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("worker", Text, nullable=False, index=True),
    Column("taken", Double, nullable=False),
    Column("until", Double, nullable=False),
)

hosts = Table(
    "hosts",
    metadata,
    Column("host", Text, primary_key=True),
    Column("next_allowed", Double),
    Column("delay", Double),
    Column("failures", Integer, nullable=False),
    Column("backoff_until", Double),
    Column("robots", Text, nullable=False),
)

spending = Table(
    "spending",
    metadata,
    Column("day", Text, primary_key=True),
    Column("requests", Integer, nullable=False),
    Column("apart", Integer, nullable=False),
    Column("samples", Integer, nullable=False, server_default=text("0")),
    Column("exploratory", Integer, nullable=False, server_default=text("0")),
)

rounds = Table(
    "rounds",
    metadata,
    Column("page_id", Id, ForeignKey(pages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("kind", Text),
    Column("due", Double, nullable=False),
    Column("step", Integer, nullable=False),
    Column("began", Double),
    Column("is_quick", Boolean, nullable=False),
    Column("finished", Integer, nullable=False),
    Column("pauses", Integer, nullable=False),
    Column("first", Id),
    Column("last", Id),
    Column("offset", Double, nullable=False),
    Column("apart", Boolean, nullable=False),
    Column("out", Integer, nullable=False),
)
# Few samples are outstanding at a time, and every batch of visits queries them.
Index(
    "ix_rounds_out",
    rounds.c.out,
    sqlite_where=text("out > 0"),
    postgresql_where=text("out > 0"),
)

samples = Table(
    "samples",
    metadata,
    Column("visit_id", Id, ForeignKey(visits.c.id, ondelete="CASCADE"), primary_key=True),
    Column("page_id", Id, nullable=False, index=True),
    Column("first", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("offset", Double, nullable=False),
    Column("apart", Boolean, nullable=False),
)

imports = Table(
    "imports",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("started", Double, nullable=False),
    Column("finished", Double),
    Column("counts", Text, nullable=False),
)

bad_rows = Table(
    "bad_rows",
    metadata,
    Column("id", Id, primary_key=True),
    Column(
        "import_id", Id, ForeignKey(imports.c.id, ondelete="CASCADE"), nullable=False, index=True
    ),
    Column("place", Text, nullable=False),
    Column("why", Text, nullable=False),
)
