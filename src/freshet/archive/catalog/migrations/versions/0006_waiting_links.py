"""New links that wait until the limits of their tag allow them."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a table, and delete a note that counted such links."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "waiting_links",
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("found_on", number, nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("found", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["found_on"], ["pages.id"], name=op.f("fk_waiting_links_found_on"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tag", "url", name=op.f("pk_waiting_links")),
    )
    op.create_index("ix_waiting_links_found_on", "waiting_links", ["found_on"])
    meta = sa.table("meta", sa.column("key"))
    op.execute(meta.delete().where(meta.c.key == "new links over the limits of their tags"))
