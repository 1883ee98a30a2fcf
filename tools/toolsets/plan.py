"""Plans: what the agent means to build, put before the user when the build is large or its aim is not clear."""

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.toolsets import FunctionToolset

from tools.approvals import PlanApproval, asking
from tools.workbench import Workbench

PLAN_LIMIT = 8_000
"""Characters of a plan that the user is shown."""


async def propose_plan(ctx: RunContext[Workbench], markdown: str) -> str:
    """Ask the user to approve a plan. Only before a large or ambiguous build; build anything else at once.

    Args:
        markdown: the plan in the user's language: components, connections, open choices.
    """
    if ctx.tool_call_approved:
        return "The user approved the plan. Carry it out now."
    if ctx.deps.applies_plans:
        return "The plan stands. Carry it out now."
    raise ApprovalRequired(metadata=asking(PlanApproval(markdown=markdown[:PLAN_LIMIT])))


plan_tools = FunctionToolset[Workbench]([propose_plan], max_retries=3, sequential=True, id="plan")
