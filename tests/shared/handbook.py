"""A conversation about a document: what a provider on loopback answers to the assistant and to the flow."""

from typing import Any

from scripts.scripted_provider import Reply, ScriptedProvider
from tests.shared import documents

OPENS = "The office opens at nine."
REQUEST = "Answer questions about this document, then ask it when the office opens"
AGAIN = "Now ask it what I asked before"
REMEMBERED = "You asked when the office opens."
PDF = documents.pdf(OPENS)
SPEC = """\
template: rag
nodes:
  history: Memory
edges:
  history.messages_text -> prompt.before
config:
  document.path: handbook.pdf
  prompt.template: |
    Answer the question from these pieces of a document.

    {notes}

    Said before: {before}

    Question: {question}
"""
_OPENS, _BEFORE = "When does the office open?", "What did I ask before?"


def provider() -> ScriptedProvider:
    """The provider: a model that builds, runs and answers, and embeddings by which the right piece is found."""
    return ScriptedProvider(_answer, lambda text: [float("open" in text.lower()) + 0.01, 0.5])


def _answer(body: dict[str, Any]) -> Reply:
    said = str(body["messages"][-1]["content"])
    if said.startswith("Answer the question from"):
        return _flow_answer(said)
    again = AGAIN in str([message["content"] for message in body["messages"] if message["role"] == "user"][-1])
    if "run_flow" not in {tool["function"]["name"] for tool in body.get("tools") or ()}:
        return Reply(text="run_flow" if AGAIN in said else "build_flow")
    results = [message for message in body["messages"] if message["role"] == "tool"]
    if again:
        steps = [Reply(calls=(("run_flow", {"input": _BEFORE}),)), Reply(text=f"It says: {REMEMBERED}")]
    else:
        steps = [
            Reply(calls=(("build_flow", {"spec": SPEC}),)),
            Reply(calls=(("run_flow", {"input": _OPENS}),)),
            Reply(text=f"It says: {OPENS}"),
        ]
    return steps[len(results)]


def _flow_answer(said: str) -> Reply:
    """The model of the flow: it quotes the best piece, or what was said before when that is asked for."""
    _, _, before = said.partition("Said before: ")
    before, _, question = before.partition("Question: ")
    if _BEFORE in question:
        return Reply(text=REMEMBERED if _OPENS in before else "Nothing was asked before.")
    return Reply(text=next(line for line in said.splitlines() if line.startswith("- ")).removeprefix("- "))
