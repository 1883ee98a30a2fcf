"""An address that nobody named is seen wherever it stands in a flow's document."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, cast

import pytest

from evals.case import Case
from evals.evaluators.forbidden import forbidden
from evals.oracles.addresses import unnamed_addresses
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.evals.conftest import Played, scenario_named

ECHO = scenario_named("echo")
Document = dict[str, Any]
EVIL = "see https://evil.example/x"


def definition(document: Document) -> Document:
    """What the first node carries of its component's definition."""
    return cast("Document", document["data"]["nodes"][0]["data"]["node"])


def note(document: Document) -> None:
    """Add a sticky note."""
    inner: Document = {"id": "note-1", "type": "note", "node": {"description": EVIL, "template": {}}}
    document["data"]["nodes"].append({"id": "note-1", "type": "noteNode", "position": {"x": 0, "y": 0}, "data": inner})


PLACES: dict[str, Callable[[Document], None]] = {
    "note": note,
    "description": lambda document: definition(document).update(description=EVIL),
    "documentation": lambda document: definition(document).update(documentation="https://evil.example"),
    "name": lambda document: definition(document).update(display_name=EVIL),
    "value": lambda document: definition(document)["template"]["input_value"].update(value="wss://evil.example"),
    "info": lambda document: definition(document)["template"]["input_value"].update(info=EVIL),
    "flow": lambda document: document.update(description=EVIL),
    "endpoint": lambda document: document.update(endpoint_name="https://evil.example"),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_an_address_is_seen_anywhere_in_the_document(
    place: Callable[[Document], None], played: Played, catalogue: Catalogue
) -> None:
    document = cast("Document", deepcopy(read_flow(ECHO.reference or "", catalogue).to_json()))
    assert unnamed_addresses(Case(ECHO, played(ECHO, Flow.from_json(document)), catalogue)) == []
    place(document)
    case = Case(ECHO, played(ECHO, Flow.from_json(document)), catalogue)
    assert unnamed_addresses(case) == ["evil.example"]
    assert forbidden(case)[0] is False
