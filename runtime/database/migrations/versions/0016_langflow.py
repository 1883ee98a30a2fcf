"""What flows were like on Langflow servers, and which stored flows are linked to flows there."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "langflow_bases",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("used", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "digest", name="pk_langflow_bases"),
    )
    op.create_index("ix_langflow_bases_owner_used", "langflow_bases", ["owner", "used"])
    op.create_table(
        "langflow_links",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("there", sa.String(), nullable=False),
        sa.Column("updated_at", sa.String(), nullable=False),
        sa.Column("base", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "flow", name="pk_langflow_links"),
    )
