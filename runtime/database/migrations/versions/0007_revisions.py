"""The earlier versions of flows; the history of each begins with what is stored now."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_META = sa.MetaData()
_COLUMNS = ("owner", "name", "node_count", "edge_count", "version", "document")
_FLOWS = sa.Table(
    "flows", _META, sa.Column("id", sa.String()), sa.Column("updated_at", sa.String()),
    *(sa.Column(name, sa.Integer() if name.endswith(("count", "version")) else sa.String()) for name in _COLUMNS),
)  # fmt: skip


def upgrade() -> None:
    """Create the table, and begin the history of each flow."""
    table = op.create_table(
        "flow_revisions",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=False),
        sa.Column("edge_count", sa.Integer(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "flow", "version", name="pk_flow_revisions"),
    )
    stored = sa.select(
        *(_FLOWS.c[name] for name in _COLUMNS),
        _FLOWS.c.id,
        _FLOWS.c.updated_at,
        sa.literal("client"),
        sa.literal(""),
    )
    op.execute(sa.insert(table).from_select([*_COLUMNS, "flow", "at", "author", "session"], stored))
