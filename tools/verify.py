"""Verification: a new flow is checked, and run with a probe input, before it is presented."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.faults import Fault
from runtime.files.flow_files import without_file
from runtime.gateway.models import Budget
from runtime.guard import runnable
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.probes import Probe, probes_for
from tools.replies import errors, fault_lines
from tools.workbench import Emit, Workbench

PROBE_SECONDS = 30.0
"""The time limit of a verification run."""

PROBE_BUDGET = Budget(calls=20, tokens=100_000)
"""What a flow's models may use during a verification run."""

CORRECTABLE = frozenset({"code", "wiring", "missing_input"})
"""Run errors that another spec can correct; any other has a cause outside the flow and becomes a caveat."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The result of verifying a flow.

    Attributes:
        faults: structural errors; a flow with errors is not run.
        run: the last probe run, if there was one.
        probe: its input.
        answers: what each probe gave that gave what it should.
        caveat: why the flow could not be run to the end, in words for the user.
        disappointment: how what it gave falls short: no output, an error as text, or not what it should show.
    """

    faults: tuple[Fault, ...] = ()
    run: RunResult | None = None
    probe: Probe | None = None
    answers: tuple[tuple[Probe, RunResult], ...] = ()
    caveat: str | None = None
    disappointment: str = ""

    @property
    def ran_untrusted_code(self) -> bool:
        """Whether code that is not the catalogue's took part in a run: it can write its own result."""
        runs = [run for _, run in self.answers] + ([] if self.run is None else [self.run])
        return any(run.untrusted_code for run in runs)

    @property
    def to_correct(self) -> str:
        """What the model should correct, one fault a line; an empty text when there is nothing to correct."""
        if self.faults or self.caveat is not None or self.run is None or self.run.error is None:
            return fault_lines(self.faults)
        error = self.run.error
        return fault_lines([Fault(code=error.code, message=error.message, fix=error.fix, node=error.node)])


async def verify(
    emit: Emit, bench: Workbench, flow: Flow, probes: Mapping[str, str] = MappingProxyType({})
) -> Verification:
    """Check a flow and run it with each of its probes, within the budget of a verification.

    Args:
        emit: receives progress while the runner is being prepared.
        bench: has the turn's catalogue, runner and models, and counts what the run's models use.
        flow: the flow.
        probes: inputs to try, with what each output should contain.
    """
    faults = errors(bench.check(flow))
    if faults:
        return Verification(faults=faults)
    sampled = ", ".join(sorted(set(without_file(runnable(flow)))))
    if sampled and bench.attached:
        return Verification(faults=(_unnamed(sampled, bench),))
    if bench.run_later is not None and bench.runner.state == "installing":
        bench.run_later(flow)
        return Verification(caveat=_LATER)
    unavailable = await bench.wait_for_runner(emit)
    if unavailable is not None:
        remedy = unavailable.fix if unavailable.code == "refused" else ""  # what else is wrong may pass by itself
        return Verification(caveat=f"It was checked but not run: {unavailable.message} {remedy}".strip())
    found, answers = Verification(), list[tuple[Probe, RunResult]]()
    for probe in probes_for(flow, probes):
        found = await _probed(bench, flow, probe)
        if found.caveat or found.to_correct or found.disappointment or found.run is None:
            break
        answers.append((probe, found.run))
    return replace(found, answers=tuple(answers))


async def _probed(bench: Workbench, flow: Flow, probe: Probe) -> Verification:
    """Run a flow with one probe."""
    models = bench.models and replace(bench.models, budget=PROBE_BUDGET)
    options = RunOptions(timeout=PROBE_SECONDS, network="gateway-only", models=models, files=bench.user_files)
    run = await bench.runner.execute(flow, probe.text, options)
    bench.count(run, probe.text, by="verification")
    online = ", ".join(sorted({node.display_name for node in flow.nodes if _uses_network(node.type, bench.catalogue)}))
    if run.error is None:
        short = probe.disappointment(run)
        if short and online:
            return Verification(run=run, probe=probe, caveat=_OFFLINE.format(online=online, message=short))
        sampled = ", ".join(sorted(set(without_file(runnable(flow)))))
        if sampled:
            caveat = ": ".join(filter(None, (_SAMPLED.format(sampled), short)))
            return Verification(run=run, probe=probe, caveat=caveat)
        return Verification(run=run, probe=probe, disappointment=short)
    if run.error.code not in CORRECTABLE:
        why = f"{run.error.message} {run.error.fix}".strip()
        return Verification(run=run, probe=probe, caveat=f"It was checked but could not be run to the end: {why}")
    if run.error.code == "code" and online:
        return Verification(run=run, probe=probe, caveat=_OFFLINE.format(online=online, message=run.error.message))
    return Verification(run=run, probe=probe)


_NETWORK_IMPORT = re.compile(
    r"^\s*(?:import|from)\s+(?:requests|httpx|aiohttp|urllib\.request)\b|\bMCP\w*Client\b", re.MULTILINE
)
_OFFLINE = (
    "It was checked and run without the network that {online} needs; the steps after it had no real data ({message})"
)


def _unnamed(nodes: str, bench: Workbench) -> Fault:
    """The fault of a flow that does not name the file which the message is about."""
    names = ", ".join(path for path, _ in bench.attached)
    message = f"{nodes} names no file, but the message is about the user's file {names}."
    return Fault(code="missing_input", message=message, fix=f"Set its path: {bench.attached[0][0]}")


_LATER = "It was checked but not run yet: the flow engine is still being installed. It is run as soon as that is done."

_SAMPLED = "{} names no file yet, so it was tried with a small sample file"


def _uses_network(type: str, catalogue: Catalogue) -> bool:
    """Whether a component calls outside addresses, which a verification run cannot reach."""
    known = catalogue.get(type)
    return known is not None and _imports_network(known.code)


@lru_cache(maxsize=256)
def _imports_network(code: str) -> bool:
    return _NETWORK_IMPORT.search(code) is not None
