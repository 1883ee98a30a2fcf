"""`wirewright flow run --batch`: each line of a file through one flow on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.errors import FAILED, BadUsage
from cli.jobs.results import Line, ResultsFile
from cli.output.streams import clear_progress, paced_progress, print_json, print_message
from runtime.jobs.job import ENDED, JobState
from server.routes.jobs.batches import BatchEstimate, BatchInput

if TYPE_CHECKING:
    from cli.documents.running import Batched
    from flows.document import JsonObject
    from runtime.options import RunOptions
    from runtime.results import RunResult
    from runtime.usage.log import UsageLog


@dataclass(frozen=True)
class BatchOptions:
    """How a batch is run.

    Attributes:
        inputs: the inputs, one of each line of the file.
        source: that file.
        out: the file for the results, a line of JSON each; one that is there is gone on with.
        ceiling_tokens: how many tokens it may use; None for any number.
        estimate: whether only to say what it is likely to use.
        retry_failed: whether what has failed or was cancelled is run again, too.
        as_json: whether to print a document.
    """

    inputs: Sequence[BatchInput]
    source: Path
    out: Path | None
    ceiling_tokens: int | None
    estimate: bool
    retry_failed: bool
    as_json: bool


class LocalBatch:
    """A batch on this machine, whose results are its journal: it resumes where it was interrupted.

    Args:
        options: how it is run.
        flow: the flow's document: results of another flow are not gone on with.
    """

    def __init__(self, options: BatchOptions, flow: JsonObject) -> None:
        assert options.out is not None  # noqa: S101  (the command has checked it)
        self._options = options
        self._inputs = options.inputs
        self._file = ResultsFile(options.out)
        of_flow = hashlib.sha256(f"{json.dumps(flow, sort_keys=True)}\n".encode())
        self._keys: list[str] = []
        for one in self._inputs:
            of_input = of_flow.copy()
            of_input.update(one.model_dump_json().encode())
            self._keys.append(of_input.hexdigest()[:16])
        self._lines: dict[int, Line] = {}
        self._counts = Counter[JobState]()
        self._tokens = 0
        self._show = paced_progress()

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
        self._resume()
        waiting = iter([position for position in range(len(self._inputs)) if position not in self._lines])
        if self._lines:
            print_message(f"{len(self._lines)} of {len(self._inputs)} inputs have ended already.")

        async def take() -> None:
            for position in waiting:
                if self._is_spent:
                    return
                self._counts["running"] += 1
                self._show(self._progress)
                line = await self._item(position, execute, options, usage)
                self._counts["running"] -= 1
                self._add(line)
                self._file.append([line])
                self._show(self._progress)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, places)):
                    group.create_task(take())
        except asyncio.CancelledError:
            print_message(
                f"{len(self._lines)} of {len(self._inputs)} inputs have ended; their results are in {self._file.path}. "
                "The same command goes on with the rest."
            )
            raise
        finally:
            clear_progress()
        self._write()
        return self._summary()

    @property
    def _progress(self) -> str:
        return progress_line(len(self._inputs), self._counts, self._tokens)

    @property
    def _is_spent(self) -> bool:
        return self._options.ceiling_tokens is not None and self._tokens >= self._options.ceiling_tokens

    def _resume(self) -> None:
        """Take over what an earlier call has left of this batch."""
        for line in self._file.read(keyed=True):
            position = int(line["position"])
            is_same = 0 <= position < len(self._keys) and self._keys[position] == str(line["key"])
            if is_same and position not in self._lines and (line["state"] == "done" or not self._options.retry_failed):
                self._add(line)
        self._write()

    def _add(self, line: Line) -> None:
        self._lines[line["position"]] = line
        self._counts[line["state"]] += 1
        self._tokens += _tokens(line)

    def _write(self) -> None:
        self._file.write(self._lines[position] for position in sorted(self._lines))

    async def _item(
        self,
        position: int,
        execute: Callable[[str | None, RunOptions], Coroutine[Any, Any, RunResult]],
        options: RunOptions,
        usage: UsageLog,
    ) -> Line:
        from runtime.files.folders import LOCAL_USER
        from runtime.usage.runs import usage_of_run

        given = self._inputs[position]
        tweaks = {**(options.tweaks or {}), **given.tweaks}
        own = replace(options, tweaks=tweaks, session=given.session_id or options.session)
        result = await execute(given.input_value, own)
        usage.record(LOCAL_USER, usage_of_run(result))
        error = None if result.error is None else f"{result.error.message} {result.error.fix}".strip()
        return {
            "position": position,
            "state": "done" if error is None else "failed",
            "result": replace(result, nodes={}).to_json(),
            "error": error,
            "attempts": 1,
            "key": self._keys[position],
        }

    def _summary(self) -> Batched:
        from cli.documents.running import Batched

        done, failed = self._counts["done"], self._counts["failed"]
        waiting = len(self._inputs) - len(self._lines)
        return Batched(
            ok=done == len(self._inputs),
            id="",
            total=len(self._inputs),
            done=done,
            failed=failed,
            waiting=waiting,
            tokens=self._tokens,
            reason="It has used as many tokens as it may." if waiting and self._is_spent else "",
            out=str(self._options.out),
        )


def progress_line(total: int, counts: Mapping[JobState, int], tokens: int) -> str:
    """How far a batch is, in a line.

    Args:
        total: how many inputs there are.
        counts: how many of them are in each state.
        tokens: how many tokens were used.
    """
    ended = {state: counts[state] for state in ENDED if counts.get(state)}
    of_them = f" ({', '.join(f'{count} {state}' for state, count in ended.items())})" if ended else ""
    running = f", {counts['running']} running" if counts.get("running") else ""
    return f"{sum(ended.values())} of {total} inputs have ended{of_them}{running}; {tokens:,} tokens"


def needs_out(options: BatchOptions) -> None:
    """Refuse a batch whose results would go nowhere.

    Raises:
        BadUsage: no file for them is named.
    """
    if options.out is None and not options.estimate:
        fix = "Add --out results.jsonl; the same command continues it."
        raise BadUsage("usage", "The results of a batch need a file.", fix=fix, where="--out")


def print_estimate(estimate: BatchEstimate, *, as_json: bool) -> None:
    """Print what a batch is likely to use."""
    if as_json:
        print_json(estimate)
    elif estimate.tokens is None:
        print_message(f"{estimate.inputs} inputs. Nothing is known of what they use: the flow has not run yet.")
    else:
        learnt = "by its last run" if estimate.runs == 1 else f"by its last {estimate.runs} runs"
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


def _tokens(line: Line) -> int:
    metrics = line["result"]["metrics"]
    return int(metrics["input_tokens"]) + int(metrics["output_tokens"])
