"""`wirewright flow run --batch`: each line of a file through one flow, here or at a server."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer
from pydantic import ValidationError

from cli.errors import FAILED, BadUsage, CommandError
from cli.output.streams import print_json, print_message, progress_bar
from runtime.files.atomic import write_atomically
from server.routes.jobs.batches import BATCHES, INPUTS, BatchEntry, BatchEstimate, BatchInput, BatchLine, BatchRequest

if TYPE_CHECKING:
    from cli.documents.running import Batched
    from cli.remote.connection import Server
    from flows.document import Flow, JsonObject
    from runtime.options import RunOptions
    from runtime.results import RunResult
    from runtime.usage.log import UsageLog

POLL_SECONDS: Final = 0.5
"""How often a server is asked how a batch stands."""

FILE_BYTES: Final = 64_000_000
"""How large a file of inputs may be."""


@dataclass(frozen=True)
class BatchOptions:
    """How a batch is run.

    Attributes:
        inputs: the file with the inputs, a line of JSON each.
        out: the file for the results, a line of JSON each; one that is there is gone on with.
        ceiling_tokens: how many tokens it may use; None for any number.
        estimate: whether only to say what it is likely to use.
        retry_failed: whether what has failed is run again, too.
        as_json: whether to print a document.
    """

    inputs: Path
    out: Path | None
    ceiling_tokens: int | None
    estimate: bool
    retry_failed: bool
    as_json: bool


def read_inputs(path: Path) -> list[BatchInput]:
    """The inputs of a batch: of each line the text to type, as JSON, or an object with `input_value` and more.

    Raises:
        BadUsage: the file or a line of it cannot be read.
    """
    try:
        if path.stat().st_size > FILE_BYTES:
            raise BadUsage("too_large", f"{path} is too large.", fix="Write several files.", where="--batch")
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError, ValueError):
        raise BadUsage(
            "unreadable", f"{path} cannot be read as text.", fix="Name a file of lines.", where="--batch"
        ) from None
    found: list[BatchInput] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
            found.append(BatchInput.model_validate({"input_value": value} if isinstance(value, str) else value))
        except (ValueError, RecursionError, ValidationError):
            fix = 'Write a JSON string, or an object such as {"input_value": "hi"}.'
            raise BadUsage("bad_input", f"Line {number} of {path} is not an input.", fix=fix, where="--batch") from None
    if not found:
        raise BadUsage("bad_input", "There is no input.", fix="Write one on each line.", where="--batch")
    return found


class LocalBatch:
    """A batch on this machine, whose results are its journal: it resumes where it was interrupted.

    Args:
        options: how it is run.
        inputs: its inputs.
        flow: the flow's document: results of another flow are not gone on with.
    """

    def __init__(self, options: BatchOptions, inputs: Sequence[BatchInput], flow: JsonObject) -> None:
        self._options = options
        self._inputs = inputs
        text = json.dumps(flow, sort_keys=True)
        self._keys = [hashlib.sha256(f"{text}\n{one.model_dump_json()}".encode()).hexdigest()[:16] for one in inputs]
        self._lines: dict[int, dict[str, Any]] = {}

    async def run(
        self,
        execute: Callable[[str | None, RunOptions], Coroutine[Any, Any, RunResult]],
        options: RunOptions,
        places: int,
        usage: UsageLog,
    ) -> Batched:
        """Run what is left.

        Args:
            execute: runs the flow.
            options: those of every run.
            places: how many runs go on at once.
            usage: counts what is used.
        """
        out = self._options.out
        assert out is not None  # noqa: S101  (the command has checked it)
        self._resume(out)
        left = [position for position in range(len(self._inputs)) if position not in self._lines]
        waiting = iter(left)
        with (
            out.open("a", encoding="utf-8") as file,
            progress_bar("Inputs", len(self._inputs), len(self._lines)) as advance,
        ):

            async def take() -> None:
                for position in waiting:
                    if self._is_spent:
                        return
                    line = await self._item(position, execute, options, usage)
                    file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                    file.flush()
                    advance()

            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, places)):
                    group.create_task(take())
        self._write(out)
        return self._summary()

    @property
    def _is_spent(self) -> bool:
        return self._options.ceiling_tokens is not None and self._tokens >= self._options.ceiling_tokens

    @property
    def _tokens(self) -> int:
        return sum(_tokens(line) for line in self._lines.values())

    def _resume(self, out: Path) -> None:
        """Read what an earlier call has left; the last line may have been cut off."""
        if not out.exists():
            return
        good = False
        for text in out.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                line = json.loads(text)
                position = int(line["position"])
                is_same = self._keys[position] == line["key"]
            except (ValueError, KeyError, TypeError, IndexError):
                continue
            good = True
            if is_same and (line["state"] == "done" or not self._options.retry_failed):
                self._lines[position] = line
        if not good and out.stat().st_size:
            raise BadUsage(
                "not_results", f"{out} is there, and holds no results.", fix="Name another file.", where="--out"
            )
        self._write(out)

    def _write(self, out: Path) -> None:
        ordered = (self._lines[position] for position in sorted(self._lines))
        text = "".join(f"{json.dumps(line, ensure_ascii=False, separators=(',', ':'))}\n" for line in ordered)
        write_atomically(out, text.encode(), permissions=None)

    async def _item(
        self,
        position: int,
        execute: Callable[[str | None, RunOptions], Coroutine[Any, Any, RunResult]],
        options: RunOptions,
        usage: UsageLog,
    ) -> dict[str, Any]:
        from runtime.files.folders import LOCAL_USER
        from runtime.usage.runs import usage_of_run

        given = self._inputs[position]
        tweaks = {**(options.tweaks or {}), **given.tweaks}
        own = replace(options, tweaks=tweaks, session=given.session_id or options.session)
        result = await execute(given.input_value, own)
        usage.record(LOCAL_USER, usage_of_run(result))
        error = None if result.error is None else f"{result.error.message} {result.error.fix}".strip()
        line = {
            "position": position,
            "state": "done" if error is None else "failed",
            "result": replace(result, nodes={}).to_json(),
            "error": error,
            "attempts": 1,
            "key": self._keys[position],
        }
        self._lines[position] = line
        return line

    def _summary(self) -> Batched:
        from cli.documents.running import Batched

        states = [line["state"] for line in self._lines.values()]
        waiting = len(self._inputs) - len(states)
        return Batched(
            ok=states.count("done") == len(self._inputs),
            id="",
            total=len(self._inputs),
            done=states.count("done"),
            failed=states.count("failed"),
            waiting=waiting,
            tokens=self._tokens,
            reason="It has used as many tokens as it may." if waiting and self._is_spent else "",
            out=str(self._options.out),
        )


def needs_out(options: BatchOptions) -> None:
    """Refuse a batch whose results would go nowhere.

    Raises:
        BadUsage: no file for them is named.
    """
    if options.out is None and not options.estimate:
        fix = "Add --out results.jsonl; the same command continues it."
        raise BadUsage("usage", "The results of a batch need a file.", fix=fix, where="--out")


def run_at_server(server: Server, flow_id: str, flow: Flow, request: BatchRequest, options: BatchOptions) -> None:
    """Run a batch at a server, wait for it, and write its results.

    The batch is named after the flow as it is and its inputs, so that the same command again goes on with the same one,
    and begins another one when the flow has changed.

    Args:
        server: the server.
        flow_id: the stored flow.
        flow: the flow as it is stored now.
        request: asks for the batch.
        options: how it is run.
    """
    from cli.documents.running import Batched
    from cli.remote.connection import segment
    from cli.remote.stores.flows import FLOWS

    place = f"{FLOWS}/{segment(flow_id)}/batch"
    if options.estimate:
        found = server.change(BatchEstimate, "POST", place, request)
        print_estimate(found, as_json=options.as_json)
        return
    written = json.dumps(flow.raw, sort_keys=True)
    asked = request.model_dump_json(exclude={"ceiling_tokens"})
    name = hashlib.sha256(f"{flow_id}\n{written}\n{asked}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    body = request.model_copy(update={"id": name}).model_dump(mode="json", exclude_none=True)
    batch = server.change(BatchEntry, "POST", place, body)
    there = f"{BATCHES}/{segment(batch.id)}"
    if batch.ended and (options.retry_failed or batch.reason):
        more = {} if options.ceiling_tokens is None else {"ceiling_tokens": options.ceiling_tokens}
        batch = server.change(BatchEntry, "POST", f"{there}/retry", more)
    batch = _followed(server, there, batch)
    lines = server.send("GET", f"{there}/results").text
    assert options.out is not None  # noqa: S101  (the command has checked it)
    for line in lines.splitlines():
        BatchLine.model_validate_json(line)
    write_atomically(options.out, lines.encode(), permissions=None)
    done, failed = batch.counts.get("done", 0), batch.counts.get("failed", 0)
    print_batched(
        Batched(
            ok=done == batch.total,
            id=batch.id,
            total=batch.total,
            done=done,
            failed=failed,
            waiting=batch.total - done - failed,
            tokens=batch.tokens,
            reason=batch.reason,
            out=str(options.out),
        ),
        as_json=options.as_json,
    )


def _followed(server: Server, place: str, batch: BatchEntry) -> BatchEntry:
    """A batch, once nothing more comes of it."""
    import time

    shown = _ended(batch)
    with progress_bar("Inputs", batch.total, shown) as advance:
        while not batch.ended:
            time.sleep(POLL_SECONDS)
            batch = server.read(BatchEntry, place)
            while shown < _ended(batch):
                shown += 1
                advance()
    return batch


def _ended(batch: BatchEntry) -> int:
    return batch.total - batch.counts.get("queued", 0) - batch.counts.get("running", 0)


def print_estimate(estimate: BatchEstimate, *, as_json: bool) -> None:
    """Print what a batch is likely to use."""
    if as_json:
        print_json(estimate)
    elif estimate.tokens is None:
        print_message(f"{estimate.inputs} inputs. Nothing is known of what they use: the flow has not run yet.")
    else:
        learnt = f"by the last {estimate.runs} runs"
        cost = "" if estimate.dollars is None else f", ${estimate.dollars:,.2f}"
        used = f"{estimate.tokens:,} tokens{cost} and {estimate.seconds} s"
        print_message(f"{estimate.inputs} inputs: about {used}, {learnt}.")


def print_batched(batched: Batched, *, as_json: bool) -> None:
    """Print what came of a batch; one that did not end well ends the command."""
    if as_json:
        print_json(batched)
    else:
        waiting = f", {batched['waiting']} not run" if batched["waiting"] else ""
        reason = f" {batched['reason']}" if batched["reason"] else ""
        print_message(
            f"{batched['done']} of {batched['total']} inputs done, {batched['failed']} failed{waiting}; "
            f"{batched['tokens']:,} tokens. Results: {batched['out']}.{reason}"
        )
    if not batched["ok"]:
        raise typer.Exit(FAILED)


def too_many(inputs: Sequence[BatchInput]) -> None:
    """Refuse more inputs than a server takes at once.

    Raises:
        CommandError: there are more.
    """
    if len(inputs) > INPUTS:
        message = f"A server takes at most {INPUTS:,} inputs in a batch; there are {len(inputs):,}."
        raise CommandError("too_many_inputs", message, fix="Write several files.")


def _tokens(line: dict[str, Any]) -> int:
    metrics = line["result"]["metrics"]
    return int(metrics["input_tokens"]) + int(metrics["output_tokens"])
