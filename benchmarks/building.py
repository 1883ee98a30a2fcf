"""Building a flow of ten nodes from spec text, beside the engine's own builder."""

from time import perf_counter

from benchmarks.engine import Engine, line
from flows.catalogue import Catalogue
from flows.spec import build

ROUNDS = 40
CHAIN = 8


def spec(inner: int = CHAIN) -> str:
    """A chain of text combinations between a chat input and a chat output, without prompt variables."""
    nodes = [f"  c{number}: CombineText" for number in range(inner)]
    ends = ["chat.message", *(f"c{number}.combined_text" for number in range(inner))]
    edges = [f"  {ends[number]} -> c{number}.text1" for number in range(inner)]
    config = [f"  c{number}.text2: word{number}" for number in range(inner)]
    return "\n".join(
        [
            "name: Chain",
            "nodes:",
            "  chat: ChatInput",
            *nodes,
            "  answer: ChatOutput",
            "edges:",
            *edges,
            f"  {ends[-1]} -> answer.input_value",
            "config:",
            *config,
        ]
    )


def measure(catalogue: Catalogue, lfx: Engine) -> str:
    """Build by turns and compare the medians."""
    text = spec()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        flow = build(text, catalogue).flow
        assert flow is not None
        flow.to_json()
        ours.append((perf_counter() - started) * 1000)
        theirs.append(lfx.do(do="build", spec=text))
    return line("spec build of 10 nodes, to JSON", ours[5:], theirs[5:], "target: at most 1")
