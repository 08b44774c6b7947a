"""The first characters of each post, by which it is known again."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add a column; no row is rewritten."""
    op.add_column("posts", sa.Column("text", sa.Text(), nullable=True))
