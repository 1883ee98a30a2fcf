"""Which key the database is encrypted with, which queues a worker serves, and tries of jobs that do not count."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table, and add the columns."""
    op.create_table(
        "key_checks",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sealed", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_key_checks"),
    )
    op.add_column("servers", sa.Column("queues", sa.String(), nullable=True))
    op.add_column("jobs", sa.Column("spared", _WHOLE, nullable=True))
