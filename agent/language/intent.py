"""Classifies the intent of a message and translates it, with one small, stateless request that is never streamed."""

import json
import re
from dataclasses import replace
from typing import cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_ai import ModelRequest, ModelResponse
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage, RunUsage

from agent.prompts import prompt
from agent.turn.result import Intent

OUTPUT_TOKENS = 300
"""The maximum length of a classification in tokens."""

READ_CHARACTERS = 4_000
"""How many characters of a message are classified."""

DEFAULT: Intent = "build_flow"
"""The intent for an unreadable answer, so that no request is refused by mistake."""


class Classification(BaseModel):
    """The classification of a message.

    Attributes:
        intent: the kind of request.
        english: the message in English; empty if it is in English or was not translated.
        language: the code of the message's language, if known.
        model: the model that the message names for the flow, if any.
        provider: the provider that it names, if any.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    intent: Intent = DEFAULT
    english: str = ""
    language: str | None = None
    model: str | None = None
    provider: str | None = None

    @field_validator("intent", mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        return parse_intent(given) or DEFAULT if isinstance(given, str) else given

    @field_validator("english", mode="before")
    @classmethod
    def _text(cls, given: object) -> object:
        return given if isinstance(given, str) else ""

    @field_validator("language", "model", "provider", mode="before")
    @classmethod
    def _word(cls, given: object) -> object:
        word = given.strip() if isinstance(given, str) else ""
        return word[:100] if word and word.lower() not in {"null", "none"} else None


_OBJECT = re.compile(r"\{.*?\}", re.DOTALL)
_KEYED = re.compile(r"[\"']?intent[\"']?\s*[:=]\s*[\"'`]*([A-Za-z_ -]+)", re.IGNORECASE)
_LABEL = re.compile("|".join(sorted(get_args(Intent), key=len, reverse=True)), re.IGNORECASE)
_WORDS: tuple[tuple[re.Pattern[str], Intent], ...] = (
    (re.compile(r"\boff[\s-]?topic\b|\bunrelated\b", re.IGNORECASE), "off_topic"),
    (re.compile(r"\bquestion\b", re.IGNORECASE), "question"),
    (re.compile(r"\bcomponents?\b.*\bthen\b.*\bflow\b", re.IGNORECASE), "component_then_flow"),
    (re.compile(r"\b(generat|creat|writ)\w*\b.*\bcomponent\b", re.IGNORECASE), "generate_component"),
    (re.compile(r"\brun(s|ning)?\b.*\bflow\b", re.IGNORECASE), "run_flow"),
    (re.compile(r"\bmanag\w*\b.*\bfiles?\b", re.IGNORECASE), "manage_files"),
)


def parse_intent(answer: str) -> Intent | None:
    """Return the first intent named in a text, or None."""
    found = _LABEL.search(re.sub(r"[\s-]+", "_", answer))
    if found:
        return cast("Intent", found.group().lower())
    return next((intent for words, intent in _WORDS if words.search(answer)), None)


def read_classification(answer: str) -> Classification:
    """Read a model's classification: JSON, JSON inside fences or prose, or only keywords."""
    for written in (answer.strip(), *_OBJECT.findall(answer)):
        try:
            parsed: object = json.loads(written)
        except ValueError:
            continue
        if isinstance(parsed, dict) and "intent" in parsed:
            try:
                return Classification.model_validate(parsed)
            except ValidationError:
                continue
    keyed = _KEYED.search(answer)
    return Classification(intent=(parse_intent(keyed.group(1)) if keyed else None) or parse_intent(answer) or DEFAULT)


async def classify(text: str, model: Model, usage: RunUsage) -> Classification:
    """Classify a message and translate it.

    Args:
        text: the user's message; an empty one is a question and needs no model.
        model: classifies.
        usage: counts what it costs.

    Returns:
        The classification; `build_flow` if the model names no intent.
    """
    if not text.strip():
        return Classification(intent="question")
    request = ModelRequest.user_text_prompt(text[:READ_CHARACTERS], instructions=prompt("intent"))
    response = await model_request(model, [request], model_settings=ModelSettings(max_tokens=OUTPUT_TOKENS))
    usage.requests += 1
    usage.incr(_usage_with_cost(response))
    return read_classification(response.text or "")


def _usage_with_cost(response: ModelResponse) -> RequestUsage:
    """The usage of a response, with its price if that is known."""
    usage = response.usage
    if usage.cost is not None or not response.model_name:
        return usage
    try:
        return replace(usage, cost=response.cost().total_price)
    except (LookupError, ValueError):  # the price of this model is unknown
        return usage
