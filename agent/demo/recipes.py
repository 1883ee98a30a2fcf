"""Flows that the demo planner can build from a sentence: chains of stages, routers and starter flows, as spec texts."""

import json
import re
from dataclasses import dataclass

from agent.demo.language import Request
from agent.demo.routers import router
from agent.demo.services import service_stage
from agent.demo.stages import Stage, chain
from agent.demo.texts import text_stage
from flows.templates import Template, template, templates

_BUILD = re.compile(
    r"\b(build|create|make|set\s*(?:me\s*)?up|prepare|generate|design"
    r"|compose|assemble|need|want|would like|'d like|give me)\b",
    re.IGNORECASE,
)
_FLOWISH = re.compile(
    r"\b(flow|bot|chatbot|pipeline|workflow|assistant|app|something|one|agent|router|chat)\b", re.IGNORECASE
)
_VERBS = (
    "convert|turn|make|put|chang|replac|count|trim|strip|remov|extract|find|get|pull|pick|add|append|prepend|prefix|join"
    "|combin|split|cut|break|calculat|comput|evaluat|work|summari|translat|classif|rewrit|ask|answer|repl|say|return"
    "|respond|show|print|output|send|call|fetch|read|take|keep|echo|repeat|writ|search|pars|format|list|clean|upper|lower"
    "|capital|us|giv|tell|pass|display|swap|scrap|remember|correct|fix|suffix|start|end|begin"
)
_SPLIT = re.compile(
    rf"\s*(?:[,;.:]|\band\b|\bthen\b|\bafterwards\b|\bfinally\b|\bafter\s+that\b)+\s*"
    rf"(?:(?:and|then|finally|also|it|that|which|the\s+result)\s+)*(?=(?:{_VERBS})\w*\b)",
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


@dataclass(frozen=True)
class Recipe:
    """What a request came to.

    Attributes:
        spec: the flow as spec text; None when a starter flow serves.
        template: the starter flow's name.
        left_out: the parts of the request that no rule covers.
    """

    spec: str | None = None
    template: str | None = None
    left_out: tuple[str, ...] = ()


def wants_build(request: Request) -> bool:
    """Whether a message asks for a whole flow."""
    return "nodes:" in request.lower or bool(_BUILD.search(request.text) and _FLOWISH.search(request.text))


def recipe(request: Request, message: str) -> Recipe | None:
    """What to build for a message, or None when no rule covers it.

    Args:
        request: the message taken apart.
        message: the message as written, for one that is spec text itself.
    """
    if "nodes:" in message:
        return Recipe(message[message.index("name:") :] if "name:" in message else message[message.index("nodes:") :])
    routed = router(request)
    if routed is not None:
        return Recipe(routed)
    stages, left_out = _stages(request)
    if stages:
        return Recipe(chain(stages), left_out=left_out)
    starter = _starter(request)
    if starter is not None:
        return Recipe(template=starter.name)
    if any(words.search(request.text) for words in _ECHO):
        return Recipe(chain([]))
    return None


def _stages(request: Request) -> tuple[list[Stage], tuple[str, ...]]:
    """The stages of a request in order, and the parts that name something else."""
    whole = bool(re.search(r"\b(?:json|agent)\b", request.text, re.IGNORECASE))
    parts = [request.text] if whole else [part for part in _SPLIT.split(request.text) if part.strip()]
    found: list[Stage] = []
    rest: list[str] = []
    for part in parts:
        stage = _stage(part, request)
        if stage is not None:
            if not (found and stage == found[-1]):
                found.append(stage)
        elif any(words.search(part) for words in _ECHO):
            continue
        elif re.search(r"\w{3,}", _PLUMBING.sub(" ", part)):
            rest.append(request.unmask(part.strip(" ,.;")))
    if not found and len(parts) > 1:
        stage = _stage(request.text, request)
        return ([] if stage is None else [stage]), ()
    return found, tuple(rest) if found else ()


def _stage(part: str, request: Request) -> Stage | None:
    outside = service_stage(part, request)
    return outside if outside is not None else text_stage(part, request)


def _starter(request: Request) -> Template | None:
    """The starter flow whose title or tags a request names with at least two words."""
    words = set(re.findall(r"[a-z]{3,}", request.lower))
    best: tuple[int, Template] | None = None
    for one in templates():
        known = {word for text in (one.title, *one.tags) for word in re.findall(r"[a-z]{3,}", text.lower())}
        known -= {"chat", "text", "the", "model", "start"}
        count = sum(any(word.startswith(term[:5]) for word in words) for term in known)
        if count >= 2 and (best is None or count > best[0]):
            best = (count, one)
    return best[1] if best else None


def spec_with_file(found: Recipe, path: str) -> str:
    """The spec text of a recipe whose file nodes name a file of the user's.

    Args:
        found: the recipe.
        path: the file's path among the user's files.
    """
    text = found.spec or template(found.template or "").spec
    nodes = re.findall(r"^ +(\w+): File$", text, re.MULTILINE)
    lines = "".join(f"  {node}.path: {json.dumps(path, ensure_ascii=False)}\n" for node in nodes)
    head, _, rest = text.partition("\nconfig:\n")
    return f"{head.rstrip()}\n\nconfig:\n{lines}{rest}" if lines else text
