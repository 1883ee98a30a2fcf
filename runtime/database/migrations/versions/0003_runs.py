"""The log of runs."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("input", sa.String(), nullable=True),
        sa.Column("output", sa.String(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_runs"),
    )
    op.create_index("ix_runs_owner_number", "runs", ["owner", "number"])
    op.create_index("ix_runs_owner_id", "runs", ["owner", "id"])
