"""What one of the first messages must lead to, and how an answer to it is judged."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent.demo.replies import DECLINES, reply
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.basic import disconnect
from flows.spec import build
from tests.shared.yaml_files import read_yaml

FOLDER = Path(__file__).parent
Verdict = Literal["useful", "declined", "useless", "wrong"]
CANVASES = {
    "chatbot": """name: Chatbot
nodes:
  chat: ChatInput
  prompt: Prompt Template
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> model.input_value
  model.text_output -> answer.input_value
config:
  prompt.template: "Answer this message: {text}"
  model.model: openai:gpt-4o
""",
    "summary": """name: Summary
nodes:
  chat: ChatInput
  prompt: Prompt Template
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> model.input_value
  model.text_output -> answer.input_value
config:
  prompt.template: "Summarise: {text}"
  model.model: openai:gpt-4o
""",
    "broken": """name: Broken chatbot
nodes:
  chat: ChatInput
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> model.input_value
  model.text_output -> answer.input_value
config:
  model.model: openai:gpt-4o
""",
}


def canvas(name: str, catalogue: Catalogue) -> Flow:
    """A canvas of the table; in the broken one, the model is not connected to the output."""
    if name == "none":
        return Flow.empty()
    flow = build(CANVASES[name], catalogue).flow
    assert flow is not None
    if name != "broken":
        return flow
    (edge,) = [edge for edge in flow.edges if edge.source_port == "text_output"]
    return disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port).flow


class FirstMessage(BaseModel):
    """A row of the table: what somebody types first, and what an answer must have, must not claim and must say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    language: Literal["en", "de", "fr", "es", "pt", "it", "ja", "zh"]
    message: str
    canvas: Literal["none", "chatbot", "summary", "broken"]
    kind: Literal["build", "answer", "edit", "decline", "chat"]
    buildable: bool
    must_have: list[list[str]] = []
    must_not_have: list[str] = []
    must_text: list[str] = []
    must_say: list[list[str]] = []
    must_not_claim: list[str] = []
    useful_alternatives: Literal["question", "decline"] | None = None
    note: str = ""


@dataclass(frozen=True)
class Judgement:
    """How an answer was judged, and why."""

    verdict: Verdict
    reason: str = ""


@cache
def first_messages(name: Literal["seen", "unseen", "fresh"]) -> Sequence[FirstMessage]:
    """One part of the table."""
    rows = read_yaml(FOLDER / f"first_messages_{name}.yaml")
    return [FirstMessage.model_validate(row) for row in rows]


def judge(row: FirstMessage, result: TurnResult, before: Flow) -> Judgement:
    """Judge the answer to a first message.

    An answer that changed the canvas claims to have done it, so it must have all that the row asks for; one that
    changed nothing is useful where the row asks for words and they are there, and otherwise a decline, unless it
    claims what the row forbids.
    """
    after = result.proposal or result.flow
    changed = after.to_json() != before.to_json()
    said = result.text.lower()
    own = re.sub(r"«[^»]*»", "", said)  # what it quotes of the message is no claim of its own
    claimed = [words for words in row.must_not_claim if words.lower() in own]
    unsaid = [one for one in row.must_say if not any(words.lower() in said for words in one)]
    if claimed:
        return Judgement("wrong", f"claims {claimed}")
    if not said.strip():
        return Judgement("wrong", "says nothing")
    if changed:
        faults = _faults(row, after)
        if row.kind in ("chat", "answer", "decline"):
            faults.append("changed the canvas though it was not asked to")
        if unsaid:
            faults.append(f"does not say {unsaid}")
        return Judgement("wrong", "; ".join(faults)) if faults else Judgement("useful")
    if row.kind in ("chat", "answer", "decline"):
        if not unsaid:
            return Judgement("useful")
        return Judgement("declined" if _declines(result, row.language) else "useless", f"does not say {unsaid}")
    if _declines(result, row.language) or result.outcome == "pending":
        return Judgement("useful" if result.outcome == "pending" and row.useful_alternatives else "declined")
    return Judgement("wrong", "did nothing and does not say so")


def _faults(row: FirstMessage, flow: Flow) -> list[str]:
    types = {node.type for node in flow.nodes}
    fields = [field for node in flow.nodes for name, field in node.template.items() if name != "code"]
    texts = "\n".join(json.dumps(field.get("value"), ensure_ascii=False) for field in fields).lower()
    joined = {end for edge in flow.edges for end in (edge.source, edge.target)}
    loose = [node.type for node in flow.components if node.id not in joined] if len(flow.components) > 1 else []
    return [
        *(f"{kind} is not connected" for kind in loose),
        *(f"lacks one of {one[:3]}" for one in row.must_have if not types.intersection(one)),
        *(f"has {one}" for one in row.must_not_have if one in types),
        *(f"lacks the text {one!r}" for one in row.must_text if one.lower() not in texts),
    ]


def _declines(result: TurnResult, language: str) -> bool:
    """Whether an answer says openly that nothing was done, or asks back."""
    openings = [reply(key, language, said="§", why="§", reason="§").partition("§")[0][:25] for key in DECLINES]
    return result.outcome == "refused" or any(opening in result.text for opening in openings)
