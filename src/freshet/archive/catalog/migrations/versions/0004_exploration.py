"""The number of exploratory requests of a day."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add a column; no row is rewritten."""
    op.add_column(
        "spending",
        sa.Column("exploratory", sa.Integer(), nullable=False, server_default=sa.text("0")),
    )
