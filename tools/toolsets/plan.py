"""Plans, which the user approves before a build that is large or has an unclear aim."""

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.toolsets import FunctionToolset

from tools.approvals import PlanApproval, approval_metadata
from tools.workbench import Workbench

PLAN_LIMIT = 8_000
"""The maximum length of a plan in characters."""


async def propose_plan(ctx: RunContext[Workbench], markdown: str) -> str:
    """Ask the user to approve a plan. Only before a large or ambiguous build; build anything else at once.

    Args:
        markdown: the plan in the user's language: components, connections, open choices.
    """
    if ctx.tool_call_approved:
        return "The user approved the plan. Carry it out now."
    if ctx.deps.auto_plan:
        return "The plan stands. Carry it out now."
    raise ApprovalRequired(metadata=approval_metadata(PlanApproval(markdown=markdown[:PLAN_LIMIT])))


plan_tools = FunctionToolset[Workbench]([propose_plan], max_retries=3, sequential=True, id="plan")
