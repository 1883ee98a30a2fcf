"""A flow that does nothing with what is typed resolves nothing, whatever its outputs are."""

from evals.case import Case
from evals.evaluators.resolved import resolved
from evals.oracles.unread_input import input_is_unread, reads_input
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.edits.basic import add_component
from scripts.task_set import engine_catalogue
from tests.evals.conftest import Played, scenario_named, scenarios

SYSTEM = scenario_named("model-system")
DEAF = """
name: Pirate
nodes:
  ask: Prompt Template
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  ask.prompt -> model.input_value
  model.text_output -> answer.input_value
config:
  ask.template: what are you
  model.system_message: Talk like a pirate.
"""


def test_what_is_typed_must_lead_to_an_end_of_the_flow(played: Played, full_catalogue: Catalogue) -> None:
    right = read_flow(SYSTEM.reference or "", full_catalogue)
    assert not input_is_unread(Case(SYSTEM, played(SYSTEM, right), full_catalogue))
    deaf = Case(SYSTEM, played(SYSTEM, read_flow(DEAF, full_catalogue)), full_catalogue)
    assert input_is_unread(deaf)
    assert resolved(deaf) == (False, "what is typed leads nowhere")


def test_a_chat_input_beside_the_flow_is_not_read(played: Played, full_catalogue: Catalogue) -> None:
    beside = add_component(read_flow(DEAF, full_catalogue), full_catalogue, "ChatInput").flow
    assert input_is_unread(Case(SYSTEM, played(SYSTEM, beside), full_catalogue))


def test_the_input_of_a_run_may_arrive_in_a_text_input(played: Played, full_catalogue: Catalogue) -> None:
    typed = DEAF.replace("ask: Prompt Template", "ask: TextInput").replace("ask.prompt", "ask.text")
    flow = read_flow(typed.replace("ask.template", "ask.input_value"), full_catalogue)
    assert not input_is_unread(Case(SYSTEM, played(SYSTEM, flow), full_catalogue))


def test_right_flows_read_what_is_typed_where_the_reference_does() -> None:
    catalogue = engine_catalogue()
    for scenario in scenarios():
        if scenario.components or scenario.reference is None:
            continue
        reads = {name: reads_input(read_flow(text, catalogue)) for name, text in scenario.right}
        assert len(set(reads.values())) == 1, f"{scenario.id}: {reads}"
