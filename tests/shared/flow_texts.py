"""Spec texts that several tests build, and the flows of specs."""

import json
from typing import Any

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
LOUDER = """name: Louder
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> answer.input_value
config:
  prompt.template: "Say it louder: {text}"
"""
LOUDER_REQUEST = (
    "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it, "
    "then run it with hello"
)
"""Has the demo build the flow of `LOUDER` and run it."""
AGENT = (
    "name: Helper\nnodes:\n  a: ChatInput\n  g: Agent\n  b: ChatOutput\n"
    "edges:\n  a.message -> g.input_value\n  g.response -> b.input_value\n"
)
HISTORY = """\
name: History
nodes:
  chat: ChatInput
  history: Memory
  prompt: Prompt Template
  answer: ChatOutput
edges:
  history.messages_text -> prompt.before
  chat.message -> prompt.now
  prompt.prompt -> answer.input_value
config:
  prompt.template: "before: {before} now: {now}"
"""
"""Answers with the messages before, and the one now."""
BARE_ECHO = "nodes:\n  A: ChatInput\n  B: ChatOutput\nedges:\n  A.message -> B.input_value\n"
LOOP = """\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  T: TypeConverterComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A.message -> S.data_inputs
  S.dataframe -> L.data
  L.item -> P.input_data
  P.parsed_text -> T.input_data
  T.data_output -> L.item
  L.done -> D.input_data
  D.parsed_text -> B.input_value
"""
TOOLS = """\
nodes:
  A: ChatInput
  G: Agent
  C: CalculatorComponent
  B: ChatOutput
edges:
  A.message -> G.input_value
  C.component_as_tool -> G.tools
  G.response -> B.input_value
config:
  G.model: openai:gpt-4o-mini
"""
PROMPT = """\
name: "Quoted: name"
description: |
  two
  lines
nodes:
  A: ChatInput
  P: Prompt Template
  B: ChatOutput
edges:
  A.message -> P.text
  P.prompt -> B.input_value
config:
  P.template: |
    Say it: {text}
      {tone}
  P.tone: "- kind"
  B.data_template: "|"
"""
"""A prompt with everything in it that spec text must quote."""
CHAIN = """\
nodes:
  A: ChatInput
  C: CombineText
  S: SplitText
  P: ParserComponent
  B: ChatOutput
edges:
  A.message -> C.text1
  C.combined_text -> S.data_inputs
  S.dataframe -> P.input_data
  P.parsed_text -> B.input_value
"""
FAN_OUT = """\
nodes:
  A: ChatInput
  C: CombineText
  B: ChatOutput
edges:
  A.message -> C.text1
  A.message -> C.text2
  C.combined_text -> B.input_value
"""
MODEL = """name: Model
nodes:
  a: ChatInput
  m: LanguageModelComponent
  b: ChatOutput
edges:
  a.message -> m.input_value
  m.text_output -> b.input_value
"""
WORD_COUNTER = """from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema import Message


class WordCounter(Component):
    display_name = "Word Counter"
    description = "Counts the words of a text."
    name = "WordCounter"
    inputs = [MessageTextInput(name="text", display_name="Text", tool_mode=True)]
    outputs = [Output(name="count", display_name="Count", method="count_words")]

    def count_words(self) -> Message:
        return Message(text=str(len(self.text.split())))
"""
"""The source of a component."""
WORD_COUNT = """name: Own
nodes:
  chat: ChatInput
  words: WordCounter
  answer: ChatOutput
edges:
  chat.message -> words.text
  words.count -> answer.input_value
"""
"""A flow with that component."""


def long_flow(steps: int) -> str:
    """A spec with a chain of alike steps between a chat input and a chat output."""
    names = [f"s{number}" for number in range(steps)]
    nodes = ["  a: ChatInput", *(f"  {name}: CombineText" for name in names), "  b: ChatOutput"]
    chain = ["a.message", *(f"{name}.combined_text" for name in names)]
    edges = [f"  {begin} -> {name}.text1" for begin, name in zip(chain, names, strict=False)]
    config = [f"  {name}.text2: x" for name in names]
    return "\n".join(["nodes:", *nodes, "edges:", *edges, f"  {chain[-1]} -> b.input_value", "config:", *config])


def flow_of(spec: str, catalogue: Catalogue) -> Flow:
    """The flow of a spec that has no errors."""
    built = build(spec, catalogue)
    assert built.flow is not None, built.faults
    return built.flow


def node_id(flow: Flow, type: str) -> str:
    """The id of the first node of a type."""
    return next(node.id for node in flow.nodes if node.type == type)


def large_flow(catalogue: Catalogue) -> Flow:
    """A hundred copies of a flow with three components, with all that Langflow keeps of them."""
    nodes: list[Any] = []
    edges: list[Any] = []
    document = flow_of(LOUDER, catalogue).to_json()
    data: Any = document["data"]
    names: list[str] = [node["id"] for node in data["nodes"]]
    for copy in range(100):
        nodes += [_renamed(node, names, copy) for node in data["nodes"]]
        edges += [_renamed(edge, names, copy) for edge in data["edges"]]
    return Flow.from_json({**document, "name": "Large", "data": {**data, "nodes": nodes, "edges": edges}})


def _renamed(document: Any, names: list[str], copy: int) -> Any:
    """A node or an edge in which every component's id is that of a copy."""
    text = json.dumps(document)
    for name in names:
        text = text.replace(name, f"{name}{copy:03d}")
    return json.loads(text)
