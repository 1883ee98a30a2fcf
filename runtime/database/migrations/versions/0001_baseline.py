"""The first schema: flows and conversations, each with its owner."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "flows",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=False),
        sa.Column("edge_count", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_flows"),
    )
    op.create_index("ix_flows_owner_updated_at", "flows", ["owner", "updated_at"])
    op.create_table(
        "conversations",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("set_aside", sa.String(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "session", "set_aside", name="pk_conversations"),
    )
    op.create_index("ix_conversations_used", "conversations", ["used"])
