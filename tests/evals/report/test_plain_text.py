"""A scenario and its attempts as text: everything that decides, and the first input on which a flow differs."""

from evals.behaviours.families import Input, Inputs
from evals.behaviours.outcomes import Behaviour, Outcome
from evals.report.plain_text import attempt_lines, scenario_lines
from evals.score import DECIDING, EVALUATORS, score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import scenarios
from tests.evals.report.conftest import Played


def test_a_scenario_shows_all_that_an_attempt_is_held_to() -> None:
    shown = {scenario.id: "\n".join(scenario_lines(scenario)) for scenario in scenarios()}
    for scenario in scenarios():
        text = shown[scenario.id]
        for probe in scenario.probes:
            assert str(probe) in text
        for turn in scenario.turns:
            assert turn.say.strip().splitlines()[0] in text
            assert turn.run is None or f"must give {turn.run}" in text
            assert all(f"The answer must be: {answer}" in text for answer in turn.answer)
        named = (*scenario.expect.types, *scenario.expect.absent, *scenario.expect.edges, *scenario.criteria)
        assert all(name in text for name in named)
        assert all(f"Must call: {tool}" in text for tool in scenario.expect.tools)
        assert '"data":' not in text, "a flow is shown as spec text"


def test_an_attempt_shows_what_decided_and_the_first_input_on_which_it_differs(
    played: Played, catalogue: Catalogue
) -> None:
    scenario = played.scenarios[0].model_copy(update={"inputs": Inputs(derive=True)})
    typed = Input(text="this is urgent", trait="given")
    other = Behaviour(input=typed, given=Outcome(outputs=("Noted",)), wanted=Outcome(outputs=("Calling",)))
    given = next(one for one in played.of("oracle") if one.scenario == scenario.id)
    attempt = given.model_copy(update={"behaviours": [other], "digest": scenario.digest})
    verdict = score_attempt(scenario, attempt, catalogue)
    text = "\n".join(attempt_lines(scenario, attempt, verdict))
    assert "oracle #1: failed, because of resolved, behaves" in text
    assert "The first input on which it differs from the reference: 'this is urgent'" in text
    assert "it gives       'Noted'" in text
    assert "the reference  'Calling'" in text
    decides, grades = text.split("Grades, which decide nothing:")
    for name in EVALUATORS:
        assert f"    {name} " in (decides if name in DECIDING else grades)
