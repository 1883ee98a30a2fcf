"""What a message is for: a small, stateless request to the model, never streamed."""

import re
from typing import cast, get_args

from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from agent.prompts import prompt
from agent.turn import Intent

OUTPUT_TOKENS = 300
"""The most that a classification may write."""

_classifier = Agent(instructions=prompt("intent"), name="intent", retries=0)
_LABEL = re.compile("|".join(sorted(get_args(Intent), key=len, reverse=True)), re.IGNORECASE)


async def classify(text: str, model: Model, usage: RunUsage) -> Intent:
    """Classify a message.

    Args:
        text: the user's message; an empty one is a question and asks no model.
        model: answers the classification.
        usage: takes what it costs.

    Returns:
        The intent; `action` when the answer names none, so that nothing asked for is refused by mistake.
    """
    if not text.strip():
        return "question"
    run = await _classifier.run(text, model=model, usage=usage, model_settings=ModelSettings(max_tokens=OUTPUT_TOKENS))
    return read_label(run.output)


def read_label(answer: str) -> Intent:
    """The intent named first in an answer, whatever fences or prose surround it."""
    found = _LABEL.search(answer.replace("-", "_").replace("off topic", "off_topic"))
    return cast("Intent", found.group().lower()) if found else "action"
