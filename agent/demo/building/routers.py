"""Routers: "if it contains 'a' answer 'b', otherwise 'c'", as spec text with one router a condition."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.demo.building.stages import entry, spec
from agent.demo.exact.language import Request

_OPERATORS = (
    (r"does(?:n't|\s+not)\s+equal|is\s+not|isn't|not\s+equals?", "not equals"),
    (r"(?:is\s+)?(?:greater|more|bigger|larger|higher)\s+than(?:\s+or\s+equal\s+to)?", "greater than"),
    (r"(?:is\s+)?(?:less|smaller|lower|fewer)\s+than", "less than"),
    (r"(?:starts?|begins?|starting|beginning)\s+with", "starts with"),
    (r"(?:ends?|ending)\s+(?:with|in)", "ends with"),
    (r"(?:match(?:es|ing)?)(?:\s+the)?(?:\s+(?:regex|pattern|expression))?", "regex"),
    (r"contain(?:s|ing)?|includ(?:es?|ing)|mentions?|has|having|with", "contains"),
    (r"equals?(?:\s+to)?|is\s+(?:equal\s+to|exactly)|says?|is", "equals"),
)
_CONDITION = re.compile(
    r"\b(?:if|when(?:ever)?|messages?\s+that|texts?\s+that|everything\s+that|messages?(?=\s+with)|one(?=\s+with))\b\s*"
    r"(?:[\w']+\s+){0,5}?"
    rf"(?P<operator>{'|'.join(words for words, _ in _OPERATORS)})\s+"
    r"(?:(?:the|a|an)\s+)?(?:(?:word|text|number|phrase|letters?)\s+)?(?P<operand>⟦\d+⟧|[\w@#.+-]*\w)",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:otherwise|else|if\s+not|in\s+(?:any|every|all)\s+other\s+cases?|(?:for\s+)?(?:everything|anything)\s+else"
    r"|the\s+(?:rest|others?))\b",
    re.IGNORECASE,
)
_REPLY = re.compile(r"⟦(\d+)⟧")
_AND_MESSAGE = re.compile(
    r"\s*(?:and|plus|followed\s+by|with|,|suivi\s+du|suivi\s+de|und|y|e|et)\s+(?:then\s+)?(?:the\s+|my\s+|its?\s+|le\s+|la\s+|die\s+|den\s+|el\s+|a\s+|o\s+)?"
    r"(?:whole\s+)?(?:message|number|text|it|words?|input|nachricht|mensaje|mensagem|texto|texte)\b",
    re.IGNORECASE,
)
_ROUTES = re.compile(r"\b(?:rout\w*|branch\w*|condition\w*|if[\s-]else)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Branch:
    """One condition and what is answered when it holds; a reply of None passes the message on."""

    operator: str
    operand: str
    reply: str | None


def router(request: Request) -> str | None:
    """The spec text of a router, or None when the request states no condition.

    Args:
        request: the message taken apart.
    """
    text = request.text
    conditions = [match for match in _CONDITION.finditer(text) if _is_exact(match)]
    otherwise = _OTHERWISE.search(text)
    if not conditions or (otherwise is None and not _ROUTES.search(text) and not _replies(text, conditions)):
        return None
    ends = [match.start() for match in conditions[1:]] + [otherwise.start() if otherwise else len(text)]
    reply_first = _REPLY.search(text[: conditions[0].start()]) is not None
    branches: list[Branch] = []
    taken = 0
    for match, end in zip(conditions, ends, strict=True):
        around = text[taken : match.start()] if reply_first else text[match.end() : max(end, match.end())]
        reply = _last(around, request) if reply_first else _first(around, request)
        taken = match.end()
        branches.append(Branch(_operator(match["operator"]), request.unmask(match["operand"]), reply))
    default = None
    if otherwise is not None:
        between = text[taken : otherwise.start()] if reply_first else ""
        default = _first(text[otherwise.end() :], request) or _last(between, request)
    return _written(branches, default)


def exact_router(branches: Sequence[tuple[str, str]], default: str | None) -> str:
    """The spec text of a router that looks for texts in the message.

    Args:
        branches: what a message contains, and what it is answered with, in the order in which they are tried.
        default: the answer to every other message; None passes it on.
    """
    return _written([Branch("contains", operand, reply) for operand, reply in branches], default)


def _is_exact(condition: re.Match[str]) -> bool:
    """Whether a condition compares texts: "is about billing" asks for a meaning, "is 'billing'" for a text."""
    return _operator(condition["operator"]) not in ("equals", "not equals") or condition["operand"].startswith("⟦")


def _written(branches: list[Branch], default: str | None) -> str:
    nodes = [("chat", "ChatInput")]
    edges: list[str] = []
    config: list[str] = []
    given = "chat.message"
    for number, branch in enumerate(branches, 1):
        choice = "choice" if len(branches) == 1 else f"choice{number}"
        said = "then" if len(branches) == 1 else f"then{number}"
        nodes.append((choice, "ConditionalRouter"))
        edges.append(f"{given} -> {choice}.input_text")
        config += [f"  {choice}.operator: {branch.operator}", entry(f"{choice}.match_text", branch.operand)]
        _answer(said, f"{choice}.true_result", branch.reply, nodes, edges, config)
        given = f"{choice}.false_result"
    _answer("otherwise", given, default, nodes, edges, config)
    return spec("Router", nodes, edges, config)


def _answer(
    name: str, given: str, reply: str | None, nodes: list[tuple[str, str]], edges: list[str], config: list[str]
) -> None:
    """One branch's end: the message itself, a text with the message in it, or a fixed text."""
    nodes.append((name, "ChatOutput"))
    variables = [] if reply is None else re.findall(r"(?<!\{)\{([A-Za-z]\w*)\}(?!\})", reply)
    if reply is not None and variables:
        nodes.insert(-1, (f"{name}_text", "Prompt Template"))
        edges.append(f"{given} -> {name}_text.{variables[0]}")
        edges.append(f"{name}_text.prompt -> {name}.input_value")
        config.append(entry(f"{name}_text.template", reply))
        return
    if reply is not None:
        choice, port = given.split(".")
        config.append(entry(f"{choice}.{'true' if port == 'true_result' else 'false'}_case_message", reply))
    edges.append(f"{given} -> {name}.input_value")


def _replies(text: str, conditions: list[re.Match[str]]) -> bool:
    return any(match["operand"].startswith("⟦") for match in conditions) and len(_REPLY.findall(text)) > len(conditions)


def _operator(said: str) -> str:
    return next(name for words, name in _OPERATORS if re.fullmatch(words, said, re.IGNORECASE))


def _first(text: str, request: Request) -> str | None:
    found = _REPLY.search(text)
    return None if found is None else _with_message(found, text, request)


def _last(text: str, request: Request) -> str | None:
    found = list(_REPLY.finditer(text))
    return _with_message(found[-1], text, request) if found else None


def _with_message(found: re.Match[str], text: str, request: Request) -> str:
    """A reply, with a gap for the message where one was asked for behind it."""
    reply = request.quoted[int(found.group(1))]
    if _AND_MESSAGE.match(text, found.end()) is None:
        return reply
    escaped = reply.replace("{", "{{").replace("}", "}}")
    return f"{escaped}{'' if escaped.endswith((' ', chr(10))) else ' '}{{text}}"
