"""Plans, which the user approves before a large or unclear build, and the to-do list of a long task."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from runtime.telemetry import log_event
from tools.approvals import PlanApproval, approval_metadata
from tools.effects import PlanEffect
from tools.events import Todo, TodosWritten
from tools.workbench import Workbench

PLAN_LIMIT = 8_000
"""The maximum length of a plan in characters."""

STEPS = 30
"""The maximum number of steps in a list."""

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


async def propose_plan(ctx: RunContext[Workbench], markdown: str) -> str:
    """Ask the user to approve a plan. Only before a large or ambiguous build; build anything else at once.

    Args:
        markdown: the plan, in the user's language.
    """
    if ctx.tool_call_approved or ctx.deps.auto_plan:
        ctx.deps.plans.append(PlanEffect.of(markdown, "approved"))
    if ctx.tool_call_approved:
        return "The user approved the plan. Carry it out now."
    if ctx.deps.auto_plan:
        log_event("assistant.plan.proposed", session_id=ctx.deps.session, markdown_length=len(markdown))
        log_event("assistant.skip_all.auto_approved", session_id=ctx.deps.session)
        return "The plan is approved. Carry it out now."
    raise ApprovalRequired(metadata=approval_metadata(PlanApproval(markdown=markdown[:PLAN_LIMIT])))


class Step(BaseModel):
    """One step of the list, as the model writes it."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(min_length=1, max_length=300)
    status: Literal["pending", "in_progress", "completed"] = "pending"


async def write_todos(ctx: RunContext[Workbench], todos: list[Step]) -> str:
    """Note the steps of a task that has more than three, and keep them up to date; the list replaces the last one.

    Args:
        todos: all steps in order; at most one is in_progress.
    """
    if len(todos) > STEPS:
        raise ModelRetry(f"The list has {len(todos)} steps; it may have {STEPS}. Take steps together.")
    if sum(step.status == "in_progress" for step in todos) > 1:
        raise ModelRetry("Only one step can be in_progress. Finish it, or put it back to pending.")
    noted = [Todo(content=" ".join(step.content.split()), status=step.status) for step in todos]
    if noted == ctx.deps.todos:
        return "The list is the same as before."
    ctx.deps.todos = noted
    await ctx.emit(TodosWritten(todos=noted))
    left = sum(todo.status != "completed" for todo in noted)
    return f"{left} of {len(noted)} to do.\n" + "\n".join(f"{_MARKS[todo.status]} {todo.content}" for todo in noted)


todo_tools = FunctionToolset[Workbench]([write_todos], max_retries=3, sequential=True, id="todos")
plan_tools = FunctionToolset[Workbench]([propose_plan], max_retries=3, sequential=True, id="plan")
