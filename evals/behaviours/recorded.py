"""The recorded behaviours: what flows gave on inputs, by flow, input and engine version."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

from evals.behaviours.families import Input
from evals.behaviours.outcomes import Outcome
from evals.scenario import Scenario
from flows.document import Flow
from flows.fingerprints import fingerprint

RECORDED: Final = Path(__file__).parent / "recorded.json.gz"
"""The behaviours of the bundled scenarios' references, alternatives and wrong results."""

UNSTABLE: Final = frozenset({"timeout", "crash", "limit", "external"})
"""Errors that may be another machine's, another moment's: they are not kept."""

ByFlow: TypeAlias = Mapping[str, Mapping[str, Outcome]]
"""Outcomes by the key of the flow with its conditions, then by that of the input."""


class Behaviours:
    """Outcomes that are known: those recorded, and those of this process.

    Args:
        recorded: known from the start.
    """

    def __init__(self, recorded: ByFlow | None = None) -> None:
        self._known: dict[str, dict[str, Outcome]] = {flow: dict(inputs) for flow, inputs in (recorded or {}).items()}

    def outcome(self, flow: str, given: Input) -> Outcome | None:
        """What a flow gave on an input, by the flow's key; None if it is not known."""
        return self._known.get(flow, {}).get(_input_key(given))

    def learn(self, flow: str, given: Input, outcome: Outcome) -> None:
        """Keep an outcome, unless it may be another one the next time."""
        if outcome.error not in UNSTABLE:
            self._known.setdefault(flow, {})[_input_key(given)] = outcome

    def update(self, others: Behaviours) -> None:
        """Take over other outcomes, which replace those of the same flow and input."""
        for flow, inputs in others._known.items():
            self._known.setdefault(flow, {}).update(inputs)

    def to_bytes(self) -> bytes:
        """All that is known, compressed; equal for equal behaviours."""
        known = {
            flow: {name: outcome.model_dump(mode="json") for name, outcome in sorted(inputs.items())}
            for flow, inputs in sorted(self._known.items())
        }
        text = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
        return gzip.compress(text.encode(), mtime=0)


def flow_key(flow: Flow, scenario: Scenario, engine: str) -> str:
    """What decides a flow's outcomes beside the input.

    Args:
        flow: without the addresses of services.
        scenario: its models, services and files take part.
        engine: the engine's version.
    """
    conditions = [
        engine,
        fingerprint(flow),
        [rule.model_dump(mode="json") for rule in scenario.models],
        [service.model_dump(mode="json") for service in scenario.services],
        dict(scenario.files),
        *(["written"] if scenario.expects_files else []),
    ]
    return _digest(json.dumps(conditions, sort_keys=True, ensure_ascii=False))


@cache
def recorded_behaviours(path: Path = RECORDED) -> ByFlow:
    """The behaviours in a file; none if it is missing."""
    if not path.exists():
        return {}
    found: dict[str, dict[str, object]] = json.loads(gzip.decompress(path.read_bytes()))
    return {
        flow: {name: Outcome.model_validate(outcome) for name, outcome in inputs.items()}
        for flow, inputs in found.items()
    }


def packaged() -> Behaviours:
    """The recorded behaviours, to which a play adds its own."""
    return Behaviours(recorded_behaviours())


def _input_key(given: Input) -> str:
    return _digest(given.model_dump_json(exclude={"trait"}))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
