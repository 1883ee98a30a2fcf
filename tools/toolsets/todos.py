"""The to-do list of a long task: the agent notes its steps, and the user sees its progress."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from tools.events import Todo, TodosWritten
from tools.workbench import Workbench

STEPS = 30
"""The maximum number of steps in a list."""

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


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
