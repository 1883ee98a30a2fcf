"""Answers to requests with an Idempotency-Key, the stock code of flows, and which conversations wait for an answer."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Create the table, and the columns of flows and conversations."""
    op.create_table(
        "idempotency_keys",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
    op.add_column("flows", sa.Column("built_with", sa.String(), nullable=True))
    op.add_column("conversations", sa.Column("waiting", sa.Boolean(), nullable=True))
