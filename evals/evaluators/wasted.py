"""Wasted calls: how many of the tool calls were useful?"""

import json
import re

from evals.case import Case, Grade
from evals.oracles.tool_calls import calls_of

_CHANGING = re.compile(r"(?:add|remove|connect|disconnect|configure|insert|replace|rename|build|use)_")


def wasted(case: Case) -> Grade:
    """1 − wasted / calls; a call is wasted if its tool refused it, or if it repeats an earlier one of the turn exactly
    without a change of the flow in between. Not scored without calls.
    """
    waste = total = 0
    for turn in case.attempt.turns:
        seen: set[str] = set()
        for call in calls_of(turn):
            total += 1
            text = f"{call.tool} {json.dumps(call.arguments, sort_keys=True, default=str)}"
            waste += not call.accepted or text in seen
            if call.accepted and _CHANGING.match(call.tool):
                seen.clear()
            seen.add(text)
    if not total:
        return None, "no calls are to be seen"
    return 1 - waste / total, f"{waste} of {total} calls brought nothing"
