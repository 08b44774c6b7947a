"""Bursts of looks close together: the progress of each page, and which visits were samples."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add two tables and a column; no row is rewritten."""
    op.add_column(
        "spending", sa.Column("samples", sa.Integer(), nullable=False, server_default=sa.text("0"))
    )
    _rounds()
    _samples()


def _rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("page_id", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=True),
        sa.Column("due", sa.Double(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("began", sa.Double(), nullable=True),
        sa.Column("is_quick", sa.Boolean(), nullable=False),
        sa.Column("finished", sa.Integer(), nullable=False),
        sa.Column("pauses", sa.Integer(), nullable=False),
        sa.Column("first", ID, nullable=True),
        sa.Column("last", ID, nullable=True),
        sa.Column("offset", sa.Double(), nullable=False),
        sa.Column("apart", sa.Boolean(), nullable=False),
        sa.Column("out", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_rounds_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_rounds")),
    )
    op.create_index(
        op.f("ix_rounds_out"),
        "rounds",
        ["out"],
        unique=False,
        sqlite_where=sa.text("out > 0"),
        postgresql_where=sa.text("out > 0"),
    )


def _samples() -> None:
    op.create_table(
        "samples",
        sa.Column("visit_id", ID, nullable=False),
        sa.Column("page_id", ID, nullable=False),
        sa.Column("first", ID, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("offset", sa.Double(), nullable=False),
        sa.Column("apart", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["visit_id"], ["visits.id"], name=op.f("fk_samples_visit_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("visit_id", name=op.f("pk_samples")),
    )
    op.create_index(op.f("ix_samples_page_id"), "samples", ["page_id"], unique=False)
