"""The servers that share the database, and turns and runs that another server is asked to stop."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Create the table, and the columns of turns and runs."""
    op.create_table(
        "servers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("seen_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_servers"),
    )
    op.add_column("turns", sa.Column("stop_asked", sa.Boolean(), nullable=True))
    op.add_column("runs", sa.Column("stop_asked", sa.Boolean(), nullable=True))
