"""Turns in which a flow looks at a photo: the message, the photo, and a model that builds the flow and looks."""

from pydantic_ai import BinaryContent, ModelMessage, UserPromptPart

from agent.models.scripted import call
from runtime.files.samples import sample
from tests.shared.scripted_assistant import ScriptedModel

PNG = sample("png")
LOOKS = """name: Looks
nodes:
  chat: ChatInput
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> model.input_value
  model.text_output -> answer.input_value
config:
  chat.files: photo.png
"""
REQUEST = "Build a flow that says what is on a photo, and run it with: What is this?"
SEES = "A white pixel."


def images(messages: list[ModelMessage]) -> list[bytes]:
    """The images in a request."""
    parts = (part for message in messages for part in message.parts if isinstance(part, UserPromptPart))
    pieces = (piece for part in parts if not isinstance(part.content, str) for piece in part.content)
    return [piece.data for piece in pieces if isinstance(piece, BinaryContent)]


def looking() -> ScriptedModel:
    """A model that builds a flow for a photo and runs it, and that looks at the photo when the flow asks it to."""
    build, run = call("build_flow", 1, spec=LOOKS), call("run_flow", 2, input="What is this?")
    return ScriptedModel("build_flow", build, SEES, run, SEES, f"It is {SEES.lower()}")
