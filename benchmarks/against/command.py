"""`python -m benchmarks --against COMMIT`: this checkout compared with another commit."""

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
from benchmarks.against.report import document, figures, table
from benchmarks.against.rounds import measure
from benchmarks.against.side import Side
from benchmarks.against.suites import SUITES
from benchmarks.against.worktree import Worktree, WorktreeError, git
from scripts.checkout import ROOT

ALONE = 4
"""Rounds of each metric when this checkout is measured alone."""
NAMES = [metric.name for suite in SUITES for metric in suite.metrics]


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Without arguments: every benchmark of this checkout. With --against: this checkout compared with "
        "another commit, alternately in one run, through the command line, HTTP and the Python face.",
    )
    options.add_argument("--against", metavar="COMMIT", required=True, help="what to compare with: whatever git knows")
    options.add_argument("--rounds", metavar="N", type=positive, help="rounds of each metric, instead of its default")
    options.add_argument(
        "--only", metavar="NAME", nargs="+", default=[], choices=NAMES, help=f"only these metrics: {', '.join(NAMES)}"
    )
    options.add_argument("--json", metavar="FILE", type=Path, help="write the figures of every round there")
    options.add_argument("--remove", action="store_true", help="remove the commit's worktree and measure nothing")
    return options


def positive(text: str) -> int:
    """A whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def main(arguments: Sequence[str]) -> int:
    """Compare and print; the exit code is 0 whatever the ratios say, and 2 when there is nothing to compare with."""
    options = parser().parse_args(arguments)
    try:
        worktree = Worktree.of(ROOT, options.against)
        if options.remove:
            print("Removed" if worktree.remove() else "Nothing to remove:", worktree.folder, file=sys.stderr)
            return 0
        cache = _cache()
        say(f"Preparing {worktree.folder}")
        worktree.prepare(cache)
        return asyncio.run(_compare(options, worktree, cache))
    except (WorktreeError, ProcessFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


async def measure_checkout() -> list[str]:
    """Measure every metric of this checkout alone, one per line."""
    async with provider() as base:
        ours = replace(checkout(), models=f"{base}/ours/v1")
        return figures(await measure(SUITES, [ours], rounds=ALONE, say=say))


def checkout() -> Side:
    """This checkout."""
    return Side(name="ours", root=ROOT, cache=_cache())


def _cache() -> Path:
    return Path(os.environ.get("WIREWRIGHT_CACHE") or ROOT / ".cache" / "wirewright").resolve()


async def _compare(options: argparse.Namespace, worktree: Worktree, cache: Path) -> int:
    ours = Side(name="ours", root=ROOT, cache=cache)
    theirs = Side(name="theirs", root=worktree.folder, cache=worktree.cache)
    for side in (ours, theirs):
        await output_of(side, str(side.wirewright), "runner", "install")
    started = perf_counter()
    async with provider() as base:
        sides = (replace(ours, models=f"{base}/ours/v1"), replace(theirs, models=f"{base}/theirs/v1"))
        found = await measure(SUITES, sides, only=options.only, rounds=options.rounds, say=say)
    seconds = perf_counter() - started
    head, changed = git(ROOT, "rev-parse", "HEAD"), bool(git(ROOT, "status", "--porcelain"))
    print(f"ours: {head[:12]}{' with changes' if changed else ''}   theirs: {worktree.commit[:12]}   ({seconds:.0f} s)")
    print(*table(found), sep="\n")
    if options.json is not None:
        whole = {"ours": head, "changed": changed, "theirs": worktree.commit, "metrics": document(found)}
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


def say(progress: str) -> None:
    """Print the time and what begins on standard error."""
    print(f"{datetime.now().astimezone():%H:%M:%S} {progress}", file=sys.stderr, flush=True)
