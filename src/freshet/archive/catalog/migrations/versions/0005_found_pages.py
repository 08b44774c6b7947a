"""Pages that were found as new links of other pages."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add a table; no row is rewritten."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "found_pages",
        sa.Column("page_id", number, nullable=False),
        sa.Column("found_on", number, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("found", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["pages.id"], name=op.f("fk_found_pages_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("page_id", name=op.f("pk_found_pages")),
    )
    op.create_index("ix_found_pages_tag_found", "found_pages", ["tag", "found"])
