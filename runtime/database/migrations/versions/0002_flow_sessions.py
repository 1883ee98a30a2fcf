"""Sessions of flows and their messages."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "flow_sessions",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.String(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_flow_sessions"),
        sa.UniqueConstraint("owner", "flow", "session", name="uq_flow_sessions_owner_flow_session"),
    )
    op.create_index("ix_flow_sessions_owner_used", "flow_sessions", ["owner", "used"])
    op.create_table(
        "messages",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("session", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("sender", sa.String(), nullable=False),
        sa.Column("sender_name", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("context", sa.String(), nullable=False),
        sa.Column("timestamp", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_messages"),
    )
    op.create_index("ix_messages_session_number", "messages", ["session", "number"])
