"""The transcripts of conversations; those of earlier conversations are made when they are first asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "transcripts",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("updated_at", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("preview", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "session", name="pk_transcripts"),
    )
    op.create_index("ix_transcripts_owner_updated_at", "transcripts", ["owner", "updated_at"])
    op.create_table(
        "transcript_messages",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("before", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("number", name="pk_transcript_messages"),
        sa.UniqueConstraint("owner", "session", "id", name="uq_transcript_messages_owner_session_id"),
    )
    columns = ["owner", "session", "number"]
    op.create_index("ix_transcript_messages_owner_session_number", "transcript_messages", columns)
