"""Encrypts what earlier versions stored as it was: conversations, and the keys in flows."""

from alembic import op

from runtime.database.migrations import documents_of
from runtime.database.sealed_rows import seal_rows

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Encrypt every row that is not."""
    seal_rows(op.get_bind(), documents_of())
