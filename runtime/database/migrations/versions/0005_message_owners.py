"""The owner of each message: the one of its session. Messages without a session, which nobody can read, are deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_META = sa.MetaData()
_SESSIONS = sa.Table("flow_sessions", _META, sa.Column("number", sa.Integer()), sa.Column("owner", sa.String()))
_MESSAGES = sa.Table("messages", _META, sa.Column("session", sa.Integer()), sa.Column("owner", sa.String()))


def upgrade() -> None:
    """Add the column, fill it, and index messages by it."""
    op.add_column("messages", sa.Column("owner", sa.String(), nullable=True))
    owner = sa.select(_SESSIONS.c.owner).where(_SESSIONS.c.number == _MESSAGES.c.session).scalar_subquery()
    op.execute(sa.update(_MESSAGES).values(owner=owner))
    op.execute(sa.delete(_MESSAGES).where(_MESSAGES.c.owner.is_(None)))
    with op.batch_alter_table("messages") as messages:
        messages.alter_column("owner", existing_type=sa.String(), nullable=False)
        messages.drop_index("ix_messages_session_number")
        messages.create_index("ix_messages_owner_session_number", ["owner", "session", "number"])
