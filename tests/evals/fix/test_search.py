"""The smallest fix: the fewest changes that help, found by trying, within a bound."""

import pytest

from evals.fix.search import minimal_fix
from flows.actions import Configure, Connect
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import configure, connect, disconnect, rename
from flows.edits.node_ids import relabel
from flows.fingerprints import fingerprint
from flows.spec import build

pytestmark = pytest.mark.anyio

RIGHT = """
name: Louder
nodes:
  chat: ChatInput
  prompt: Prompt Template
  joined: CombineText
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> joined.text1
  joined.combined_text -> answer.input_value
config:
  prompt.template: "Louder: {text}"
  joined.text2: "!"
"""


@pytest.fixture
def right(catalogue: Catalogue) -> Flow:
    flow = build(RIGHT, catalogue).flow
    assert flow is not None
    return flow


def node(flow: Flow, kind: str) -> str:
    return next(found.id for found in flow.nodes if found.type == kind)


def joins(flow: Flow) -> bool:
    """Whether what is said ends with the mark: one value and one connection decide."""
    into = {(edge.target, edge.target_port) for edge in flow.edges}
    joined = node(flow, "CombineText")
    return flow.node(joined).value("text2") == "!" and (joined, "text1") in into


async def test_only_the_change_that_helps_is_named_among_several(right: Flow, catalogue: Catalogue) -> None:
    made = configure(right, catalogue, node(right, "CombineText"), {"text2": "?"}).flow
    made = rename(made, node(made, "ChatInput"), "Question").flow
    made = configure(made, catalogue, node(made, "Prompt Template"), {"template": "Quieter: {text}"}).flow

    async def passes(flow: Flow) -> bool:
        return joins(flow)

    fix = await minimal_fix(made, [right], catalogue, passes)
    assert fix is not None
    assert [type(action) for action in fix.actions] == [Configure]
    assert fix.whole == 3
    assert fix.proven
    assert joins(fix.flow)
    assert fix.flow.node(node(made, "Prompt Template")).value("template") == "Quieter: {text}"


async def test_two_changes_that_help_only_together_are_found(right: Flow, catalogue: Catalogue) -> None:
    joined = node(right, "CombineText")
    made = configure(right, catalogue, joined, {"text2": "?"}).flow
    made = disconnect(made, node(made, "Prompt Template"), None, joined, None).flow
    made = rename(made, node(made, "ChatInput"), "Question").flow

    async def passes(flow: Flow) -> bool:
        return joins(flow)

    fix = await minimal_fix(made, [right], catalogue, passes)
    assert fix is not None
    assert {type(action) for action in fix.actions} == {Configure, Connect}
    assert len(fix.actions) == 2


async def test_other_ids_make_no_difference(right: Flow, catalogue: Catalogue) -> None:
    spec = RIGHT.replace("joined", "mix").replace("prompt:", "words:").replace("prompt.text", "words.text")
    spec = spec.replace("prompt.prompt", "words.prompt").replace("prompt.template", "words.template")
    made = build(spec.replace('"!"', '"?"'), catalogue).flow
    assert made is not None

    async def passes(flow: Flow) -> bool:
        return joins(flow)

    fix = await minimal_fix(made, [right], catalogue, passes)
    assert fix is not None
    assert len(fix.actions) == 1
    assert fix.whole == 1
    assert fingerprint(fix.flow) == fingerprint(right)


async def test_ids_of_one_letter_make_no_difference(right: Flow, catalogue: Catalogue) -> None:
    made = configure(right, catalogue, node(right, "CombineText"), {"text2": "?"}).flow
    short = relabel(right, dict(zip((found.id for found in right.nodes), "aetn", strict=True)))

    async def passes(flow: Flow) -> bool:
        return joins(flow)

    fix = await minimal_fix(made, [short], catalogue, passes)
    assert fix is not None
    assert fix.whole == 1
    assert fingerprint(fix.flow) == fingerprint(right)


async def test_the_nearest_of_several_right_flows_is_the_aim(right: Flow, catalogue: Catalogue) -> None:
    far = build(
        "name: Far\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value", catalogue
    ).flow
    assert far is not None
    made = configure(right, catalogue, node(right, "CombineText"), {"text2": "?"}).flow

    async def passes(flow: Flow) -> bool:
        return fingerprint(flow) in (fingerprint(right), fingerprint(far))

    fix = await minimal_fix(made, [far, right], catalogue, passes)
    assert fix is not None
    assert len(fix.actions) == 1


async def test_there_is_no_fix_when_the_right_flow_does_not_pass(right: Flow, catalogue: Catalogue) -> None:
    made = configure(right, catalogue, node(right, "CombineText"), {"text2": "?"}).flow

    async def passes(flow: Flow) -> bool:
        del flow
        return False

    assert await minimal_fix(made, [right], catalogue, passes) is None
    assert await minimal_fix(made, [], catalogue, passes) is None
    assert await minimal_fix(right, [right], catalogue, passes) is None


async def test_the_search_is_bounded_and_says_when_it_is_not_proven(right: Flow, catalogue: Catalogue) -> None:
    asked = 0

    async def passes(flow: Flow) -> bool:
        nonlocal asked
        asked += 1
        return fingerprint(flow) == fingerprint(right)

    made = configure(right, catalogue, node(right, "CombineText"), {"text2": "?"}).flow
    made = configure(made, catalogue, node(made, "Prompt Template"), {"template": "Quieter: {text}"}).flow
    edge = made.edges[0]
    made = disconnect(made, edge.source, None, edge.target, None).flow
    made = connect(made, catalogue, node(made, "ChatInput"), "message", node(made, "CombineText"), "delimiter").flow
    fix = await minimal_fix(made, [right], catalogue, passes, tries=4)
    assert fix is not None
    assert not fix.proven
    assert len(fix.actions) == fix.whole
    assert asked <= 4 + fix.whole
