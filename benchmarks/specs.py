"""Flows as spec text that the benchmarks build and run."""

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"


def chain(nodes: int) -> str:
    """A chain of text combinations between a chat input and a chat output, without prompt variables.

    Args:
        nodes: how many nodes it has in all; at least three.
    """
    inner = nodes - 2
    sources = ["chat.message", *(f"c{number}.combined_text" for number in range(inner))]
    return "\n".join(
        [
            "name: Chain",
            "nodes:",
            "  chat: ChatInput",
            *(f"  c{number}: CombineText" for number in range(inner)),
            "  answer: ChatOutput",
            "edges:",
            *(f"  {sources[number]} -> c{number}.text1" for number in range(inner)),
            f"  {sources[-1]} -> answer.input_value",
            "config:",
            *(f"  c{number}.text2: word{number}" for number in range(inner)),
        ]
    )


def built(spec: str, catalogue: Catalogue) -> Flow:
    """The flow of a spec that has no errors."""
    result = build(spec, catalogue)
    assert result.flow is not None, result.faults
    return result.flow
