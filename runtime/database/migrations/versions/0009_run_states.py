"""How runs stand, when they began and what they gave; and the turn that stored a version of a flow."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0007"

_META = sa.MetaData()
_RUNS = sa.Table("runs", _META, *(sa.Column(name, sa.String()) for name in ("at", "error", "state", "started_at")))
_REVISIONS = sa.Table("flow_revisions", _META, sa.Column("turn", sa.String()))


def upgrade() -> None:
    """Add the columns: what is stored has ended, and when it began is not known."""
    for name in ("state", "started_at", "seen_at", "detail"):
        op.add_column("runs", sa.Column(name, sa.String(), nullable=True))
    op.add_column("flow_revisions", sa.Column("turn", sa.String(), nullable=True))
    ended = sa.case((_RUNS.c.error.is_(None), "succeeded"), else_="failed")
    op.execute(sa.update(_RUNS).values(state=ended, started_at=_RUNS.c.at))
    op.execute(sa.update(_REVISIONS).values(turn=""))
    with op.batch_alter_table("runs") as runs:
        runs.alter_column("state", existing_type=sa.String(), nullable=False)
        runs.alter_column("started_at", existing_type=sa.String(), nullable=False)
        runs.create_index("ix_runs_seen_at", ["seen_at"])
    with op.batch_alter_table("flow_revisions") as revisions:
        revisions.alter_column("turn", existing_type=sa.String(), nullable=False)
