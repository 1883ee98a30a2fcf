"""The simulated user: sends the scenario's messages and answers requests for approval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic_ai import ToolApproved, ToolDenied

from agent.turn.request import Answer, TurnRequest
from agent.turn.result import TurnResult
from evals.scenario import Decision, Scenario
from flows.document import Flow
from tools.approvals import Approval

DENIED = "No, leave it as it is."
"""The reason of a denial for which the scenario gives none."""

_DECIDED_ALWAYS = frozenset({"plan", "edit"})
_NO_CONSENT = Decision(decision="deny")


class SimulatedUser:
    """The user of one attempt.

    Args:
        components: the sources of the user's components that can be built.
    """

    def __init__(self, scenario: Scenario, session: str, user: str, components: Sequence[str] = ()) -> None:
        self._scenario = scenario
        self._session = session
        self._user = user
        self._components = tuple(components)
        policy = scenario.approvals
        self._decisions: Iterator[Decision] = iter(policy) if isinstance(policy, tuple) else iter(())
        self._always = Decision(decision="approve" if isinstance(policy, tuple) else policy)

    def message(self, number: int, canvas: Flow) -> TurnRequest:
        """The request with a message.

        Args:
            number: the message's, from 0.
            canvas: the flow as the user sees it, with earlier proposals on it, because the user accepts them.
        """
        return self._request(self._scenario.turns[number].say, canvas)

    def approval_answers(self, pending: TurnResult) -> TurnRequest:
        """The request that answers every pending approval of a turn."""
        answers: Mapping[str, Answer] = {call_id: self._answer(one) for call_id, one in pending.approvals.items()}
        return self._request("", pending.after).model_copy(update={"answers": answers})

    def _answer(self, approval: Approval) -> Answer:
        """The next decision; without one, plans, edits and texts that are replaced as asked are decided as always.

        No other consent is given.
        """
        asked = approval.kind in _DECIDED_ALWAYS or (approval.kind == "removal" and not approval.why)
        said = next(self._decisions, self._always if asked else _NO_CONSENT)
        return ToolApproved() if said.decision == "approve" else ToolDenied(said.reason or DENIED)

    def _request(self, text: str, canvas: Flow) -> TurnRequest:
        return TurnRequest(
            text=text,
            session=self._session,
            user=self._user,
            flow=None if canvas.is_empty else canvas,
            components=self._components,
        )
