"""What the routes of Langflow servers take and give, as models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.contract.model import ContractModel, Received
from server.routes.flows.models import SeenVersion
from tools.json_types import FaultJson


class ConnectionRequest(BaseModel):
    """A Langflow server to connect.

    Attributes:
        url: its address.
        api_key: the key that is sent there; another address needs it again.
        insecure: whether the key may be sent without TLS beyond this machine.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: str
    api_key: str = Field(repr=False)
    insecure: bool = False


class ConnectionEntry(Received):
    """A Langflow server that is connected; its key is never shown.

    Attributes:
        name: what it is called here.
        url: its address.
    """

    name: str
    url: str


class ConnectionList(Received):
    """All connections, by name."""

    connections: list[ConnectionEntry]


class FlowThere(Received):
    """A flow of a Langflow server.

    Attributes:
        id: its id there.
        name: its name.
        folder: the project that it is in, if that is known.
        updated_at: when it was last changed, as the server says it.
    """

    id: str
    name: str
    folder: str | None
    updated_at: str | None


class FlowsThere(Received):
    """The flows of a Langflow server, last changed first."""

    flows: list[FlowThere]


class LinkRequest(ContractModel):
    """Links a stored flow to one of a Langflow server.

    Attributes:
        connection: what the server is called here.
        flow: the flow there, by id or name.
    """

    connection: str
    flow: str


class LinkState(Received):
    """How a stored flow and the one that it is linked to stand.

    Attributes:
        url: the server.
        flow: the flow's id there.
        name: its name there; null if it cannot be read.
        updated_at: when it had been changed last when both were the same.
        version: the version of the stored flow then.
        changed_here: whether the stored flow has changed since.
        moved: how the one there has changed since: not, only in looks, or in content; null if it cannot be read.
        problem: why it cannot be read, in words; null if it can.
    """

    url: str
    flow: str
    name: str | None
    updated_at: str
    version: int
    changed_here: bool
    moved: Literal["no", "layout", "content"] | None
    problem: str | None


class ReadRequest(SeenVersion):
    """Takes over what was changed there.

    Attributes:
        overwrite: whether that replaces what was changed here in the same places.
    """

    overwrite: bool = False


class ReadReply(Received):
    """What was taken over as the next version of the stored flow.

    Attributes:
        version: the version that is stored now.
        changes: what was changed here, in words.
    """

    version: int
    changes: list[str]


class SendRequest(SeenVersion):
    """Sends a stored flow to where it is linked to, as one update.

    Attributes:
        approved: whether it is sent although something that it names is missing there.
        preview: whether only to say what would be sent.
        overwrite: whether it replaces what was changed there in the same places.
        with_secrets: whether secrets that were typed into it are sent.
    """

    approved: bool = False
    preview: bool = False
    overwrite: bool = False
    with_secrets: bool = False


class SendReply(Received):
    """What was sent, or would be.

    Attributes:
        sent: whether something was.
        needs_approval: whether it waits for `approved`, because something that it names is missing there.
        moved: how the flow there had changed since both were the same.
        changes: what is changed there, in words.
        named: what is named otherwise there, in words.
        missing: what is not there.
        version: the version of the stored flow.
    """

    sent: bool
    needs_approval: bool
    moved: Literal["no", "layout", "content"]
    changes: list[str]
    named: list[str]
    missing: list[FaultJson]
    version: int
