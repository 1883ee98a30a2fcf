"""The messages of the oracle at the end of a turn, in the user's language."""

from __future__ import annotations

from collections.abc import Sequence

from agent.language.detect import supported_language
from agent.language.phrases import phrase
from evals.replies.points import point_of
from evals.scenario import Turn


def closing_words(turn: Turn, tools: Sequence[str], *, writes: bool = False) -> str:
    """A right final message of a turn.

    Args:
        tools: the tools that were called in it to change or run the flow.
    """
    if turn.reply is not None:
        return turn.reply
    language = supported_language(turn.say)
    facts = [*(rule.equals or rule.contains or "" for rule in turn.answer), *(fact.example for fact in turn.facts)]
    if turn.should == "ask":
        point = turn.points[0] if turn.points else point_of(turn.say)
        return " ".join([*facts, phrase("player_ask", language), f"({point}?)"]).strip()
    if turn.should == "refuse":
        return " ".join([phrase("player_refuse", language), *facts, *turn.points[:1]]).strip()
    kinds = ["build"] if "build_flow" in tools else []
    if not kinds and any(tool != "run_flow" for tool in tools):
        kinds = ["change"]
    if writes:
        kinds.append("write")
    if "run_flow" in tools:
        kinds.append("run")
    return "\n".join([*(phrase(f"player_{kind}", language) for kind in kinds), *filter(None, facts)])
