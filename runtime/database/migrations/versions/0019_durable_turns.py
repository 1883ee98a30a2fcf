"""Turns that another process goes on with, and what their steps have stored."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0017"


def upgrade() -> None:
    """Add the columns and the table."""
    for name in ("attempt", "tries", "step"):
        op.add_column("turns", sa.Column(name, sa.Integer(), nullable=True))
    op.create_table(
        "turn_effects",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "turn", "step", name="pk_turn_effects"),
    )
