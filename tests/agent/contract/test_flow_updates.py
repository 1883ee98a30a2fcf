"""The manual's table of `flow_update` actions names every action of the models, with the keys that it carries."""

import re
from pathlib import Path

from agent.contract.events import models_of
from agent.contract.flow_updates import FlowUpdateEvent, StreamEvent

MANUAL = Path(__file__).parents[3] / "docs" / "http-api.md"
HEADING = "| `action` | carries |\n| --- | --- |\n"


def test_the_documented_table_of_actions_agrees_with_the_models() -> None:
    table = MANUAL.read_text(encoding="utf-8").partition(HEADING)[2].partition("\n\n")[0]
    documented: dict[str, set[str]] = {}
    for row in table.splitlines():
        _, actions, carried, _ = row.split("|")
        for action in re.findall(r"`(\w+)`", actions):
            documented[action] = set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", carried)))
    common = {*StreamEvent.model_fields, "event", "action"}
    assert documented == {
        model.model_fields["action"].default: set(model.model_fields) - common for model in models_of(FlowUpdateEvent)
    }
