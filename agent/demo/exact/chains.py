"""Chains of changes of a text: a request cut into parts, and the stage that each part asks for."""

import re

from agent.demo.building.stages import Stage
from agent.demo.exact.language import Request, take_apart
from agent.demo.exact.texts import text_stage

_VERBS = (
    "convert|turn|make|put|chang|replac|count|trim|strip|remov|extract|find|get|pull|pick|add|append|prepend|prefix|join"
    "|combin|split|cut|break|calculat|comput|evaluat|work|summari|translat|classif|rewrit|ask|answer|repl|say|return"
    "|respond|show|print|output|send|call|fetch|read|take|keep|echo|repeat|writ|search|pars|format|list|clean|upper|lower"
    "|capital|us|giv|tell|pass|display|swap|scrap|remember|correct|fix|suffix|start|end|begin"
)
_SPLIT = re.compile(
    rf"\s*(?:[,;.:]|\band\b|\bthen\b|\bafterwards\b|\bfinally\b|\bafter\s+that\b)++\s*"
    rf"(?:(?:and|then|finally|also|it|that|which|the\s+result)\s+)*+(?=(?:{_VERBS})\w*\b)",
    re.IGNORECASE,
)
_PLUMBING = re.compile(
    r"\b(build|create|make|set|up|generate|design|want|need|would|like|i|me|my|we|you|please|give|an?|the|new|simple|small|flow"
    r"|bot|chatbot|pipeline|workflow|assistant|app|something|one|that|which|who|where|takes?|reads?|gets?|accepts?|receives?"
    r"|chat|text|message|messages|input|inputs|output|outputs|user|users|user's|whatever|what|type[sd]?|says?|said|say|it|them"
    r"|this|back|shows?|prints?|returns?|answers?|repl(?:y|ies)|responds?|response|gives?|sends?|displays?|outputs?|result"
    r"|results|with|from|to|into|in|on|of|for|as|and|then|can|should|will|its|their|use[sd]?|using|langflow|component"
    r"|components|langflow's|another|each|every|all|any|called|named)\b|⟦\d+⟧|[^\w\s]",
    re.IGNORECASE,
)
_ECHO = (
    re.compile(r"\b(echo\w*|repeat\w*|parrot\w*|mirror\w*)\b", re.IGNORECASE),
    re.compile(r"\b(answers?|replies|responds?|returns?|outputs?|says?)\b.*\b(it|back|same|what)\b", re.IGNORECASE),
    re.compile(r"\b(chat|text)?\s*input\b.*\b(chat|text)?\s*output\b", re.IGNORECASE),
)


def text_stages(request: Request) -> tuple[list[Stage], tuple[str, ...]]:
    """The stages of a request in order, and the parts that name something else.

    Args:
        request: the message taken apart.
    """
    whole = bool(re.search(r"\bjson\b", request.text, re.IGNORECASE))
    parts = [request.text] if whole else [part for part in _SPLIT.split(request.text) if part.strip()]
    found: list[Stage] = []
    rest: list[str] = []
    for part in parts:
        stage = text_stage(part, request)
        if stage is not None:
            if not (found and stage == found[-1]):
                found.append(stage)
        elif _is_echo(part):
            continue
        elif re.search(r"\w{3,}", _PLUMBING.sub(" ", part)):
            rest.append(request.unmask(part.strip(" ,.;")))
    if not found and len(parts) > 1:
        stage = text_stage(request.text, request)
        return ([] if stage is None else [stage]), ()
    return found, tuple(rest) if found else ()


def serves(part: str) -> bool:
    """Whether a piece of a message asks for something that a stage does, or for nothing but chatting.

    Args:
        part: the piece, as it was written.
    """
    request = take_apart(part)
    left = _PLUMBING.sub(" ", request.text)
    return bool(text_stages(request)[0]) or _is_echo(request.text) or not re.search(r"\w{3,}", left)


def _is_echo(text: str) -> bool:
    return any(words.search(text) for words in _ECHO)
