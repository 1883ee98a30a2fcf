"""Everything that is measured of a checkout, one subject a file."""

from typing import Any

from benchmarks.against.suite import Suite
from benchmarks.against.suites import beyond, cold, commands, flows, imports, resting, runs, scenarios, served, stored

SUITES: tuple[Suite[Any], ...] = (
    imports.SUITE,
    flows.SUITE,
    commands.SUITE,
    runs.SUITE,
    cold.SUITE,
    resting.SUITE,
    served.SUITE,
    stored.SUITE,
    beyond.SUITE,
    scenarios.SUITE,
)
