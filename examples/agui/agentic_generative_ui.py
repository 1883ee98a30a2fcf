"""A task in several steps, of which the page draws the progress: each result becomes the state.

Run it with `MODEL=openai:gpt-5 uvicorn examples.agui.agentic_generative_ui:app`.
"""

import os
from typing import Any

from pydantic_ai import Agent

import wirewright

agent = Agent(
    os.environ.get("MODEL", "openai:gpt-5"),
    instructions="Plan the task with plan_steps, then call finish_step for each step, and sum up.",
    defer_model_check=True,
)


@agent.tool_plain
def plan_steps(steps: list[str]) -> dict[str, Any]:
    """The steps of a task, none of them done."""
    return {"steps": [{"text": step, "done": False} for step in steps]}


@agent.tool_plain
def finish_step(steps: list[str], finished: int) -> dict[str, Any]:
    """The steps again, of which the first `finished` are done."""
    return {"steps": [{"text": step, "done": at < finished} for at, step in enumerate(steps)]}


def steps_state(call: wirewright.ToolResultContext) -> dict[str, Any]:
    """The state of the page after a step."""
    return call.result


behavior = wirewright.ToolBehavior(state_from_result=steps_state)
config = wirewright.AguiConfig(tool_behaviors={"plan_steps": behavior, "finish_step": behavior})
app = wirewright.create_agui_app(agent, config=config)
