"""A recipe that the user and the agent edit together: the prompt has the page's, and a call changes it at once.

Run it with `MODEL=openai:gpt-5 uvicorn examples.agui.shared_state:app`.
"""

import json
import os
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent

import wirewright


class Recipe(BaseModel):
    """What the page shows."""

    title: str
    ingredients: list[str]
    steps: list[str]


agent = Agent(
    os.environ.get("MODEL", "openai:gpt-5"),
    instructions="Improve the recipe: call write_recipe with all of it, then say what you changed.",
    defer_model_check=True,
)


@agent.tool_plain
def write_recipe(recipe: Recipe) -> str:
    """Show a recipe to the user."""
    return f"The page shows {recipe.title} now."


def with_recipe(run: Any, message: str) -> str:
    """The message, with the recipe as the page has it."""
    state: dict[str, Any] = run.state or {}
    recipe = state.get("recipe")
    return f"The recipe on the page (data):\n{json.dumps(recipe)}\n\n{message}" if recipe else message


def recipe_state(call: wirewright.ToolCallContext) -> dict[str, Any]:
    """The state of the page while the tool is called."""
    return {"recipe": call.arguments["recipe"]}


config = wirewright.AguiConfig(
    state_context_builder=with_recipe,
    tool_behaviors={"write_recipe": wirewright.ToolBehavior(state_from_args=recipe_state)},
)
app = wirewright.create_agui_app(agent, config=config)
