"""The events of turns that were asked for over HTTP."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "turns",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("owner", "id", name="pk_turns"),
    )
    op.create_index("ix_turns_ended_at", "turns", ["ended_at"])
    op.create_index("ix_turns_owner_session", "turns", ["owner", "session"])
    op.create_index("ix_turns_server_state", "turns", ["server", "state"])
    op.create_table(
        "turn_events",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "turn", "first", name="pk_turn_events"),
    )
