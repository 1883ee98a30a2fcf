"""An answer that lists what the canvas holds answers nothing, even when the right value is among it."""

import pytest

from evals.case import Case
from evals.evaluators.resolved import resolved
from evals.players.cheats.agent import Position
from evals.players.cheats.table import task_of
from evals.players.cheats.tricks import many_values
from evals.replies.inventory import canvas_texts, unasked_values
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from tests.evals.conftest import Played, scenario_named

VALUES = ("User", "Machine", "AI", "{text}", "Greetings from {text}", "contains", "broken", "invoice")
ASKED = "How does my template begin?"
WANTED = ("Greetings from {text}",)


@pytest.mark.parametrize(
    "answer",
    [
        "User; User; Greetings from {text}; {text}; Machine; AI",
        "4? 1, 2, 3 or 5 of them; 6, 7 too. User; contains; Greetings from {text}; {text}; Machine; broken; AI",
        "Machine, AI, broken, contains and Greetings from {text}.",
    ],
)
def test_a_list_of_what_the_canvas_holds_is_an_inventory(answer: str) -> None:
    assert len(unasked_values(answer, ASKED, VALUES, WANTED)) > 3


@pytest.mark.parametrize(
    "answer",
    [
        "It is 'Greetings from {text}'.",
        "Greetings from {text}",
        "'Greetings from {text}': what the user types stands where {text} is, and the AI answers with it.",
        (
            "A message that contains 'broken' goes to the repair desk, one with 'invoice' to the people of accounting, "
            "and whatever the user or the machine says besides goes to the template 'Greetings from {text}'."
        ),
        "",
    ],
)
def test_an_answer_that_says_something_of_its_values_is_none(answer: str) -> None:
    assert unasked_values(answer, ASKED, VALUES, WANTED) == []


def test_what_the_message_names_may_be_repeated() -> None:
    message = "Which of broken, invoice, User, Machine and contains is the word?"
    assert unasked_values("broken, invoice, User, Machine, contains", message, VALUES, ()) == []


@pytest.mark.parametrize("scenario", ["german-question", "question-value"])
def test_an_inventory_resolves_nothing(scenario: str, played: Played, full_catalogue: Catalogue) -> None:
    asked = scenario_named(scenario)
    task = task_of(asked, full_catalogue)
    position = Position(scenario=asked, number=0, canvas=task.canvas, right=task.right, catalogue=full_catalogue)
    attempt = played(asked, None, text=many_values(position).text or "")
    value, reason = resolved(Case(asked, attempt, full_catalogue))
    assert value is False
    assert "lists what the canvas holds" in reason


def test_the_right_answers_of_the_scenarios_are_no_inventories(full_catalogue: Catalogue) -> None:
    for scenario in load_scenarios():
        turn = scenario.turns[-1]
        if turn.should == "answer" and turn.reply and scenario.canvas:
            texts = canvas_texts(task_of(scenario, full_catalogue).canvas)
            assert unasked_values(turn.reply, turn.say, texts, turn.wanted) == [], scenario.id
