"""The documents of servers: their tokens, and the flows that they store."""

from typing_extensions import TypedDict

from agent.models.overview import Overview
from runtime.jobs.job import Job
from server.routes.flows.models import SkippedFlow, StaleFlow
from server.routes.health import Readiness
from server.routes.installation.bundles import BundleEntry
from server.routes.installation.evaluations import EvaluationFile
from server.routes.installation.users import UserEntry
from server.routes.jobs.batches import BatchEntry
from server.store.flows import FlowEntry, Revision


class ServerReport(TypedDict):
    """How a server is: `ok` when everything works, and both have the same release.

    `user` and `models` are null for a server that does not say so.
    """

    ok: bool
    server: str
    release: str
    own_release: str
    readiness: Readiness
    user: UserEntry | None
    models: Overview | None


class BundleList(TypedDict):
    """The bundles of component types, by name."""

    bundles: list[BundleEntry]


class EvaluationList(TypedDict):
    """The files of evaluations, last written first."""

    evaluations: list[EvaluationFile]


class SignedIn(TypedDict):
    """The server that a token was kept for."""

    server: str


class SignedOut(TypedDict):
    """The server whose token was removed."""

    removed: str


class ServerList(TypedDict):
    """The servers that a token is kept for."""

    servers: list[str]


class StoredFlows(TypedDict):
    """Flows that a server stores, without their documents, and how many there are in all."""

    flows: list[FlowEntry]
    total: int


class StaleFlows(TypedDict):
    """Flows that a server stores with components of an earlier engine, and how many there are in all."""

    flows: list[StaleFlow]
    total: int


class ImportedFlows(TypedDict):
    """Flows that a server has stored, how many they are, and what of an archive is no flow."""

    flows: list[FlowEntry]
    total: int
    skipped: list[SkippedFlow]


class FlowWritten(TypedDict):
    """A stored flow that was written to `out`."""

    id: str
    version: int
    out: str


class Revisions(TypedDict):
    """The versions of a stored flow that are kept, latest first."""

    revisions: list[Revision]


class JobList(TypedDict):
    """Jobs, latest first, and batches, latest first; the totals are how many there are in all."""

    jobs: list[Job]
    total: int
    batches: list[BatchEntry]
    total_batches: int
