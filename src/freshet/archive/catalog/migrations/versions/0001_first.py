"""The first schema: pages, visits and their changes, the state of crawls, and imports."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create every table."""
    _create_pages()
    _create_visits()
    _create_findings()
    _create_crawling()
    _create_imports()


def _create_pages() -> None:
    op.create_table(
        "pages",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("site", sa.Text(), nullable=False),
        sa.Column("directory", sa.Text(), nullable=False),
        sa.Column("added", sa.Double(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("removed", sa.Double(), nullable=True),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("url", "source", name=op.f("uq_pages_url_source")),
    )
    op.create_index(op.f("ix_pages_host"), "pages", ["host"], unique=False)
    op.create_table(
        "tags",
        sa.Column("page_id", Id, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_tags_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "tag", name=op.f("pk_tags")),
    )
    op.create_index(op.f("ix_tags_tag"), "tags", ["tag"], unique=False)
    op.create_table(
        "tag_settings",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tag", name=op.f("pk_tag_settings")),
    )


def _create_visits() -> None:
    op.create_table(
        "files",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
        sa.UniqueConstraint("name", name=op.f("uq_files_name")),
    )
    op.create_table(
        "visits",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("uid", sa.LargeBinary(length=16), nullable=False),
        sa.Column("page_id", Id, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("digest", sa.LargeBinary(length=20), nullable=True),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("file_id", Id, nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=True),
        sa.Column("length", sa.BigInteger(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.UniqueConstraint("uid", name=op.f("uq_visits_uid")),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_visits_page_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name=op.f("fk_visits_file_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visits")),
    )
    op.create_index(
        "ix_visits_digest",
        "visits",
        ["digest"],
        unique=False,
        sqlite_where=sa.text("digest IS NOT NULL"),
        postgresql_where=sa.text("digest IS NOT NULL"),
    )
    op.create_index(
        "ix_visits_file_id_offset",
        "visits",
        ["file_id", "offset"],
        unique=False,
        sqlite_where=sa.text("file_id IS NOT NULL"),
        postgresql_where=sa.text("file_id IS NOT NULL"),
    )
    op.create_index(
        "ix_visits_page_id_time", "visits", ["page_id", "time", "outcome"], unique=False
    )


def _create_findings() -> None:
    op.create_table(
        "changes",
        sa.Column("visit_id", Id, nullable=False),
        sa.Column("page_id", Id, nullable=False),
        sa.Column("since", Id, nullable=True),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("mask", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Boolean(), nullable=True),
        sa.Column("text", sa.Boolean(), nullable=True),
        sa.Column("significant", sa.Boolean(), nullable=True),
        sa.Column("structure", sa.Boolean(), nullable=True),
        sa.Column("links", sa.Boolean(), nullable=True),
        sa.Column("moved", sa.Boolean(), nullable=False),
        sa.Column("dice", sa.Double(), nullable=True),
        sa.Column("words", sa.Integer(), nullable=True),
        sa.Column("new_internal", sa.Integer(), nullable=True),
        sa.Column("new_external", sa.Integer(), nullable=True),
        sa.Column("never_seen", sa.Integer(), nullable=True),
        sa.Column("removed_links", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["visit_id"], ["visits.id"], name=op.f("fk_changes_visit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("visit_id", name=op.f("pk_changes")),
    )
    op.create_table(
        "facts",
        sa.Column("visit_id", Id, nullable=False),
        sa.Column("page_id", Id, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.BigInteger(), nullable=False),
        sa.Column("structure_hash", sa.BigInteger(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("text_chars", sa.BigInteger(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("distinct_words", sa.Integer(), nullable=False),
        sa.Column("links_internal", sa.Integer(), nullable=False),
        sa.Column("links_external", sa.Integer(), nullable=False),
        sa.Column("elements", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["visit_id"], ["visits.id"], name=op.f("fk_facts_visit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("visit_id", name=op.f("pk_facts")),
    )
    op.create_table(
        "link_events",
        sa.Column("visit_id", Id, nullable=False),
        sa.Column("page_id", Id, nullable=False),
        sa.Column("added", sa.LargeBinary(), nullable=False),
        sa.Column("removed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["visit_id"], ["visits.id"], name=op.f("fk_link_events_visit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("visit_id", name=op.f("pk_link_events")),
    )
    op.create_index(op.f("ix_link_events_page_id"), "link_events", ["page_id"], unique=False)
    op.create_table(
        "masks",
        sa.Column("page_id", Id, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("made", sa.Double(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_masks_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "version", name=op.f("pk_masks")),
    )


def _create_crawling() -> None:
    op.create_table(
        "leases",
        sa.Column("page_id", Id, nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("taken", sa.Double(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_leases_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_leases")),
    )
    op.create_index(op.f("ix_leases_worker"), "leases", ["worker"], unique=False)
    op.create_table(
        "hosts",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("next_allowed", sa.Double(), nullable=True),
        sa.Column("delay", sa.Double(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("backoff_until", sa.Double(), nullable=True),
        sa.Column("robots", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_hosts")),
    )


def _create_imports() -> None:
    op.create_table(
        "imports",
        sa.Column("id", Id, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("finished", sa.Double(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
    )
    op.create_table(
        "bad_rows",
        sa.Column("id", Id, nullable=False),
        sa.Column("import_id", Id, nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_bad_rows_import_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bad_rows")),
    )
    op.create_index(op.f("ix_bad_rows_import_id"), "bad_rows", ["import_id"], unique=False)
    op.create_table(
        "meta",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_meta")),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last", Id, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
