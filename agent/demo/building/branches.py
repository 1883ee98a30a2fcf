"""Routers by what a message is about or contains, with a text or a model for each branch."""

import json
import re

from agent.demo.building.recipe import recipes
from agent.demo.building.routers import exact_router
from agent.demo.building.stages import spec
from agent.demo.models import MODEL, model_named
from agent.demo.reading import Reading
from agent.demo.words import fold, found, vocabulary

OTHERWISE = "Otherwise"
_SIGNS = " ,.;:!?。，、；！？"
_BRANCHES = re.compile(r"[,.;。，；\n]\s*")
_SENTENCE = re.compile(r"[.!?;](?:\s+|$)|[。！？；\n]")
_ARROW = re.compile(r"->|=>|→|⇒")
_LABEL = re.compile(r"[→:>=,\-–—]+|->|=>")
_PAIR = 2
"""A quoted condition and its quoted answer."""
_BEHIND = 20
"""How many characters behind a quote may make it a condition."""


def branches(reading: Reading) -> str | None:
    """A router: by texts when both they and their answers are quoted, else by meaning, with a text for each branch.

    A branch without a text, such as "questions -> answer with AI", leads to a model.
    """
    exact = quoted_router(reading)
    if exact is not None:
        return exact
    if not reading.routes:
        return None
    routes: list[tuple[str, str]] = []
    default: str | None = None
    end = 0
    for quote in reading.quotes:
        said = next(filter(None, quote.groups()), "")
        routes.extend(_answered_by_a_model(reading.message[end : quote.start()].rpartition(",")[0], reading))
        before = reading.message[end : quote.start()]
        end = quote.end()
        if found(vocabulary()["otherwise"], fold(before), reading.language) and routes:
            default = said
            continue
        label = _label(before, reading)
        if not label:
            return None
        routes.append((label, said))
    routes.extend(_answered_by_a_model(reading.message[end:], reading))
    if not routes or len({label for label, _ in routes}) < len(routes):
        return None
    return _routed(routes, default, model_named(reading.message) or MODEL)


def unrouted(reading: Reading) -> list[str]:
    """The sentences behind the branches of a message that say something else, such as "It must never give advice".

    Args:
        reading: the message; what else is known of a sentence is named elsewhere.
    """
    if not reading.quotes:
        return []
    around = ("otherwise", "run", "plan", "channel", "schedule", "media", "world", "thanks", "greeting", "condition")
    rest = reading.message[reading.quotes[-1].end() :]
    sentences = [one.strip(_SIGNS) for one in _SENTENCE.split(rest)[1:]]
    known = [vocabulary()[name] for name in around] + [recipe.words for recipe in recipes().values()]
    return [one for one in sentences if one and not any(found(words, fold(one), reading.language) for words in known)]


def quoted_router(reading: Reading) -> str | None:
    """A router by texts, when a message quotes what is looked for as well as each answer; else None."""
    quoted = _quoted_conditions(reading) if reading.routes or reading.answers_quotes else None
    return None if quoted is None else exact_router(*quoted)


def _quoted_conditions(reading: Reading) -> tuple[list[tuple[str, str]], str | None] | None:
    """The branches of a message that quotes what it looks for as well as the answers, and the answer to the rest.

    A quote is looked for when a word such as "when" or "to" leads right up to it, or one such as "says" between them
    does: "bei 'Hallo' mit 'Guten Tag'", "'Bonjour' si on dit 'salut'"; in Japanese the words stand behind it. What the
    rest is answered with may stand before the words for it: "'What?' to anything else".
    """
    pairs: list[tuple[str, str]] = []
    default: str | None = None
    waiting: list[tuple[str, bool]] = []
    end = 0
    for quote in reading.quotes:
        said, before = next(filter(None, quote.groups()), ""), fold(reading.message[end : quote.start()])
        end = quote.end()
        rest = fold(reading.message[end:]) if quote is reading.quotes[-1] else ""
        if pairs and not waiting and found(vocabulary()["otherwise"], f"{before} … {rest}", reading.language):
            default = said
            continue
        behind = fold(reading.message[end : end + _BEHIND])
        waiting.append((said, _is_condition(before, behind, reading.language)))
        if len(waiting) == _PAIR:
            (first, is_operand), (second, is_later) = waiting
            if is_operand == is_later:
                return None
            pairs.append((first, second) if is_operand else (second, first))
            waiting = []
    return None if waiting or not pairs else (pairs, default)


def _is_condition(before: str, behind: str, language: str) -> bool:
    """Whether a quote is looked for, by what stands before and behind it: German may put the verb last."""
    if language == "ja":
        return _follows(behind)
    ends = language == "de" and any(
        not behind[: one.start()].strip() for one in found(vocabulary()["saying"], behind, "de")
    )
    return _leads_up(before, language) or (ends and bool(found(vocabulary()["condition"], before, language)))


def _leads_up(before: str, language: str) -> bool:
    """Whether a condition ends where a quote begins: "when", "to", or "when somebody says"."""
    if any(not before[joint.end() :].strip(_SIGNS) for joint in found(vocabulary()["answered_to"], before, language)):
        return True
    for joint in found(vocabulary()["condition"], before, language):
        if found(vocabulary()["then"], joint[0], language):
            continue
        between = before[joint.end() :].strip(_SIGNS)
        says = found(vocabulary()["saying"], between, language)
        if not between or (says and says[-1].end() == len(between)):
            return True
    return False


def _follows(behind: str) -> bool:
    """Whether a condition begins where a quote ends, as Japanese has it."""
    return any(
        match.start() == 0
        for concept in ("saying", "answered_to")
        for match in found(vocabulary()[concept], behind, "ja")
    )


def _answered_by_a_model(text: str, reading: Reading) -> list[tuple[str, str]]:
    """The branches in a piece of a message that give no text of their own: what each is about, and no text."""
    branches: list[tuple[str, str]] = []
    for part in _BRANCHES.split(text):
        arrow = _ARROW.search(part)
        if found(vocabulary()["otherwise"], fold(part if arrow is None else part[: arrow.start()]), reading.language):
            branches.append((OTHERWISE, ""))
        elif arrow is not None and part[: arrow.start()].strip(_SIGNS):
            branches.append((_label(part[: arrow.start()], reading), ""))
    return branches


def _label(before: str, reading: Reading) -> str:
    """What a branch is about: the words before its text, without what only joins them."""
    text = re.split(r"[.;。；\n]\s*", before.strip(" ,.;:→->=。，、；\n"))[-1]
    text = re.split(r"[:：]\s*(?=\S)", text)[-1]
    folded = fold(text)
    kept = text
    for match in found(vocabulary()["condition"], folded, reading.language):
        if match.start() == 0 or reading.language in ("ja", "zh"):
            kept = kept[: match.start()] + " " * len(match[0]) + kept[match.end() :]
    named = _without_lead(_LABEL.sub(" ", kept), reading.language) or _without_lead(text, reading.language) or kept
    return " ".join(_LABEL.sub(" ", named).split())[:80]


def _without_lead(label: str, language: str) -> str:
    """A label without the words that lead from it to its answer: of "appointments it should say", "appointments"."""
    concepts = [vocabulary()[name] for name in ("answering", "leads_to_answer")]
    kept = label.rstrip(_SIGNS)
    while True:
        ends = [match for words in concepts for match in found(words, fold(kept), language) if match.end() == len(kept)]
        if not ends or language in ("ja", "zh"):
            break
        kept = kept[: min(match.start() for match in ends)].rstrip(_SIGNS)
    for concept in ("joins", "answered_to"):
        begun = [match for match in found(vocabulary()[concept], fold(kept), language) if match.start() == 0]
        kept = kept[begun[0].end() :].strip() if begun and language not in ("ja", "zh") else kept
    return kept


def _described(label: str) -> str:
    return "The message is about none of the other routes" if label == OTHERWISE else f"The message is about: {label}"


def _routed(routes: list[tuple[str, str]], default: str | None, model: str) -> str:
    nodes = [("chat", "ChatInput"), ("router", "SmartRouter")]
    edges = ["chat.message -> router.input_text"]
    models: list[str] = []
    table = [
        {"route_category": label, "route_description": _described(label), "output_value": said}
        for label, said in (*routes, *([] if default is None else [(OTHERWISE, default)]))
    ]
    for number, row in enumerate(table, 1):
        given = f"router.category_{number}_result"
        if not row["output_value"]:
            nodes.append((f"model{number}", "LanguageModelComponent"))
            edges.append(f"{given} -> model{number}.input_value")
            models.append(f"  model{number}.model: {model}")
            given = f"model{number}.text_output"
        nodes.append((f"answer{number}", "ChatOutput"))
        edges.append(f"{given} -> answer{number}.input_value")
    config = [f"  router.model: {model}", f"  router.routes: {json.dumps(table, ensure_ascii=False)}", *models]
    return spec("Router", nodes, edges, config)
