"""The tables. A change here needs a migration, which `alembic revision --autogenerate` drafts."""

from sqlalchemy import Index, MetaData
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The base of the tables: constraints have names, so that migrations can refer to them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class FlowRow(Base):
    """A stored flow: its document, and what lists show."""

    __tablename__ = "flows"

    id: Mapped[str] = mapped_column(primary_key=True)
    owner: Mapped[str]
    name: Mapped[str]
    node_count: Mapped[int]
    edge_count: Mapped[int]
    version: Mapped[int]
    updated_at: Mapped[str]
    document: Mapped[str]

    __table_args__ = (Index(None, "owner", "updated_at"),)


class ConversationRow(Base):
    """A conversation as JSON.

    Attributes:
        set_aside: when it was found unreadable, ISO 8601 in UTC; empty for a conversation that is in use.
        used: grows with each use; the least recently used conversation has the smallest.
    """

    __tablename__ = "conversations"

    owner: Mapped[str] = mapped_column(primary_key=True)
    session: Mapped[str] = mapped_column(primary_key=True)
    set_aside: Mapped[str] = mapped_column(primary_key=True, default="")
    used: Mapped[int] = mapped_column(index=True)
    document: Mapped[str]
