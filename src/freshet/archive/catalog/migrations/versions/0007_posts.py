"""The posts of threads, each with the visit that found it, and where threads continue."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add two tables; no row is rewritten."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "posts",
        sa.Column("page_id", number, nullable=False),
        sa.Column("identity", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("author", sa.Text(), nullable=True),
        sa.Column("visit_id", number, nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_posts_page_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["visit_id"], ["visits.id"], name=op.f("fk_posts_visit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", "identity", name=op.f("pk_posts")),
    )
    op.create_index("ix_posts_visit_id", "posts", ["visit_id"])
    op.create_table(
        "threads",
        sa.Column("page_id", number, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("next_page", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_threads_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_threads")),
    )
