"""Flows that the demo planner can build from a sentence, as spec texts."""

import json
import re
from collections.abc import Callable

from agent.demo.language import VARIABLE, Request

_BUILD = re.compile(
    r"\b(build|create|make|set\s*up|generate|design|compose|assemble|need|want|would like|'d like|give me)\b",
    re.IGNORECASE,
)
_FLOWISH = re.compile(r"\b(flow|bot|chatbot|pipeline|workflow|assistant|app|something|one)\b", re.IGNORECASE)
_CHAT_NAMES = ("text", "input", "message", "question", "query", "user_input", "chat_input", "prompt", "topic")
_PATTERNS = {
    r"e-?mails?(?:\s+address(?:es)?)?": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
    r"(?:urls?|links?|web\s+address(?:es)?)": r"https?://[^\s]+",
    r"phone(?:\s+numbers?)?": r"\+?\d[\d\s().-]{6,}\d",
    r"dates?": r"\d{4}-\d{2}-\d{2}",
    r"hash\s?tags?": r"#\w+",
    r"(?:mentions?|handles?)": r"@\w+",
    r"(?:numbers?|digits?|amounts?|integers?)": r"-?\d+(?:[.,]\d+)?",
}


def wants_build(request: Request) -> bool:
    """Whether a message asks for a whole flow."""
    return "nodes:" in request.lower or bool(_BUILD.search(request.text) and _FLOWISH.search(request.text))


def recipe(request: Request, message: str) -> str | None:
    """The spec text for a message, or None when no recipe covers it.

    Args:
        request: the message taken apart.
        message: the message as written, for one that is spec text itself.
    """
    if "nodes:" in message:
        return message[message.index("name:") :] if "name:" in message else message[message.index("nodes:") :]
    recipes: tuple[Callable[[Request], str | None], ...] = (_template, _extraction, _combination, _echo)
    return next((spec for make in recipes if (spec := make(request)) is not None), None)


def _template(request: Request) -> str | None:
    template = next((value for value in request.quoted if VARIABLE.search(value)), None)
    if template is None:
        worded = re.search(r"\b(?:prompt|template|instruction)s?\b[^⟦]*⟦(\d+)⟧", request.text, re.IGNORECASE)
        if worded is None:
            return None
        template = request.quoted[int(worded.group(1))] + " {text}"
    variables = list(dict.fromkeys(VARIABLE.findall(template)))
    chat = next((name for name in _CHAT_NAMES if name in variables), variables[0])
    values = {name: value for name in variables if name != chat and (value := _value_of(name, request)) is not None}
    asked = [name for name in variables if name != chat and name not in values]
    nodes = ["  chat: ChatInput", *(f"  {name}_value: TextInput" for name in asked), "  prompt: Prompt Template"]
    edges = [f"  chat.message -> prompt.{chat}", *(f"  {name}_value.text -> prompt.{name}" for name in asked)]
    config = [_block("prompt.template", template), *(_block(f"prompt.{name}", value) for name, value in values.items())]
    return _spec(
        "Prompt template",
        [*nodes, "  answer: ChatOutput"],
        [*edges, "  prompt.prompt -> answer.input_value"],
        config,
    )


def _value_of(name: str, request: Request) -> str | None:
    said = re.search(rf"\b{re.escape(name)}\s*(?:=|:|\bis\b|\bas\b|\bbeing\b)\s*(⟦\d+⟧|[\w-]+)", request.text)
    return request.unmask(said.group(1)) if said else None


def _extraction(request: Request) -> str | None:
    if not re.search(r"\b(extract|find|pull|pick|get|match|grab)\w*\b", request.lower):
        return None
    given = re.search(r"\b(?:regex|pattern|expression|match\w*)\b[^⟦]*⟦(\d+)⟧", request.text, re.IGNORECASE)
    if given:
        pattern = request.quoted[int(given.group(1))]
    else:
        named = next((regex for words, regex in _PATTERNS.items() if re.search(rf"\b{words}\b", request.lower)), None)
        if named is None:
            return None
        pattern = named
    return _spec(
        "Text extraction",
        ["  chat: ChatInput", "  extract: RegexExtractorComponent", "  answer: ChatOutput"],
        ["  chat.message -> extract.input_text", "  extract.text -> answer.input_value"],
        [_block("extract.pattern", pattern)],
    )


def _combination(request: Request) -> str | None:
    verb = re.search(
        r"\b(combin\w*|join\w*|concat\w*|prefix\w*|append\w*|prepend\w*|suffix\w*|puts?|adds?|starts?|ends?)\b",
        request.lower,
    )
    if verb is None or not request.quoted:
        return None
    fixed = request.quoted[0]
    last = re.search(r"\b(append\w*|suffix\w*|after|end|ends|behind)\b", request.lower)
    mine, other = ("text2", "text1") if last else ("text1", "text2")
    delimiter = re.search(r"\b(?:delimiter|separator|separated by|joined (?:by|with))\b[^⟦]*⟦(\d+)⟧", request.text)
    between = request.quoted[int(delimiter.group(1))] if delimiter else " "
    if fixed == between and len(request.quoted) > 1:
        fixed = request.quoted[1]
    return _spec(
        "Combined text",
        ["  chat: ChatInput", "  combine: CombineText", "  answer: ChatOutput"],
        [f"  chat.message -> combine.{other}", "  combine.combined_text -> answer.input_value"],
        [_block(f"combine.{mine}", fixed), f"  combine.delimiter: {json.dumps(between)}"],
    )


def _echo(request: Request) -> str | None:
    echoes = re.search(r"\b(echo\w*|repeat\w*|parrot\w*|mirror\w*)\b", request.lower)
    returns = re.search(
        r"\b(answers?|replies|responds?|returns?|outputs?|says?)\b.*\b(it|back|same|what)\b", request.lower
    )
    wired = re.search(r"\b(chat|text)?\s*input\b.*\b(chat|text)?\s*output\b", request.lower)
    if not (echoes or returns or wired):
        return None
    return _spec("Echo", ["  chat: ChatInput", "  answer: ChatOutput"], ["  chat.message -> answer.input_value"], [])


def _spec(name: str, nodes: list[str], edges: list[str], config: list[str]) -> str:
    head = [f"name: {name}", "nodes:", *nodes, "edges:", *edges]
    return "\n".join([*head, *(["config:", *config] if config else [])])


def _block(key: str, value: str) -> str:
    """A config entry that keeps a value to the letter."""
    return "\n".join([f"  {key}: |", *(f"    {line}" for line in value.split("\n"))])
