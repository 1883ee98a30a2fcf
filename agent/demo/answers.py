"""What a message means as the answer to a question that waits, by the demo planner's rules."""

import re

from agent.demo.exact.components import wants_component
from agent.demo.exact.files import asked_file, file_steps
from agent.demo.exact.language import take_apart
from agent.demo.intent import acts, demo_intent, refusal, small_talk, without_courtesy
from agent.demo.reading import Reading, read
from agent.language.intent import Meaning
from agent.language.replies import PlainReply, plain_reply
from agent.language.requests import asks_redo, asks_undo
from agent.turn.result import Intent
from flows.document import Flow

_SHORT = 60
"""A longer question is about something of its own, whatever its words."""
_ENDS = re.compile(
    r"\s*[,.;:!–—、。，；：！\n]+\s*|\s+(?:but|aber|sondern|mais|pero|mas|ma|però)\s+|でも|但是?", re.IGNORECASE
)
"""What ends the yes or no with which a message begins."""
_INSTEAD = re.compile(
    r"\b(?:instead|rather|stattdessen|lieber|plutôt|mejor|en su lugar|melhor|em vez disso|invece|piuttosto)\b"
    r"|代わりに|而是|改成",
    re.IGNORECASE,
)
_ORDERS = re.compile(r"^\s*(?:show|list|tell|explain|describe)\b", re.IGNORECASE)


def demo_meaning(message: str, canvas: Flow) -> tuple[Meaning, Intent]:
    """What a message means as an answer to what waits, beyond a plain yes or no, and its own intent.

    What no rule knows decides nothing, unless it begins with a no: a reason changes no answer.

    Args:
        message: what the user wrote.
        canvas: the flow that is worked on.
    """
    head, rest = _parted(message)
    reading, intent = read(rest), demo_intent(rest, canvas)
    own: Intent = intent if intent in {"question", "off_topic"} else "question"
    if asks_why(rest):
        return "other", "question"
    if _is_request(rest, reading):
        if head != "approve":
            return "other", intent
        return ("approve", "build_flow") if _only_runs(rest) else ("unclear", intent)
    if _is_wish(rest, reading) or (head is not None and len(reading.quotes) == 1):
        return "change", "build_flow"
    if head == "deny" and _INSTEAD.search(rest) and reading.recipes:
        return "other", "build_flow"
    if reading.asks or _ORDERS.match(rest) or small_talk(rest) is not None:
        return "other", own
    if reading.has("elsewhere", "templates", "explain") or refusal(rest) is not None:
        return "other", own
    return ("deny", "build_flow") if head == "deny" else ("unclear", own)


def asks_why(message: str) -> bool:
    """Whether a message asks about the question that waits: why it is asked, or what a yes would do."""
    reading = read(message)
    return len(message) <= _SHORT and not reading.recipes and reading.has("why") and not reading.has("component")


def run_of(message: str) -> str | None:
    """The run that a yes asks for beside what it approves, as words to follow the request; None when it asks for none.

    Args:
        message: the answer.
    """
    _, rest = _parted(message)
    if not _only_runs(rest):
        return None
    given = take_apart(rest).input
    return ", and run it" if given is None else f", and run it with '{given}'"


def revised(message: str, wish: str) -> str:
    """A request as a wish changes it: with the wish's quoted text in place of its own, else followed by the wish.

    Args:
        message: the request.
        wish: the words in which the user asked for it to be done differently.
    """
    old, new = read(message).quotes, read(wish).quotes
    if len(old) == len(new) == 1:
        return message[: old[0].start()] + new[0][0] + message[old[0].end() :]
    return f"{message}\n{wish}"


def _parted(message: str) -> tuple[PlainReply | None, str]:
    """The yes or no with which a message begins, if it does, and what comes after it."""
    end = _ENDS.search(message)
    head = None if end is None else plain_reply(message[: end.start()])
    return (None, message) if end is None or head is None else (head, message[end.end() :])


def _only_runs(text: str) -> bool:
    request = take_apart(re.sub(r"^\s*(?:and|then|now)\s+", "", text, flags=re.IGNORECASE))
    return request.runs and not request.text


def _is_request(text: str, reading: Reading) -> bool:
    """Whether a text asks for something to be done that stands by itself; naming what can be built is not enough."""
    if asks_undo(text) or asks_redo(text) or _only_runs(text) or "nodes:" in text:
        return True
    request = take_apart(without_courtesy(text))
    if acts(request) or file_steps(request) is not None or asked_file(request) is not None or wants_component(request):
        return True
    if reading.has("build") and (reading.recipes or reading.has("flow")):
        return True
    return not reading.asks and reading.has("clear", "fix")


def _is_wish(text: str, reading: Reading) -> bool:
    """Whether a text wants something otherwise than it was proposed, politely or not."""
    if reading.has("explain", "templates", "component") or refusal(text) is not None:
        return False
    if reading.spans("question") and without_courtesy(text) == text:
        return False
    if _INSTEAD.search(text) and any(recipe.step for recipe in reading.recipes):
        return True
    return reading.has("manner", "language", "model", "add", "remove")
