"""`flow run --batch --server`: a batch at a server, followed while it is there and its results written as they come."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from cli.errors import BadUsage, CommandError
from cli.jobs.batch import print_batched, print_estimate, progress_line
from cli.jobs.parts import BatchParts
from cli.jobs.results import ResultsFile
from cli.output.streams import clear_progress, paced_progress, print_message
from cli.remote.connection import Server, segment
from cli.remote.stores.flows import FLOWS
from runtime.jobs.job import ENDED
from server.routes.jobs.batches import BATCHES, BatchEntry, BatchEstimate, BatchLine, BatchRequest

if TYPE_CHECKING:
    from cli.jobs.batch import BatchOptions
    from flows.document import Flow

T = TypeVar("T")

POLL_SECONDS: Final = 0.5
"""How often a server is asked how a batch stands while inputs end."""

SLOW_POLL_SECONDS: Final = 2.0
"""How often it is asked at least; in between, the pauses grow by half."""

PAGE: Final = 200
"""How many results are read at once."""

OWN: Final = frozenset({"ceiling_tokens", "first", "total"})
"""What of a request does not name its batch."""

AWAY_SECONDS: Final = 900.0
"""For how long a server that does not answer is asked again."""

AWAY: Final = frozenset(
    {"connection_lost", "server_unreachable", "server_timeout", "server_failed", "store_unavailable"}
)
"""Errors that pass when the server is back."""


def run_at_server(server: Server, flow_id: str, flow: Flow, request: BatchRequest, options: BatchOptions) -> None:
    """Run a batch at a server, wait for it, and write its results as they come.

    The batch is named after the flow as it is and its inputs, so that the same command again goes on with the same one,
    and begins another one when the flow has changed.

    Args:
        server: the server.
        flow_id: the stored flow.
        flow: the flow as it is stored now.
        request: asks for the batch.
        options: how it is run.
    """
    place = f"{FLOWS}/{segment(flow_id)}/batch"
    if options.estimate:
        parts = BatchParts(request, options.source)
        part = request if parts.is_one else parts.largest
        try:
            found = server.change(BatchEstimate, "POST", place, part)
        except CommandError as error:
            if error.code != "too_large":
                raise
            parts.too_large(part)
            found = server.change(BatchEstimate, "POST", place, parts.largest)
        print_estimate(found, as_json=options.as_json)
        return
    written = json.dumps(flow.raw, sort_keys=True)
    asked = request.model_dump_json(exclude={*OWN})
    name = hashlib.sha256(f"{flow_id}\n{written}\n{asked}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    parts = BatchParts(request.model_copy(update={"id": name}), options.source)
    _Followed(server, name, options).run(place, parts)


class _Followed:
    """A batch at a server, and the file for its results."""

    def __init__(self, server: Server, name: str, options: BatchOptions) -> None:
        assert options.out is not None  # noqa: S101  (the command has checked it)
        self._server, self._name, self._options = server, name, options
        self._file = ResultsFile(options.out)
        self._place = f"{BATCHES}/{segment(name)}"
        self._known = set[int]()
        self._show = paced_progress()

    def run(self, place: str, parts: BatchParts) -> None:
        """Begin it, or go on with it, and follow it to its end.

        Args:
            place: where batches of the flow are begun.
            parts: asks for it.
        """
        self._file.read(keyed=False)
        try:
            batch = self._follow(self._begun(place, parts))
            clear_progress()
            self._write_all()
        except KeyboardInterrupt:
            clear_progress()
            print_message(f"The batch goes on at {self._server.origin}, without this command. {self._commands}")
            raise
        self._print(batch)

    @property
    def _commands(self) -> str:
        at = f"{self._name} --server {self._server.origin}"
        return (
            "The same command again follows it and completes the file. "
            f"To see how it stands: wirewright jobs show {at}\nTo end it: wirewright jobs cancel {at}"
        )

    def _begun(self, place: str, parts: BatchParts) -> BatchEntry:
        batch = self._first(place, parts)
        self._file.write(())
        if comes_in_parts := not parts.are_sent:
            self._announce(batch)
        while not parts.are_sent:
            self._show(progress_line(batch.total, batch.counts, batch.tokens))
            batch = self._part(place, parts)
        states = ["cancelled"] if batch.reason else []
        states += ["failed", "cancelled"] if self._options.retry_failed else []
        if batch.ended and states:
            asked = {"states": sorted(set(states)), "ceiling_tokens": self._options.ceiling_tokens}
            more = {name: value for name, value in asked.items() if value is not None}
            batch = self._again(lambda: self._server.change(BatchEntry, "POST", f"{self._place}/retry", more))
        if not comes_in_parts:
            self._announce(batch)
        return batch

    def _announce(self, batch: BatchEntry) -> None:
        ended = _ended(batch)
        already = f", of which {ended} have ended already" if ended else ""
        print_message(f"Batch {batch.id} at {self._server.origin}: {batch.total} inputs{already}.")

    def _first(self, place: str, parts: BatchParts) -> BatchEntry:
        """The batch, once the server has the first part, or all, of its inputs; none is run if one is too large."""
        is_checked = parts.is_one
        while True:
            try:
                if not is_checked:
                    self._sent(place, parts, BatchEstimate, parts.largest)
                    is_checked = True
                batch = self._sent(place, parts, BatchEntry)
            except BadUsage:
                raise
            except CommandError as error:
                if error.code == "too_large":
                    is_checked = False
                    continue
                if error.code == "queue_full" and parts.too_many(parts.next):
                    continue
                if error.code in ("connection_lost", "server_timeout"):
                    error.fix = f"{error.fix} The same command again goes on with the batch, if it has begun."
                raise
            if batch.total != parts.total:  # a server of an earlier version, to which this part is the batch
                self._server.change(BatchEntry, "POST", f"{self._place}/cancel", {})
                raise parts.refused
            return batch

    def _part(self, place: str, parts: BatchParts) -> BatchEntry:
        """The batch, once the server has the next part."""
        while True:
            try:
                return self._again(lambda: self._sent(place, parts, BatchEntry))
            except BadUsage:
                raise
            except CommandError as error:
                if error.code == "queue_full":
                    self._wait_for_room(parts)
                elif error.code != "too_large":
                    raise

    def _wait_for_room(self, parts: BatchParts) -> None:
        """Wait until enough of the batch has ended for a smaller part: so many jobs of a user may wait."""
        parts.too_many(parts.next)
        batch = self._again(lambda: self._server.read(BatchEntry, self._place))
        enough = batch.counts.get("queued", 0) // 2
        time.sleep(POLL_SECONDS)
        self._follow(batch, lambda now: now.counts.get("queued", 0) <= enough)

    def _sent(self, place: str, parts: BatchParts, kind: type[T], request: BatchRequest | None = None) -> T:
        """Send the next part of it, or another request; one that is too large is made smaller for the next time."""
        part = request or parts.next
        try:
            reply = self._server.change(kind, "POST", place, part)
        except CommandError as error:
            if error.code == "too_large":
                parts.too_large(part)
            raise
        if request is None:
            parts.taken()
        return reply

    def _follow(self, batch: BatchEntry, until: Callable[[BatchEntry], bool] = lambda _: False) -> BatchEntry:
        """The batch, once nothing more comes of it; results are written meanwhile."""
        pause = POLL_SECONDS
        while not (batch.ended or until(batch)):
            self._show(progress_line(batch.total, batch.counts, batch.tokens))
            if _ended(batch) > len(self._known):
                self._collect()
                pause = POLL_SECONDS
            time.sleep(pause)
            pause = min(pause * 1.5, SLOW_POLL_SECONDS)
            batch = self._again(lambda: self._server.read(BatchEntry, self._place))
        return batch

    def _collect(self) -> None:
        """Add the results that have come to the file, beginning where the first one is missing."""
        after = next(place for place in range(len(self._known) + 1) if place not in self._known) - 1
        while True:
            query = {"after": after, "limit": PAGE}
            reply = self._again(lambda query=query: self._server.send("GET", f"{self._place}/results", params=query))
            lines = [BatchLine.model_validate_json(line) for line in reply.text.splitlines()]
            new = [line for line in lines if line.state in ENDED and line.position not in self._known]
            self._file.append(line.model_dump(mode="json") for line in new)
            self._known.update(line.position for line in new)
            if not new or len(lines) < PAGE:
                return
            after = lines[-1].position

    def _write_all(self) -> None:
        """Write all results in their order: what has come may have changed since, by a retry from elsewhere."""
        text = self._again(lambda: self._server.send("GET", f"{self._place}/results")).text
        lines = [BatchLine.model_validate_json(line) for line in text.splitlines()]
        self._file.write(line.model_dump(mode="json") for line in lines)

    def _again(self, ask: Callable[[], T]) -> T:
        """Ask the server, again and again while it does not answer.

        Raises:
            CommandError: it refuses, or has not answered for a long time.
        """
        deadline, pause = None, POLL_SECONDS
        while True:
            try:
                return ask()
            except CommandError as error:
                if error.code not in AWAY:
                    raise
                now = time.monotonic()
                if deadline is None:
                    deadline = now + AWAY_SECONDS
                    clear_progress()
                    print_message(
                        f"{error.message} The batch {self._name} goes on once the server is there; trying again."
                    )
                if now >= deadline:
                    raise CommandError(error.code, error.message, fix=self._commands, where=error.where) from None
                time.sleep(pause)
                pause = min(pause * 1.5, SLOW_POLL_SECONDS)

    def _print(self, batch: BatchEntry) -> None:
        from cli.documents.running import Batched

        done, failed = batch.counts.get("done", 0), batch.counts.get("failed", 0)
        ended = Batched(
            ok=done == batch.total,
            id=batch.id,
            total=batch.total,
            done=done,
            failed=failed,
            waiting=batch.total - done - failed,
            tokens=batch.tokens,
            reason=batch.reason,
            out=str(self._file.path),
        )
        print_batched(ended, as_json=self._options.as_json)


def _ended(batch: BatchEntry) -> int:
    return sum(batch.counts.get(state, 0) for state in ENDED)
