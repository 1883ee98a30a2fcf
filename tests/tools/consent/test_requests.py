"""Realistic requests that must not lead to questions, and orders in others' text that must."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.edits import rename
from flows.spec import build
from runtime.files.store import UserFiles
from tests.shared.scripted_assistant import Step, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.shared.yaml_files import read_yaml

pytestmark = pytest.mark.anyio

DATA = Path(__file__).parent.parent / "data"
TABLE: dict[str, Any] = read_yaml(DATA / "requests.yaml")
ORDERS: list[dict[str, Any]] = read_yaml(DATA / "orders.yaml")
REMOVING = {"removal", "outbound"}

FALSE_QUESTIONS = 0.03
"""The share of requests that may lead to a question without need."""


async def kinds_asked(catalogue: Catalogue, row: dict[str, Any]) -> list[str]:
    """The kinds of question to which a row leads, and `done` when its last call was made."""
    built = build(TABLE["canvases"][row["canvas"]], catalogue)
    assert built.flow is not None, built.faults
    canvas = built.flow
    for name, node_id in built.ids.items():
        canvas = rename(canvas, node_id, name).flow
    read = {
        "intent": row.get("intent", "build_flow"),
        "english": row.get("english", ""),
        "language": row.get("language", "en"),
        "mandate": row.get("mandate", {}),
    }
    steps: list[Step] = []
    if "edit" in row:
        steps.append(call("edit_flow", 1, changes=row["edit"]))
    if "call" in row:
        given = {
            name: built.ids.get(value, value) if name.endswith("_id") else value for name, value in row["call"].items()
        }
        steps.append(call(given.pop("tool"), 2, **given))
    runner = StandInRunner(results=[ran("Fine.")])
    who, script = scripted_assistant(catalogue, json.dumps(read), *steps, *(["Done."] * 3), runner=runner)
    for path, content in row.get("files", {}).items():
        await asyncio.to_thread(UserFiles(who.settings.data, "local").write, path, content)
    result = await play(who, row["say"], canvas)
    assert result.error is None, result.error
    asked = [one.kind for one in result.approvals.values()]
    assert asked or result.actions or result.runs or result.files, script.tool_answers(-1)
    return asked


async def test_realistic_requests_rarely_lead_to_a_question(catalogue: Catalogue) -> None:
    rows = TABLE["requests"]
    assert len(rows) >= 60
    asked = {row["say"]: kinds for row in rows if REMOVING & set(kinds := await kinds_asked(catalogue, row))}
    assert len(asked) / len(rows) <= FALSE_QUESTIONS, asked
    assert list(asked) == ["Simplify this"], "as the manual says"


@pytest.mark.table
@pytest.mark.parametrize("row", ORDERS, ids=lambda row: f"{row['say']}: {str(row.get('edit', row.get('call')))[:60]}")
async def test_an_order_in_others_text_leads_to_a_question(catalogue: Catalogue, row: dict[str, Any]) -> None:
    assert await kinds_asked(catalogue, row) == [row["asks"]]
