"""The tables of what is known here of flows on Langflow servers."""

from sqlalchemy import ColumnClause, Index

from runtime.database.base import Base, column, refers_to


class LangflowBaseRow(Base):
    """A flow as it was on a Langflow server when it was pulled or sent, to compare with later.

    Attributes:
        owner: the user.
        digest: of its content.
        used: grows with each use; the least recently used one has the smallest.
        document: its content as JSON, without secrets.
    """

    __tablename__ = "langflow_bases"

    owner: ColumnClause[str] = column(primary_key=True)
    digest: ColumnClause[str] = column(primary_key=True)
    used: ColumnClause[int]
    document: ColumnClause[str]

    __table_args__ = (Index(None, "owner", "used"),)


class LangflowLinkRow(Base):
    """The flow on a Langflow server that a stored flow is linked to.

    Attributes:
        owner: the user.
        flow: the stored flow.
        version: the version of it that was the same as the one there.
        url: the server.
        there: the flow's id there.
        updated_at: when that had been changed last, as the server says it.
        base: its content then, as JSON without secrets.
    """

    __tablename__ = "langflow_links"

    owner: ColumnClause[str] = column(primary_key=True)
    flow: ColumnClause[str] = column(primary_key=True, info=refers_to("flows"))
    version: ColumnClause[int]
    url: ColumnClause[str]
    there: ColumnClause[str]
    updated_at: ColumnClause[str]
    base: ColumnClause[str]
