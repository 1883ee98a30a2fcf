"""A conversation with a tool of the front end: `change_background`, which the page brings and carries out.

Run it with `MODEL=openai:gpt-5 uvicorn examples.agui.agentic_chat:app`.
"""

import os

from pydantic_ai import Agent

import wirewright

agent = Agent(
    os.environ.get("MODEL", "openai:gpt-5"),
    instructions="Be brief. When the user wants another background, call change_background.",
    defer_model_check=True,
)
app = wirewright.create_agui_app(agent)
