"""Columns for crawls: spending by day, requested visits, and why a visit was not a look."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add a table, columns, and partial indexes on pages; no row is rewritten."""
    op.create_table(
        "spending",
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("apart", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_spending")),
    )
    op.add_column("pages", sa.Column("asked", sa.Double(), nullable=True))
    op.add_column("visits", sa.Column("why", sa.Text(), nullable=True))
    _index("asked", "asked", "asked IS NOT NULL", "asked IS NOT NULL")
    _index("paused", "paused", "paused = 1", "paused")
    _index("removed", "removed", "removed IS NOT NULL", "removed IS NOT NULL")
    _index("settings", "source", "settings != '{}'", "settings != '{}'")


def _index(name: str, column: str, on_sqlite: str, on_postgresql: str) -> None:
    op.create_index(
        op.f(f"ix_pages_{name}"),
        "pages",
        [column],
        unique=False,
        sqlite_where=sa.text(on_sqlite),
        postgresql_where=sa.text(on_postgresql),
    )
