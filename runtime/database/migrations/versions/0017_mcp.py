"""The calls of MCP clients that wait for an answer, and which flows clients have made or changed."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Create the tables."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "mcp_calls",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("until", number, nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "name", name="pk_mcp_calls"),
    )
    op.create_index("ix_mcp_calls_until", "mcp_calls", ["until"])
    op.create_table(
        "mcp_baselines",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("client", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("before", number, nullable=True),
        sa.Column("version", number, nullable=False),
        sa.Column("until", number, nullable=False),
        sa.PrimaryKeyConstraint("owner", "client", "flow", name="pk_mcp_baselines"),
    )
    op.create_index("ix_mcp_baselines_until", "mcp_baselines", ["until"])
