"""Everything that is measured on both sides, one subject a file."""

from typing import Any

from benchmarks.against.stage import Stage
from benchmarks.against.stages import cold, commands, flows, imports, runs, scenarios, served

STAGES: tuple[Stage[Any], ...] = (
    imports.STAGE,
    flows.STAGE,
    commands.STAGE,
    runs.STAGE,
    cold.STAGE,
    served.STAGE,
    scenarios.STAGE,
)
