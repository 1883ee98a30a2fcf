"""Wasted calls: how many of the tool calls brought anything?"""

import json

from evals.case import Case, Score
from evals.oracles.tool_calls import Call, calls_of

_CHANGING = (
    "add_",
    "remove_",
    "connect_",
    "disconnect_",
    "configure_",
    "insert_",
    "replace_",
    "rename_",
    "build_",
    "use_",
)


def wasted(case: Case) -> Score:
    """1 − wasted / calls; a call is wasted when its tool refused it, or when it repeats an earlier one of the turn word
    for word with no change of the flow in between. Not scored without calls.
    """
    waste = total = 0
    for turn in case.attempt.turns:
        seen: set[str] = set()
        for call in calls_of(turn):
            total += 1
            text = _text(call)
            waste += not call.taken or text in seen
            if call.taken and call.tool.startswith(_CHANGING):
                seen.clear()
            seen.add(text)
    if not total:
        return Score(name="wasted", value=None, reason="no calls are to be seen")
    return Score(name="wasted", value=1 - waste / total, reason=f"{waste} of {total} calls brought nothing")


def _text(call: Call) -> str:
    return f"{call.tool} {json.dumps(call.arguments, sort_keys=True, default=str)}"
