"""Jobs that wait in queues, batches of them, and what queues them by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "jobs",
        sa.Column("number", _WHOLE, autoincrement=True, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("owner", "id", "kind", "queue", "state")),
        sa.Column("rank", _WHOLE, nullable=False),
        sa.Column("tag", _WHOLE, nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("batch", sa.String(), nullable=False),
        sa.Column("position", _WHOLE, nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("attempts", _WHOLE, nullable=False),
        sa.Column("milliseconds", _WHOLE, nullable=False),
        sa.Column("queued_at", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=True),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.Column("stop_asked", sa.Boolean(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("result", sa.String(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("tokens", _WHOLE, nullable=False),
        sa.Column("nano_dollars", _WHOLE, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_jobs"),
        sa.UniqueConstraint("owner", "id", name="uq_jobs_owner_id"),
    )
    for columns in (
        ("queue", "state", "rank", "tag", "number"),
        ("owner", "queue", "state", "rank", "tag"),
        ("owner", "batch", "position"),
        ("state", "worker"),
        ("state", "ended_at"),
    ):
        op.create_index(f"ix_jobs_{'_'.join(columns)}", "jobs", list(columns))
    op.create_table(
        "batches",
        sa.Column("number", _WHOLE, autoincrement=True, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("owner", "id", "flow")),
        sa.Column("version", _WHOLE, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("total", _WHOLE, nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("ceiling_tokens", _WHOLE, nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_batches"),
        sa.UniqueConstraint("owner", "id", name="uq_batches_owner_id"),
    )
    op.create_index("ix_batches_owner_number", "batches", ["owner", "number"])
    op.create_table(
        "schedules",
        *(sa.Column(name, sa.String(), nullable=False) for name in ("owner", "id", "kind", "flow", "cron", "zone")),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("next_at", sa.String(), nullable=True),
        sa.Column("last_at", sa.String(), nullable=True),
        sa.Column("last_job", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("document", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_schedules"),
    )
    op.create_index("ix_schedules_owner_created_at", "schedules", ["owner", "created_at"])
    op.create_index("ix_schedules_next_at", "schedules", ["next_at"])
