"""`python -m benchmarks --against COMMIT`: this checkout beside another commit."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from time import perf_counter

from benchmarks.against.process import ProcessFailed, output_of
from benchmarks.against.provider import provider
from benchmarks.against.report import document, table
from benchmarks.against.rounds import measure
from benchmarks.against.side import Side
from benchmarks.against.stages import STAGES
from benchmarks.against.worktree import Worktree, WorktreeError, git
from benchmarks.checkout import ROOT

NAMES = [metric.name for stage in STAGES for metric in stage.metrics]


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Without arguments: every comparison with what Wirewright builds on. With --against: this checkout "
        "beside another commit, by turns in one run, through the command line, HTTP and the Python face.",
    )
    made.add_argument("--against", metavar="COMMIT", required=True, help="what to compare with: whatever git knows")
    made.add_argument("--rounds", metavar="N", type=positive, help="rounds of each metric, in place of its own number")
    made.add_argument(
        "--only", metavar="NAME", nargs="+", default=[], choices=NAMES, help=f"only these metrics: {', '.join(NAMES)}"
    )
    made.add_argument("--json", metavar="FILE", type=Path, help="write the figures of every round there")
    made.add_argument("--remove", action="store_true", help="remove the commit's worktree and measure nothing")
    return made


def positive(text: str) -> int:
    """A whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def main(arguments: Sequence[str]) -> int:
    """Compare and print; the exit code is 0 whatever the ratios say, and 2 when there is nothing to compare with."""
    asked = parser().parse_args(arguments)
    try:
        worktree = Worktree.of(ROOT, asked.against)
        if asked.remove:
            print(f"{'Removed' if worktree.remove() else 'There is no'} {worktree.folder}", file=sys.stderr)
            return 0
        cache = Path(os.environ.get("WIREWRIGHT_CACHE") or ROOT / ".cache" / "wirewright").resolve()
        say(f"Preparing {worktree.folder}")
        worktree.prepare(cache)
        return asyncio.run(_compare(asked, worktree, cache))
    except (WorktreeError, ProcessFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


async def _compare(asked: argparse.Namespace, worktree: Worktree, cache: Path) -> int:
    ours = Side(name="ours", root=ROOT, cache=cache)
    theirs = Side(name="theirs", root=worktree.folder, cache=worktree.cache)
    for side in (ours, theirs):
        await output_of(side, str(side.wirewright), "runner", "install")
    started = perf_counter()
    async with provider() as base:
        sides = (replace(ours, models=f"{base}/ours/v1"), replace(theirs, models=f"{base}/theirs/v1"))
        found = await measure(STAGES, sides, only=asked.only, rounds=asked.rounds, say=say)
    seconds = perf_counter() - started
    head, changed = git(ROOT, "rev-parse", "HEAD"), bool(git(ROOT, "status", "--porcelain"))
    print(f"ours: {head[:12]}{' with changes' if changed else ''}   theirs: {worktree.commit[:12]}   ({seconds:.0f} s)")
    print(*table(found), sep="\n")
    if asked.json is not None:
        whole = {"ours": head, "changed": changed, "theirs": worktree.commit, "metrics": document(found)}
        asked.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


def say(progress: str) -> None:
    """Tell on standard error what begins, and when."""
    print(f"{datetime.now().astimezone():%H:%M:%S} {progress}", file=sys.stderr, flush=True)
