"""Tools of the server, whose calls and results the front end draws as cards.

Run it with `MODEL=openai:gpt-5 uvicorn examples.agui.backend_tool_rendering:app`.
"""

import os

from pydantic_ai import Agent

import wirewright

agent = Agent(
    os.environ.get("MODEL", "openai:gpt-5"),
    instructions="Answer questions about the weather, and draw charts.",
    defer_model_check=True,
)


@agent.tool_plain
def get_weather(city: str) -> dict[str, str | int]:
    """The weather in a city, made up."""
    return {"city": city, "conditions": "sunny", "celsius": 21}


@agent.tool_plain
def render_chart(title: str, values: list[float]) -> dict[str, object]:
    """A bar chart for the front end to draw."""
    return {"title": title, "bars": [{"label": str(at + 1), "value": value} for at, value in enumerate(values)]}


app = wirewright.create_agui_app(agent)
