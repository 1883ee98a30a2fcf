"""Reports of open scenarios: no reference flow to draw beside, probes and expectations all the same."""

import asyncio

from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from evals.expectation import Expect, Probe
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.report.clipping import SIZES
from evals.report.formats.writer import FORMS, render_report
from evals.report.model import Material, gather
from evals.report.play import score_play
from evals.scenario import Scenario, Turn
from flows.catalogue import Catalogue
from flows.spec import build
from tests.shared.stand_ins import StandInRunner, ran

OPEN = Scenario(
    id="open-greeting",
    about="Something greets by name; which flow does, is left open.",
    turns=(Turn(say="Make me a bot that says hello."),),
    open=True,
    expect=Expect(one_of=(("LanguageModelComponent", "Agent"),)),
    probes=(Probe(input="Ada", contains="Ada"),),
)
FLOW = """
nodes:
  chat: ChatInput
  answer: ChatOutput
edges:
  chat.message -> answer.input_value
"""


def reported(scenario: Scenario, catalogue: Catalogue) -> Material:
    """The material of one attempt that builds an echo."""

    async def builds(request: TurnRequest) -> dict[str, object]:
        flow = build(FLOW, catalogue).flow
        return {"flow": flow.to_json() if flow else None, "text": "I built it."}

    runner = StandInRunner(results=[ran("Ada")])
    environment = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=runner)
    attempts = asyncio.run(play([scenario], FunctionPlayer(builds, "builder"), environment))
    return Material(play=score_play([scenario], attempts, catalogue), catalogue=catalogue)


def test_an_open_scenario_is_reported_in_every_form(catalogue: Catalogue) -> None:
    material = reported(OPEN, catalogue)
    for form in set(FORMS.values()):
        assert "there should be one of LanguageModelComponent, Agent" in render_report(form, material), form
    html = render_report("html", material)
    assert "Expected beside built" not in html
    assert "contains" in html
    (shown,) = gather(material, SIZES[0]).attempts
    assert (shown.state, shown.smallest_fix) == ("failed", None)
    assert shown.details is not None
    assert shown.details.comparison is None
    assert [probe.met for probe in shown.details.probes] == [True]


def test_an_open_scenario_that_passes_says_what_was_not_compared(catalogue: Catalogue) -> None:
    scenario = OPEN.model_copy(update={"expect": Expect(types=("ChatOutput",))})
    html = render_report("html", reported(scenario, catalogue))
    assert "Every attempt passes." in html
    assert "no reference flow is known" in html
