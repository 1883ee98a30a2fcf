"""What a message is for, by rules: the demo planner's classification."""

import re

from agent.demo.concepts.meanings import asks_for_concept
from agent.demo.edits import wants_edit
from agent.demo.exact.chains import text_stages
from agent.demo.exact.changes import is_change, is_rename
from agent.demo.exact.components import component, wants_component
from agent.demo.exact.files import asked_file, file_steps
from agent.demo.exact.language import Request, take_apart
from agent.demo.exact.places import is_place
from agent.demo.exact.rewording import is_rewording
from agent.demo.reading import Reading, read
from agent.demo.replies import reply
from agent.language.replies import asks_to_continue, plain_reply
from agent.turn.result import Intent
from flows.document import Flow

_POLITE = re.compile(r"^\s*(?:can|could|would|will)\s+you\s+(?:please\s+)?|^\s*please\s+", re.IGNORECASE)
_ASKS = re.compile(
    r"^\s*(?:what|which|who|why|when|where|how|is|are|does|do|did|list|show|explain|describe|tell)\b",
    re.IGNORECASE,
)
_CHAT = 60
"""A longer message is no greeting and no thanks, whatever its words."""


def without_courtesy(message: str) -> str:
    """A message without "could you please" at its beginning."""
    return _POLITE.sub("", message)


def without_run(message: str) -> str:
    """What a message asks to build or to change, without the run that it asks for after it."""
    request = take_apart(message)
    return request.said if request.runs and request.text and request.spoken == "en" else message


def acts(request: Request) -> bool:
    """Whether a clause of a message is a change that the exact rules understand.

    They know English; of another language, only a new name and messages with quoted values are translated well enough.
    """
    if request.spoken != "en" and not request.quoted:
        return any(is_rename(clause) for clause in request.clauses)
    return any(is_change(clause) or is_place(clause) or is_rewording(clause) for clause in request.clauses)


def refusal(message: str) -> str | None:
    """Why a message is refused, or None when it is not."""
    reading = read(message)
    if reading.has("danger"):
        return reply("danger", reading.language)
    asks_how = asks_about_own_model(reading)
    if reading.has("secret") and not asks_how and not (reading.has("build") and reading.recipes):
        return reply("secret", reading.language)
    return None


def demo_refusal(message: str) -> str:
    """The answer to a message that the planner does not act on."""
    return refusal(message) or reply("off_topic", read(message).language)


def small_talk(message: str, language: str = "") -> str | None:
    """The answer to a greeting, to thanks or to a question about the planner itself; None for anything else.

    Args:
        message: what the user wrote.
        language: the language of the conversation, for a yes or no that is in none of its own.
    """
    reading = read(message)
    if plain_reply(message) is not None:
        key = "nothing_to_continue" if asks_to_continue(message) else "nothing_waits"
        return reply(key, language or reading.language)
    if reading.has("abilities"):
        return reply("greeting", reading.language)
    if _is_courtesy(reading, "thanks"):
        return reply("thanks", reading.language)
    if _is_courtesy(reading, "greeting") and not reading.has("would_say"):
        return reply("greeting", reading.language)
    return None


def _is_courtesy(reading: Reading, concept: str) -> bool:
    """Whether a short message thanks or greets: not in a quoted text, and not as what something is to be done with."""
    if len(reading.message) > _CHAT or (concept == "thanks" and reading.has("build", "add", "run")):
        return False
    quoted = [range(quote.start(), quote.end()) for quote in reading.quotes]
    said = [match for match in reading.spans(concept) if not any(match.start() in one for one in quoted)]
    return any(concept == "thanks" or len(reading.message[: match.start()].split()) <= 1 for match in said)


def asks_about_own_model(reading: Reading) -> bool:
    """Whether a message asks how a model of the user's own is used: with which key, and which models there are."""
    return reading.asks and reading.has("own_model") and not reading.of_the_flow


def asks_about_components(reading: Reading) -> bool:
    """Whether a message asks something, rather than for something to be done."""
    if not reading.asks:
        return False
    return reading.has("component") or not reading.has("build") or _ASKS.search(reading.message) is not None


def _elsewhere(reading: Reading) -> bool:
    """Whether a message is about something that has nothing to do with flows."""
    if not reading.has("elsewhere", "component") or "http" in reading.folded or reading.has("flow", "component"):
        return False
    return not (reading.has("build") and reading.recipes)


def is_of_a_flow(reading: Reading) -> bool:
    """Whether a message changes or asks after a flow that it takes to be there."""
    of_a_flow = reading.has("remove", "clear", "fix", "model", "manner", "add", "broken", "explain", "rename")
    builds = reading.has("build") and reading.has("flow")
    return of_a_flow and not builds and not reading.recipes and not reading.has("elsewhere")


def _of_a_component(request: Request, reading: Reading) -> Intent | None:
    """What a message is for that wants a component written or asks how one of the user's own is used."""
    written = component(request)
    if written is None and reading.asks_how_to_use_own_component:
        return "question"
    if not wants_component(request) or acts(request):
        return None
    return "component_then_flow" if written is not None and written.in_flow else "generate_component"


def demo_intent(message: str, flow: Flow | None = None) -> Intent:
    """What a message is for, by rules.

    Args:
        message: what the user wrote.
        flow: the canvas.
    """
    canvas = flow or Flow.empty()
    text = without_courtesy(message)
    if not text.strip() or plain_reply(message) is not None or asks_for_concept(text):
        return "question"
    request, reading = take_apart(text), read(without_run(message), message)
    if refusal(message) is not None or _elsewhere(reading):
        return "off_topic"
    if file_steps(request) is not None or asked_file(request) is not None:
        return "manage_files"
    own = _of_a_component(request, reading)
    if own is not None:
        return own
    if request.runs and not request.text:
        return "run_flow"
    if acts(request):
        return "build_flow"
    if not canvas.is_empty and reading.has("explain", "broken") and not reading.has("fix"):
        return "question"
    builds = "nodes:" in text or (bool(text_stages(request)[0]) and (reading.has("build") or request.runs))
    if reading.routes or builds or "http://" in text or "https://" in text:
        return "build_flow"
    asks = asks_about_components(reading) or (reading.of_the_flow and reading.has("showing"))
    acted_on = reading.has("clear", "fix", "model") and not reading.has("insides")
    if asks_about_own_model(reading) or (asks and not acted_on):
        return "question"
    talk = small_talk(message) is not None
    if (
        (not canvas.is_empty and not talk)
        or wants_edit(reading, canvas)
        or reading.recipes
        or (reading.has("build") and reading.has("flow"))
    ):
        return "build_flow"
    wants = reading.has("component") and reading.has("build")
    if talk or reading.has("templates", "abilities", "explain", "broken") or (reading.has("component") and not wants):
        return "question"
    exact = bool(request.quoted or text_stages(request)[0]) or reading.has("letters") or wants
    return "build_flow" if exact else "question" if is_of_a_flow(reading) else "off_topic"
