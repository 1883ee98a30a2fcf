"""The tables. A change here needs a migration, which `alembic revision --autogenerate` drafts."""

from sqlalchemy import BigInteger, ColumnClause, Index, UniqueConstraint

from runtime.database.base import Base, column, refers_to


class FlowRow(Base):
    """A stored flow: its document, and what lists show.

    Attributes:
        built_with: the digests of the catalogue's code in it, as JSON; None when they were not noted.
    """

    __tablename__ = "flows"

    id: ColumnClause[str] = column(primary_key=True)
    owner: ColumnClause[str]
    name: ColumnClause[str]
    node_count: ColumnClause[int]
    edge_count: ColumnClause[int]
    version: ColumnClause[int]
    updated_at: ColumnClause[str]
    document: ColumnClause[str]
    built_with: ColumnClause[str | None]

    __table_args__ = (Index(None, "owner", "updated_at"),)


class RevisionRow(Base):
    """A flow as it was at one version.

    Attributes:
        owner: the user.
        flow: the flow's id.
        version: the version.
        at: when it was stored, ISO 8601 in UTC.
        author: `client` for a request that wrote the flow, `assistant` for a turn.
        session: the conversation of the turn, or empty.
        turn: the id of the turn, or empty.
        name: the flow's name then.
        node_count: how many nodes it had.
        edge_count: how many edges it had.
        document: the flow, with its keys encrypted.
    """

    __tablename__ = "flow_revisions"

    owner: ColumnClause[str] = column(primary_key=True)
    flow: ColumnClause[str] = column(primary_key=True, info=refers_to("flows"))
    version: ColumnClause[int] = column(primary_key=True)
    at: ColumnClause[str]
    author: ColumnClause[str]
    session: ColumnClause[str]
    turn: ColumnClause[str]
    name: ColumnClause[str]
    node_count: ColumnClause[int]
    edge_count: ColumnClause[int]
    document: ColumnClause[str]


class ConversationRow(Base):
    """A conversation as JSON.

    Attributes:
        set_aside: when it was found unreadable, ISO 8601 in UTC; empty for a conversation that is in use.
        used: grows with each use; the least recently used conversation has the smallest.
        waiting: whether something in it waits for the user's answer; None when that was not noted.
    """

    __tablename__ = "conversations"

    owner: ColumnClause[str] = column(primary_key=True)
    session: ColumnClause[str] = column(primary_key=True)
    set_aside: ColumnClause[str] = column(primary_key=True, default="")
    used: ColumnClause[int] = column(index=True)
    document: ColumnClause[str]
    waiting: ColumnClause[bool | None]


class FlowSessionRow(Base):
    """A session of a flow, whose messages outlive its runs.

    Attributes:
        number: the key that messages refer to.
        owner: the user.
        flow: the id of a stored flow, or the key of another one.
        session: the session's id.
        used: grows with each use; the least recently used session has the smallest.
        updated_at: when it was last written, ISO 8601 in UTC.
        messages: how many messages it has.
        bytes: how much they take.
    """

    __tablename__ = "flow_sessions"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    session: ColumnClause[str]
    used: ColumnClause[int]
    updated_at: ColumnClause[str]
    messages: ColumnClause[int]
    bytes: ColumnClause[int]

    __table_args__ = (UniqueConstraint("owner", "flow", "session"), Index(None, "owner", "used"))


class MessageRow(Base):
    """A message of a session of a flow.

    Attributes:
        number: the order of storing.
        owner: the user, who is the owner of its session.
        session: the number of its session.
        id: the id that runs see.
        sender: whose it is.
        sender_name: the name to show.
        text: what it says.
        context: the context id, or empty.
        timestamp: when it was written, in UTC.
        size: bytes that it counts for.
    """

    __tablename__ = "messages"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    session: ColumnClause[int] = column(info=refers_to("flow_sessions"))
    id: ColumnClause[str]
    sender: ColumnClause[str]
    sender_name: ColumnClause[str]
    text: ColumnClause[str]
    context: ColumnClause[str]
    timestamp: ColumnClause[str]
    size: ColumnClause[int]

    __table_args__ = (Index(None, "owner", "session", "number"),)


class RunRow(Base):
    """A run of a flow.

    Attributes:
        number: the order of storing.
        owner: the user.
        state: how it stands: `running`, or how it ended.
        started_at: when it began, ISO 8601 in UTC.
        at: when it ended; while it runs, when it began.
        seen_at: when the process that has it was last known to be there; null once it has ended.
        detail: what it gave beside its output, as JSON; null while it runs, and for runs of earlier versions.
        stop_asked: whether another server has asked that it is ended.
    """

    __tablename__ = "runs"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    id: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    name: ColumnClause[str]
    session: ColumnClause[str]
    source: ColumnClause[str]
    input: ColumnClause[str | None]
    output: ColumnClause[str | None]
    error: ColumnClause[str | None]
    milliseconds: ColumnClause[int]
    input_tokens: ColumnClause[int]
    output_tokens: ColumnClause[int]
    at: ColumnClause[str]
    state: ColumnClause[str]
    started_at: ColumnClause[str]
    seen_at: ColumnClause[str | None]
    detail: ColumnClause[str | None]
    stop_asked: ColumnClause[bool | None]

    __table_args__ = (Index(None, "owner", "number"), Index(None, "owner", "id"), Index(None, "seen_at"))


class UserRow(Base):
    """A user beside the first one.

    Attributes:
        id: what the user's data is stored under.
        name: the name.
        folded: the name in lower case, which is unique.
        digest: SHA-256 of the token, in hexadecimal.
        scopes: the names of the scopes, separated by spaces.
        created_at: when the user was added, ISO 8601 in UTC.
        expires_at: when the token ends, if it does.
        revoked_at: when the token was revoked, if it was.
    """

    __tablename__ = "users"

    id: ColumnClause[str] = column(primary_key=True)
    name: ColumnClause[str]
    folded: ColumnClause[str] = column(unique=True)
    digest: ColumnClause[str]
    scopes: ColumnClause[str]
    created_at: ColumnClause[str]
    expires_at: ColumnClause[str | None]
    revoked_at: ColumnClause[str | None]


class UsageRow(Base):
    """What a user has used on one day by one model.

    Attributes:
        owner: the user.
        day: the day in UTC, `YYYY-MM-DD`.
        model: the model, `provider:name`, or `flows` for the models inside flows.
        nano_dollars: the known cost.
        unpriced: how often tokens were used at a price that is not known.
    """

    __tablename__ = "usage"

    owner: ColumnClause[str] = column(primary_key=True)
    day: ColumnClause[str] = column(primary_key=True)
    model: ColumnClause[str] = column(primary_key=True)
    input_tokens: ColumnClause[int] = column(BigInteger)
    output_tokens: ColumnClause[int] = column(BigInteger)
    cached_tokens: ColumnClause[int] = column(BigInteger)
    requests: ColumnClause[int] = column(BigInteger)
    turns: ColumnClause[int] = column(BigInteger)
    runs: ColumnClause[int] = column(BigInteger)
    nano_dollars: ColumnClause[int] = column(BigInteger)
    unpriced: ColumnClause[int] = column(BigInteger)

    __table_args__ = (Index(None, "day"),)


class IdempotencyKeyRow(Base):
    """A request that named an `Idempotency-Key`, and its answer.

    Attributes:
        owner: the user.
        key: the key.
        state: `running`, `answered`, `streamed`, or `not_kept` for an answer that is too large.
        fingerprint: a digest of the request; empty while it runs.
        answer: the answer, encrypted; empty when there is none.
        created_at: when the request began, in seconds since the epoch.
    """

    __tablename__ = "idempotency_keys"

    owner: ColumnClause[str] = column(primary_key=True)
    key: ColumnClause[str] = column(primary_key=True)
    state: ColumnClause[str]
    fingerprint: ColumnClause[str]
    answer: ColumnClause[str]
    created_at: ColumnClause[int] = column(BigInteger, index=True)


class TurnRow(Base):
    """A turn that was asked for over HTTP, whose events can be read for some time.

    Attributes:
        owner: the user.
        id: the turn's id, unique for its owner.
        session: SHA-256 of the conversation's id, in hexadecimal.
        server: the server that takes the turn.
        state: `running`, or the kind of its last event.
        last: the number of the last event, if the turn has ended.
        started_at: when its first events were stored, ISO 8601 in UTC.
        ended_at: when its last event was.
        stop_asked: whether another server has asked that it is ended.
        attempt: counts the processes that have taken a durable turn, from 1; what an earlier one writes is refused.
            Null for a turn that ends with its process.
        tries: how often the step that it is at has been begun.
        step: the number of steps that were recorded when the last process took it.
    """

    __tablename__ = "turns"

    owner: ColumnClause[str] = column(primary_key=True)
    id: ColumnClause[str] = column(primary_key=True)
    session: ColumnClause[str]
    server: ColumnClause[str]
    state: ColumnClause[str]
    last: ColumnClause[int]
    started_at: ColumnClause[str]
    ended_at: ColumnClause[str | None] = column(index=True)
    stop_asked: ColumnClause[bool | None]
    attempt: ColumnClause[int | None]
    tries: ColumnClause[int | None]
    step: ColumnClause[int | None]

    __table_args__ = (Index(None, "owner", "session"), Index(None, "server", "state"))


class TurnEventsRow(Base):
    """Events of a turn that were written together.

    Attributes:
        owner: the user.
        turn: the turn's id.
        first: the number of the first of them.
        last: the number of the last of them.
        document: the events, one line of JSON each, encrypted.
    """

    __tablename__ = "turn_events"

    owner: ColumnClause[str] = column(primary_key=True)
    turn: ColumnClause[str] = column(primary_key=True)
    first: ColumnClause[int] = column(primary_key=True)
    last: ColumnClause[int]
    document: ColumnClause[str]


class TranscriptRow(Base):
    """What lists show of a conversation. It outlives what a model is told of the conversation.

    Attributes:
        owner: the user.
        session: the conversation's id.
        created_at: when its first message was sent, ISO 8601 in UTC.
        updated_at: when its last turn ended.
        flow: the stored flow that its last message was about, or empty.
        messages: how many messages it has.
        title: what it is called, encrypted.
        preview: the beginning of what was said last and whether a question waits, as encrypted JSON.
    """

    __tablename__ = "transcripts"

    owner: ColumnClause[str] = column(primary_key=True)
    session: ColumnClause[str] = column(primary_key=True)
    created_at: ColumnClause[str]
    updated_at: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    messages: ColumnClause[int]
    title: ColumnClause[str]
    preview: ColumnClause[str]

    __table_args__ = (Index(None, "owner", "updated_at"),)


class TranscriptMessageRow(Base):
    """A message of a conversation with everything that came of it.

    Attributes:
        number: the order of storing.
        owner: the user.
        session: the conversation's id.
        id: the message's id: that of the turn that it began.
        at: when that turn ended, ISO 8601 in UTC.
        flow: the stored flow that it was about, or empty.
        version: the version of that flow before the message; null without one.
        document: the message's parts, as encrypted JSON.
        before: the conversation as it was before the message, encrypted; null where that is not kept.
    """

    __tablename__ = "transcript_messages"

    number: ColumnClause[int] = column(primary_key=True, autoincrement=True)
    owner: ColumnClause[str]
    session: ColumnClause[str]
    id: ColumnClause[str]
    at: ColumnClause[str]
    flow: ColumnClause[str] = column(info=refers_to("flows"))
    version: ColumnClause[int | None]
    document: ColumnClause[str]
    before: ColumnClause[str | None]

    __table_args__ = (UniqueConstraint("owner", "session", "id"), Index(None, "owner", "session", "number"))


class ServerRow(Base):
    """A server that takes turns.

    Attributes:
        id: names it in its turns.
        seen_at: when it was last known to be there, on the database's clock.
        queues: the queues of which it does jobs, separated by spaces; null for one that does none.
    """

    __tablename__ = "servers"

    id: ColumnClause[str] = column(primary_key=True)
    seen_at: ColumnClause[str]
    queues: ColumnClause[str | None]


class SecretRow(Base):
    """What a user keeps secret of one kind.

    Attributes:
        owner: the user.
        kind: `variables`, or `providers` for the keys of model providers.
        document: the values by name, or by provider and name, as encrypted JSON.
    """

    __tablename__ = "secrets"

    owner: ColumnClause[str] = column(primary_key=True)
    kind: ColumnClause[str] = column(primary_key=True)
    document: ColumnClause[str]
