"""What the scripted model says in the turns that are measured, and the messages that start them."""

import json
from typing import Any

from benchmarks.specs import ECHO
from scripts.scripted_provider import Reply

MODEL = "openai-chat:gpt-6-luna"

BUILD = "Build an echo flow"
EDIT = "Put a prompt between the two that asks for a shouted answer"
OFF_TOPIC = "Tell me a joke about the weather"
QUESTION = "What does the Prompt Template component do?"


def classified(intent: str, english: str = "") -> Reply:
    """What a classifier answers."""
    return Reply(text=json.dumps({"intent": intent, "english": english, "language": "en"}))


BUILT = Reply(text="I built an echo flow.")
LONG = (
    classified("build_flow"),
    Reply(calls=(("search_components", {"query": "chat"}),)),
    Reply(calls=(("describe_component", {"type": "ChatInput"}),)),
    Reply(calls=(("describe_component", {"type": "ChatOutput"}),)),
    Reply(calls=(("build_flow", {"spec": ECHO}),)),
    BUILT,
)
"""The original's trajectory: classify, search, describe twice, build, answer."""
DIRECT = (classified("build_flow"), Reply(calls=(("build_flow", {"spec": ECHO}),)), BUILT)
"""Classify, build, answer."""
_SHOUT = """nodes:
  shouter: Prompt Template
edges:
  Chat Input.message -> shouter.text
  shouter.prompt -> Chat Output.input_value
config:
  shouter.template: "Shout: {text}"
"""
SHORT_EDIT = (
    classified("build_flow"),
    Reply(calls=(("edit_flow", {"changes": _SHOUT}),)),
    Reply(text="I put the prompt between them."),
)
"""Classify, edit, answer."""
ANSWER = Reply(text="It fills the variables of a template with what is connected to them. " * 6)


def long_way(body: dict[str, Any]) -> Reply:
    """The reply of the original's trajectory, decided by what was said before."""
    return LONG[0] if not body.get("tools") else LONG[1 + _results(body)]


def direct_way(body: dict[str, Any]) -> Reply:
    """The reply of the direct trajectory, decided by what was said before."""
    return DIRECT[0] if not body.get("tools") else DIRECT[1 + _results(body)]


def any_turn(body: dict[str, Any]) -> Reply:
    """The reply of an off-topic turn, a question or a build the direct way, decided by what the user wrote."""
    written = json.dumps([message for message in body["messages"] if message["role"] == "user"])
    if OFF_TOPIC in written:
        return classified("off_topic")
    if QUESTION in written:
        return ANSWER if body.get("tools") else classified("question")
    return direct_way(body)


def _results(body: dict[str, Any]) -> int:
    return sum(message["role"] == "tool" for message in body["messages"])
