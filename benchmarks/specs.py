"""Flows as spec text that the measurements build and run."""

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"


def chain(nodes: int) -> str:
    """A chain of text combinations between a chat input and a chat output, without prompt variables.

    Args:
        nodes: how many nodes it has in all, three at least.
    """
    inner = nodes - 2
    ends = ["chat.message", *(f"c{number}.combined_text" for number in range(inner))]
    return "\n".join(
        [
            "name: Chain",
            "nodes:",
            "  chat: ChatInput",
            *(f"  c{number}: CombineText" for number in range(inner)),
            "  answer: ChatOutput",
            "edges:",
            *(f"  {ends[number]} -> c{number}.text1" for number in range(inner)),
            f"  {ends[-1]} -> answer.input_value",
            "config:",
            *(f"  c{number}.text2: word{number}" for number in range(inner)),
        ]
    )
