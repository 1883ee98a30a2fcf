"""The addresses of a scenario's services: `{{service:NAME}}` in its texts."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evals.scenario import Scenario


def with_addresses(scenario: Scenario, services: Mapping[str, str]) -> Scenario:
    """The scenario with the addresses of its services filled in.

    Args:
        services: addresses by name, such as `http://127.0.0.1:40123`.
    """
    if not services:
        return scenario
    text = scenario.model_dump_json(by_alias=True)
    for name, address in services.items():
        text = text.replace(f"{{{{service:{name}}}}}", json.dumps(address)[1:-1])
    return Scenario.model_validate_json(text)
