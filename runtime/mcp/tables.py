"""The tables of what MCP clients wait for and have made."""

from sqlalchemy import ColumnClause

from runtime.database.base import Base, column, refers_to


class McpCallRow(Base):
    """A call that waits for its user's answer, which comes with another request.

    Attributes:
        owner: the user.
        name: SHA-256 of the name that the client has for it, in hexadecimal.
        call: SHA-256 of the tool and its arguments, in hexadecimal.
        until: when it ends, in seconds since the epoch.
        document: what is asked, what was approved before and what is done, as encrypted JSON.
    """

    __tablename__ = "mcp_calls"

    owner: ColumnClause[str] = column(primary_key=True)
    name: ColumnClause[str] = column(primary_key=True)
    call: ColumnClause[str]
    until: ColumnClause[int] = column(index=True)
    document: ColumnClause[str]


class McpBaselineRow(Base):
    """A flow that a client works on: which version of it is the user's.

    Attributes:
        owner: the user.
        client: names the client.
        flow: the flow.
        before: the version that is the user's; null when the client has made the flow.
        version: the version that the client has stored.
        until: when all of the flow counts as the user's again, in seconds since the epoch.
    """

    __tablename__ = "mcp_baselines"

    owner: ColumnClause[str] = column(primary_key=True)
    client: ColumnClause[str] = column(primary_key=True)
    flow: ColumnClause[str] = column(primary_key=True, info=refers_to("flows"))
    before: ColumnClause[int | None]
    version: ColumnClause[int]
    until: ColumnClause[int] = column(index=True)
