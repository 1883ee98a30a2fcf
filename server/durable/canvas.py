"""The stored flow of a durable turn: read and saved in steps, and saved as one revision."""

from __future__ import annotations

from dataclasses import asdict

from agent.contract.events import Stored
from agent.durable.patience import patient
from agent.durable.recorded import RecordedSteps
from flows.document import Flow
from flows.json_values import Json, as_object
from server.durable.journal import StepJournal
from server.store.flows import FlowEntry, FlowNotStored, FlowStore, RevisionNotKept, StoredFlow
from server.stored_canvas import StoredCanvas


class RecordedCanvas(StoredCanvas):
    """A stored flow during one durable turn.

    Args:
        loaded: the flow as the request found it.
        store: where it is stored.
        session: the conversation of the turn.
        nodes: how many components a stored flow may have; None for any number.
        journal: of the turn.
        steps: of the turn.
    """

    def __init__(
        self,
        loaded: StoredFlow,
        store: FlowStore,
        session: str,
        nodes: int | None,
        journal: StepJournal,
        steps: RecordedSteps,
    ) -> None:
        super().__init__(loaded, store, session, journal.turn, nodes)
        self._journal = journal
        self._steps = steps

    async def load(self) -> Flow:
        """Read the flow again."""

        async def work() -> Json:
            await super(RecordedCanvas, self).load()
            return {"entry": asdict(self._loaded.entry), "flow": self._loaded.flow.raw}

        found = as_object(await self._steps.value("flow", work))
        self._loaded = read_stored(found)
        return self._loaded.flow

    async def save(self, canvas: Flow) -> Stored:
        """Save the canvas as one revision, once."""
        if self._facts is not None:
            return self._facts

        async def work() -> Json:
            return self._written(await super(RecordedCanvas, self).save(canvas))

        async def done() -> Json:
            return self._written(await self._saved_before())

        found = as_object(await self._steps.outcome("save flow", None, work, done))
        if found.get("merged") is not None:
            self.merged = Flow.from_json(as_object(found["merged"]))
        self._facts = Stored.model_validate(found.get("stored"))
        return self._facts

    async def _replace(self, canvas: Flow, stored: Stored) -> Stored:
        """Store the canvas, once the database answers."""
        return await patient(lambda: super(RecordedCanvas, self)._replace(canvas, stored))

    def _written(self, facts: Stored) -> Json:
        merged = None if self.merged is None else self.merged.raw
        return {"stored": facts.model_dump(mode="json", exclude_unset=True), "merged": merged}

    async def _saved_before(self) -> Stored:
        """What came of saving, when the process that did it ended before that was recorded."""
        try:
            kept = await self._store.revisions(self.flow_id)
            version = next(one.version for one in kept if one.turn == self._journal.turn)
            _, flow = await self._store.at_version(self.flow_id, version)
        except (FlowNotStored, RevisionNotKept, StopIteration):
            return Stored(flow_id=self.flow_id, saved=True, version=None)
        others = version > self.version + 1
        self.merged = flow if others else None
        return Stored(flow_id=self.flow_id, saved=True, version=version, merged=others or None)


def read_stored(document: dict[str, Json]) -> StoredFlow:
    """A stored flow that was recorded."""
    entry = as_object(document.get("entry"))
    flow = Flow.from_json(as_object(document.get("flow")))
    return StoredFlow(
        entry=FlowEntry(
            id=str(entry.get("id")),
            name=str(entry.get("name")),
            node_count=len(flow.nodes),
            edge_count=len(flow.edges),
            version=int(str(entry.get("version"))),
            updated_at=str(entry.get("updated_at")),
        ),
        flow=flow,
    )
