"""Classifies the intent of a message and translates it, with one small, stateless request that is never streamed."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic_ai import ModelRequest, ModelResponse
from pydantic_ai.direct import model_request
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage, RunUsage

from agent.prompts import prompt
from agent.turn.result import Intent
from tools.mandate import Mandate

OUTPUT_TOKENS = 300
"""The maximum length of a classification in tokens."""

READ_CHARACTERS = 4_000
"""How many characters of a message are classified."""

ANSWER_CHARACTERS = 4_000
"""How many characters of an answer are searched for JSON."""

WAITING = {
    "plan": "a plan to be carried out",
    "edit": "a text to be replaced",
    "install": "packages to be installed",
    "removal": "something to be removed or overwritten",
    "outbound": "something to be sent out",
    "secret": "a secret to be kept or used",
    "proposal": "a flow to be put on the canvas",
}
"""What the classifier is told about each kind of question."""

DEFAULT: Intent = "build_flow"
"""The intent for an unreadable answer, so that no request is refused by mistake."""


Meaning: TypeAlias = Literal["approve", "deny", "change", "unclear", "other"]
"""What a message means as an answer to a question that waits: `change` asks for it done differently, `unclear` decides
nothing, and `other` is a request or question of its own."""

_MEANINGS: tuple[str, ...] = get_args(Meaning)


class Classification(BaseModel):
    """The classification of a message.

    Attributes:
        intent: the kind of request.
        english: the message in English; empty if it is in English or was not translated.
        language: the code of the message's language, if known.
        model: the model that the message names for the flow, if any.
        provider: the provider that it names, if any.
        reply: what it means as an answer to the question that waits; None when nothing waits or it cannot be read.
        reason: the user's words for that; empty when there are none.
        mandate: the effects that it asks for.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    intent: Intent = DEFAULT
    english: str = ""
    language: str | None = None
    model: str | None = None
    provider: str | None = None
    reply: Meaning | None = None
    reason: str = ""
    mandate: Mandate = Mandate()

    @field_validator("intent", mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        return parse_intent(given) or DEFAULT if isinstance(given, str) else given

    @field_validator("reply", mode="before")
    @classmethod
    def _meaning(cls, given: object) -> object:
        word = given.strip().lower() if isinstance(given, str) else None
        return word if word in _MEANINGS else None

    @field_validator("mandate", mode="before")
    @classmethod
    def _mandate(cls, given: object) -> object:
        if isinstance(given, Mandate):
            return given
        effects = cast("dict[str, object]", given) if isinstance(given, dict) else {}
        return {"effects": effects.get("effects", effects)}

    @field_validator("english", "reason", mode="before")
    @classmethod
    def _text(cls, given: object) -> object:
        return given if isinstance(given, str) else ""

    @field_validator("language", "model", "provider", mode="before")
    @classmethod
    def _word(cls, given: object) -> object:
        word = given.strip() if isinstance(given, str) else ""
        return word[:100] if word and word.lower() not in {"null", "none"} else None


_DECODER = json.JSONDecoder()
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
    for parsed in _objects(answer):
        if "intent" in parsed:
            try:
                return Classification.model_validate(parsed)
            except ValidationError:
                continue
    keyed = _KEYED.search(answer)
    return Classification(intent=(parse_intent(keyed.group(1)) if keyed else None) or parse_intent(answer) or DEFAULT)


def _objects(answer: str) -> Iterator[dict[str, object]]:
    """The JSON objects in a text."""
    for opening in re.finditer(r"\{", answer[:ANSWER_CHARACTERS]):
        try:
            parsed, _ = _DECODER.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        yield cast("dict[str, object]", parsed)


def instructions(waiting: Collection[str] = ()) -> str:
    """The classifier's instructions.

    Args:
        waiting: the kinds of question that wait for an answer.
    """
    if not waiting:
        return prompt("intent")
    kinds = ", ".join(dict.fromkeys(WAITING[kind] for kind in waiting))
    return f"{prompt('intent')}\n\n{prompt('reply').format(kinds=kinds)}"


async def classify(text: str, model: Model, usage: RunUsage, waiting: Collection[str] = ()) -> Classification:
    """Classify a message and translate it.

    Args:
        text: the user's message; an empty one is a question and needs no model.
        model: classifies.
        usage: counts what it costs.
        waiting: the kinds of question that wait for an answer, never their text, which could steer the answer.

    Returns:
        The classification; `build_flow` if the model names no intent.
    """
    if not text.strip():
        return Classification(intent="question")
    request = ModelRequest.user_text_prompt(text[:READ_CHARACTERS], instructions=instructions(waiting))
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
