"""Drawings and replays: what came, changed or went stands out; nothing overlaps; secrets never show."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.attempt import Attempt
from evals.case import Case
from evals.report.clipping import clip, visible
from evals.report.svg.canvas import Gallery, Marks
from evals.report.svg.comparison import compare_with_expected
from evals.report.svg.layout import WIDTH, Board, ScoredFlows
from evals.report.svg.replay import replay_turn
from evals.scenarios.flows import read_flow
from flows.actions import Disconnect
from flows.catalogue import Catalogue
from flows.edits import configure
from tests.evals.report.conftest import Played

FAN = """name: Fan
nodes:
  a: ChatInput
  b: Prompt Template
  c: Prompt Template
  d: Prompt Template
  e: ChatOutput
edges:
  a.message -> b.x
  a.message -> c.x
  a.message -> d.x
  b.prompt -> e.input_value
config:
  b.template: one {x}
  c.template: two {x}
  d.template: three {x}
"""


def attempt_of(played: Played, scenario: str) -> Attempt:
    """The oracle's first try."""
    return next(one for one in played.of("oracle") if one.scenario == scenario)


def test_a_replay_has_a_state_for_each_change(played: Played, catalogue: Catalogue) -> None:
    (turn,) = attempt_of(played, "report-insert").turns
    replay = replay_turn(turn, Gallery(), catalogue, 60)
    titles = [step.title for step in replay.steps]
    assert titles[0] == "Before"
    assert sum(title.startswith("Connect") for title in titles) == 2
    assert "Add Prompt Template" in titles
    assert any(title.startswith("Disconnect Chat Input.message") for title in titles)
    assert len({step.picture.id for step in replay.steps}) == len(titles)
    assert len({(step.picture.width, step.picture.height) for step in replay.steps}) == 1


def test_a_replay_that_does_not_fit_shows_the_end_and_says_so(played: Played, catalogue: Catalogue) -> None:
    (turn,) = attempt_of(played, "report-insert").turns
    stale = turn.model_copy(update={"actions": [Disconnect({"id": "nowhere"}, 7)]})
    replay = replay_turn(stale, Gallery(), catalogue, 60)
    assert [step.title for step in replay.steps] == ["Before", "After"]
    assert "does not fit" in replay.notice


def test_a_long_replay_keeps_its_beginning_and_its_end(played: Played, catalogue: Catalogue) -> None:
    (turn,) = attempt_of(played, "report-insert").turns
    replay = replay_turn(turn, Gallery(), catalogue, 4)
    assert len(replay.steps) == 4
    assert replay.steps[0].title == "Before"
    assert replay.notice.startswith("1 steps in the middle are left out.")


def test_equal_drawings_are_held_once(played: Played, catalogue: Catalogue) -> None:
    gallery = Gallery()
    flow = read_flow(FAN, catalogue)
    shapes = ScoredFlows(catalogue)
    board = Board.of([flow], shapes)
    first = gallery.picture(flow, board, shapes)
    held = gallery.symbols
    assert gallery.picture(flow, board, shapes) == first
    assert gallery.symbols == held
    assert gallery.picture(flow, board, shapes, Marks(nodes={flow.nodes[0].id: "added"})) != first


def test_components_of_one_column_do_not_overlap(catalogue: Catalogue) -> None:
    board = Board.of([read_flow(FAN, catalogue)], ScoredFlows(catalogue))
    boxes = [(x, y, x + WIDTH, y + board.rows[name].height) for name, (x, y) in board.places.items()]
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one, other)
    assert all(x2 <= board.width and y2 <= board.height for _, _, x2, y2 in boxes)


def test_expected_beside_built_marks_what_is_missing_too_much_and_another(played: Played, catalogue: Catalogue) -> None:
    scenario = next(one for one in played.scenarios if one.id == "report-insert")
    attempt = attempt_of(played, "report-insert")
    made = read_flow((scenario.reference or "").replace("Hi {name}!", "Bye {name}!"), catalogue)
    edges = [edge.raw for edge in made.edges if edge.target_port != "input_value"]
    turn = attempt.turns[-1].model_copy(update={"proposal": made.with_parts(edges=[*edges])})
    beside = compare_with_expected(
        Case.of(scenario, attempt.model_copy(update={"turns": [turn]}), catalogue), Gallery()
    )
    assert [(one.mark, one.text) for one in beside.differences] == [
        ("removed", "the connection Prompt Template.prompt → Chat Output.input_value is missing"),
        ("changed", "template of Prompt Template should be “Hi {name}!”, but is “Bye {name}!”"),
    ]


def test_a_right_flow_has_no_difference(played: Played, catalogue: Catalogue) -> None:
    attempt = attempt_of(played, "report-build")
    scenario = next(one for one in played.scenarios if one.id == attempt.scenario)
    beside = compare_with_expected(Case.of(scenario, attempt, catalogue), Gallery())
    assert beside.differences == ()


def test_a_secret_in_a_field_is_not_drawn(catalogue: Catalogue) -> None:
    kind = next(one for one in catalogue if "api_key" in one.template)
    flow = read_flow(f"name: S\nnodes:\n  a: {kind.type}\n", catalogue)
    secret = "sk-" + "abcdef0123456789" * 2
    held = configure(flow, catalogue, flow.nodes[0].id, {"api_key": secret}).flow
    gallery = Gallery()
    shapes = ScoredFlows(catalogue)
    gallery.picture(held, Board.of([held], shapes), shapes)
    assert secret not in gallery.symbols
    assert "api_key" in gallery.symbols


def test_names_cannot_leave_the_drawing(catalogue: Catalogue) -> None:
    flow = read_flow("name: E\nnodes:\n  a: ChatInput\n", catalogue)
    raw = flow.to_json()
    raw["data"]["nodes"][0]["data"]["node"]["display_name"] = '</text><script>"&'
    named = type(flow).from_json(raw)
    gallery = Gallery()
    shapes = ScoredFlows(catalogue)
    picture = gallery.picture(named, Board.of([named], shapes), shapes)
    root = ElementTree.fromstring(f"<svg>{gallery.symbols}</svg>")  # noqa: S314  (our own writing)
    assert not root.findall(".//script")
    assert '</text><script>"&' in [text.text for text in root.iter("text")]
    assert picture.label == '1 components, 0 connections: </text><script>"&'


@given(st.text(max_size=400), st.integers(1, 50))
@settings(max_examples=60)
def test_a_clip_is_never_longer_and_says_how_much_is_left(text: str, limit: int) -> None:
    found = clip(text, limit)
    assert len(found.text) <= limit
    whole = clip(text, 100_000).text
    assert len(found.text) + found.left == len(whole)


@pytest.mark.parametrize(
    ("said", "shown"),
    [("a\u202eb", r"a\u202eb"), ("\x1b[31m", r"\u001b[31m"), ("\ud800", r"\ud800"), ("é👩‍💻", "é👩‍💻")],
)
def test_hidden_characters_are_written_out(said: str, shown: str) -> None:
    assert visible(said) == shown
