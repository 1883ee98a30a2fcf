"""Usage by user, day and model."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_COUNTS = (
    "input_tokens", "output_tokens", "cached_tokens", "requests", "turns", "runs", "nano_dollars", "unpriced",
)  # fmt: skip


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "usage",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTS),
        sa.PrimaryKeyConstraint("owner", "day", "model", name="pk_usage"),
    )
    op.create_index("ix_usage_day", "usage", ["day"])
