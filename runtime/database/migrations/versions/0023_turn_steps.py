"""Steps of durable turns, recorded beside their turns."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0021"

_WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "turn_steps",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("first", _WHOLE, nullable=False),
        sa.Column("last", _WHOLE, nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "turn", "first", name="pk_turn_steps"),
    )
