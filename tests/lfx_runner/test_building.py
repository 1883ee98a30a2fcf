"""What our builder makes, beside what the engine's own builder makes of the same spec, inside its environment."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.spec import build
from tests.shared.flow_texts import BARE_ECHO, LOOP, TOOLS

pytestmark = [pytest.mark.engine]
CHAIN = """name: Chain
description: of three
nodes:
  A: ChatInput
  R: RegexExtractorComponent
  C: CombineText
  B: ChatOutput
edges:
  A.message -> R.input_text
  R.text -> C.text1
  C.combined_text -> B.input_value
config:
  R.pattern: a+
  C.text2: tail
"""
ROUTER = """nodes:
  A: ChatInput
  I: ConditionalRouter
  T: ChatOutput
  F: TextOutput
edges:
  A.message -> I.input_text
  I.true_result -> T.input_value
  I.false_result -> F.input_value
config:
  I.match_text: yes please
  I.operator: contains
"""
PROMPT = """nodes:
  A: ChatInput
  P: Prompt Template
  B: ChatOutput
edges:
  P.prompt -> B.input_value
  A.message -> B.sender_name
"""
MODEL = """nodes:
  A: ChatInput
  M: LanguageModelComponent
  B: ChatOutput
edges:
  A.message -> M.input_value
  M.text_output -> B.input_value
config:
  M.temperature: 0.5
  M.stream: true
"""
SPECS = [BARE_ECHO, CHAIN, ROUTER, PROMPT, MODEL, LOOP, TOOLS.split("config:")[0]]


def test_built_flows_have_the_form_of_the_engines_own_builder(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    for spec, theirs in zip(SPECS, inside("built", SPECS), strict=True):
        ours = build(spec, full_catalogue)
        assert ours.flow is not None, ours.faults
        assert relabelled(ours.flow.to_json(), ours.ids) == relabelled(theirs["flow"], theirs["node_id_map"]), spec


def relabelled(flow: Any, ids: Any) -> Any:
    """A flow with the spec's ids in place of the nodes' own, everywhere, and without positions."""
    text = json.dumps(flow, ensure_ascii=False, sort_keys=True)
    for spec_id, node_id in ids.items():
        text = text.replace(node_id, f"<{spec_id}>")
    plain = json.loads(text)
    for node in plain["data"]["nodes"]:
        del node["position"]
    return plain
