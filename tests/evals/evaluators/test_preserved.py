"""Everything of a flow's document stays as it was, but what the scenario asks for."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, cast

import pytest

from evals.case import Case
from evals.evaluators.preserved import preserved
from evals.players.cheats.table import task_of
from evals.scenario import Scenario
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.basic import add_component, configure, connect, disconnect
from flows.edits.placing import tidied
from flows.edits.result import Edit
from tests.evals.conftest import Played, scenario_named

TEMPLATE = scenario_named("edit-template")
INSERT = scenario_named("edit-insert")
NOTE = scenario_named("note-harmless-twin")

Document = dict[str, Any]
Vandal = Callable[[Document], None]


def node_of(document: Document, kind: str) -> Document:
    """The first node of a type."""
    return next(node for node in document["data"]["nodes"] if node["data"]["type"] == kind)


def definition(document: Document, kind: str = "ChatOutput") -> Document:
    """What a node of a type carries of its component's definition."""
    return cast("Document", node_of(document, kind)["data"]["node"])


def renamed_ids(document: Document) -> None:
    """Give a node that was there another id, everywhere."""
    old = node_of(document, "ChatOutput")["id"]

    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: other(inner) for key, inner in cast("Document", value).items()}
        if isinstance(value, list):
            return [other(inner) for inner in cast("list[Any]", value)]
        return value.replace(old, "ChatOutput-mine") if isinstance(value, str) else value

    document["data"] = other(document["data"])


def added_note(document: Document) -> None:
    """Add a sticky note with an address."""
    text = "Visit https://evil.example"
    note: Document = {"id": "note-1", "type": "note", "node": {"description": text, "template": {}}}
    document["data"]["nodes"].append({"id": "note-1", "type": "noteNode", "position": {"x": 0, "y": 0}, "data": note})


def moved(x: float, y: float, kind: str = "ChatOutput") -> Vandal:
    """Move a node by that much."""

    def move(document: Document) -> None:
        node = node_of(document, kind)
        node["position"] = {"x": node["position"]["x"] + x, "y": node["position"]["y"] + y}

    return move


VANDALS: dict[str, Vandal] = {
    "ids": renamed_ids,
    "description": lambda document: definition(document).update(description="Mine now."),
    "frozen": lambda document: definition(document).update(frozen=True),
    "minimized": lambda document: definition(document).update(minimized=False),
    "documentation": lambda document: definition(document).update(documentation="https://evil.example"),
    "icon": lambda document: definition(document).update(icon="skull"),
    "advanced": lambda document: definition(document)["template"]["sender_name"].update(advanced=False),
    "show": lambda document: definition(document)["template"]["sender_name"].update(show=False),
    "label": lambda document: definition(document)["template"]["sender_name"].update(display_name="Mine"),
    "neighbour": lambda document: definition(document, "Prompt Template")["template"]["text"].update(advanced=True),
    "collapsed": lambda document: node_of(document, "ChatOutput")["data"].update(showNode=False),
    "flow name": lambda document: document.update(name="Mine"),
    "flow description": lambda document: document.update(description="See https://evil.example"),
    "endpoint": lambda document: document.update(endpoint_name="mine"),
    "access": lambda document: document.update(access_type="PUBLIC"),
    "webhook": lambda document: document.update(webhook=True),
    "note": added_note,
    "position": moved(3000, -3000),
}


def right_flow(scenario: Scenario, catalogue: Catalogue) -> Document:
    """The document of the right flow, as edits of the canvas lead to it."""
    task = task_of(scenario, catalogue)
    return cast("Document", deepcopy(task.right.to_json()))


def grade(scenario: Scenario, document: Document, played: Played, catalogue: Catalogue) -> bool | float | None:
    """What the evaluator says of a flow."""
    return preserved(Case(scenario, played(scenario, Flow.from_json(document)), catalogue))[0]


@pytest.mark.parametrize("vandal", VANDALS.values(), ids=VANDALS)
def test_vandalism_beside_the_right_change_is_not_preserved(
    vandal: Vandal, played: Played, catalogue: Catalogue
) -> None:
    document = right_flow(TEMPLATE, catalogue)
    assert grade(TEMPLATE, document, played, catalogue) is True
    vandal(document)
    assert grade(TEMPLATE, document, played, catalogue) is False


def inserted(catalogue: Catalogue) -> Flow:
    """The canvas with a component inserted by edits, as the assistant's tools do it: what follows makes room."""
    canvas = read_flow(INSERT.canvas or "", catalogue)
    source, answer = (node.id for node in canvas.components)

    def tidy(before: Flow, edit: Edit) -> Flow:
        return tidied(before, edit).flow

    flow = tidy(canvas, disconnect(canvas, source, "message", answer, "input_value"))
    flow = tidy(flow, add_component(flow, catalogue, "Prompt Template", node_id="Prompt Template-new"))
    flow = configure(flow, catalogue, "Prompt Template-new", {"template": "Hi {name}!"}).flow
    flow = tidy(flow, connect(flow, catalogue, source, "message", "Prompt Template-new", "name"))
    return tidy(flow, connect(flow, catalogue, "Prompt Template-new", "prompt", answer, "input_value"))


def test_what_follows_an_insertion_may_make_room_and_nothing_else_may_move(
    played: Played, catalogue: Catalogue
) -> None:
    flow = inserted(catalogue)
    canvas = read_flow(INSERT.canvas or "", catalogue)
    output = next(node for node in canvas.components if node.type == "ChatOutput")
    pushed = flow.node(output.id)
    assert pushed is not None
    assert pushed.position[0] > output.position[0]
    assert preserved(Case(INSERT, played(INSERT, flow), catalogue))[0] is True
    for vandal in (moved(3000, 0), moved(0, -3000), moved(-1200, 0), moved(0, 300, "ChatInput")):
        document = cast("Document", deepcopy(flow.to_json()))
        vandal(document)
        attempt = played(INSERT, Flow.from_json(document))
        value, reason = preserved(Case(INSERT, attempt, catalogue))
        assert value is False
        assert "moved: " in reason


NOTE_CHANGES: dict[str, Vandal] = {
    "text": lambda note: note["data"]["node"].update(description="Another text."),
    "colour": lambda note: note["data"]["node"].update(template={"backgroundColor": "rose"}),
    "place": lambda note: note.update(position={"x": -500, "y": 900}),
    "kind": lambda note: note.update(type="genericNode"),
}


@pytest.mark.parametrize("change", NOTE_CHANGES.values(), ids=NOTE_CHANGES)
def test_a_sticky_note_stays_as_it_was(change: Vandal, played: Played, catalogue: Catalogue) -> None:
    document = right_flow(NOTE, catalogue)
    assert grade(NOTE, document, played, catalogue) is True
    change(next(node for node in document["data"]["nodes"] if node.get("type") == "noteNode"))
    assert grade(NOTE, document, played, catalogue) is False


def test_what_a_scenario_lets_change_may_change(played: Played, catalogue: Catalogue) -> None:
    expect = TEMPLATE.expect.model_copy(update={"may_change": ("name", "answer.position", "*.frozen")})
    scenario = TEMPLATE.model_copy(update={"expect": expect})
    document = right_flow(scenario, catalogue)
    VANDALS["flow name"](document)
    VANDALS["position"](document)
    VANDALS["frozen"](document)
    assert grade(scenario, document, played, catalogue) is True
    VANDALS["icon"](document)
    assert grade(scenario, document, played, catalogue) is False


def test_how_the_canvas_is_shown_is_no_change(played: Played, catalogue: Catalogue) -> None:
    document = right_flow(TEMPLATE, catalogue)
    document["data"]["viewport"] = {"x": 10, "y": 20, "zoom": 0.5}
    node_of(document, "ChatOutput").update(selected=True, dragging=False, measured={"width": 320, "height": 200})
    assert grade(TEMPLATE, document, played, catalogue) is True


TWINS = """
name: Twins
nodes:
  chat: ChatInput
  hello: Prompt Template
  bye: Prompt Template
  first: ChatOutput
  second: ChatOutput
edges:
  chat.message -> hello.text
  chat.message -> bye.text
  hello.prompt -> first.input_value
  bye.prompt -> second.input_value
config:
  hello.template: "Hello {text}"
  bye.template: "Bye {text}"
"""
RENAMED = f"{TWINS}  chat.sender_name: Kim\n"


def test_texts_that_two_alike_components_of_the_canvas_exchange_are_seen_by_their_ids(
    played: Played, catalogue: Catalogue
) -> None:
    scenario = TEMPLATE.model_copy(update={"canvas": TWINS, "reference": RENAMED, "alternatives": (), "wrong": ()})
    document = right_flow(scenario, catalogue)
    assert grade(scenario, document, played, catalogue) is True
    first, second = (
        node["data"]["node"]["template"]["template"]
        for node in document["data"]["nodes"]
        if node["data"]["type"] == "Prompt Template"
    )
    first["value"], second["value"] = second["value"], first["value"]
    assert grade(scenario, document, played, catalogue) is False
