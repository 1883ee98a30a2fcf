"""Spec texts that several tests build, and the flows of specs."""

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
AGENT = (
    "name: Helper\nnodes:\n  a: ChatInput\n  g: Agent\n  b: ChatOutput\n"
    "edges:\n  a.message -> g.input_value\n  g.response -> b.input_value\n"
)


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
