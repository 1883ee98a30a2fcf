"""Stages that reach outside the flow: language models, agents with tools, web pages, APIs and files."""

import re
from collections.abc import Callable

from agent.demo.language import VARIABLE, Request
from agent.demo.stages import Stage, entry

MODEL = "openai:gpt-4o-mini"
"""The model that a built flow names when the user names none; a key for it is the user's to set."""

_NAMED = re.compile(
    r"\b(?P<provider>openai|anthropic|google|groq|mistral|ollama)[:/](?P<model>[\w.:-]*\w)"
    r"|\b(?P<bare>(?:gpt|o\d|claude|gemini|mistral|llama)-?[\d][\w.:-]*\w|(?:claude|gemini|mistral)-[\w.-]*\w)",
    re.IGNORECASE,
)
_HOMES = {"gpt": "openai", "o": "openai", "claude": "anthropic", "gemini": "google", "mistral": "mistral"}
_MODEL_WORDS = re.compile(
    r"\b(?:llm|language\s+model|ai|(?:a|the)\s+model|gpt[\w.-]*|claude[\w.-]*|gemini[\w.-]*|chat\s?gpt|openai"
    r"|anthropic)\b",
    re.IGNORECASE,
)
_TASKS = (
    (r"summari[sz]\w*", "Summarize this text in a few sentences:\n\n{text}", "Summary"),
    (r"translat\w*(?:\s+\w+){0,4}?\s+(?:in)?to\s+(?P<what>\w+)", "Translate this text to {what}:\n\n{text}",
     "Translation"),
    (r"translat\w*", "Translate this text to English:\n\n{text}", "Translation"),
    (r"classif\w*|sentiment", "Classify the sentiment of this text as positive, negative or neutral:\n\n{text}",
     "Classification"),
    (r"rewrit\w*|rephras\w*|paraphras\w*", "Rewrite this text clearly:\n\n{text}", "Rewriting"),
    (r"(?:correct|proofread|fix)\w*\s+(?:the\s+)?(?:grammar|spelling|typos)\w*",
     "Correct the grammar and spelling:\n\n{text}", "Correction"),
    (r"(?:tells?|writes?)\s+(?:a\s+|me\s+a\s+)?(?P<what>jokes?|poems?|stor(?:y|ies)|haikus?|tweets?|emails?)",
     "Write one of these: {what}. The topic: {text}", "Writing"),
)  # fmt: skip
_TOOLS = (
    (r"calculat\w*|arithmetic|maths?", "calculator", "CalculatorComponent"),
    (r"web|urls?|pages?|internet|browse\w*", "pages", "URLComponent"),
    (r"apis?|http", "api", "APIRequest"),
    (r"dates?|what\s+day|today", "date", "CurrentDate"),
)


def service_stage(part: str, request: Request) -> Stage | None:
    """The stage that a part of a request asks for, or None.

    Args:
        part: a piece of the masked message.
        request: the whole message taken apart.
    """
    return next((stage for rule in _RULES if (stage := rule(part, request)) is not None), None)


def model_named(text: str) -> str | None:
    """The model that a text names, as `provider:name`, or None."""
    said = _NAMED.search(text)
    if said is None:
        return None
    if said["provider"]:
        return f"{said['provider'].lower()}:{said['model']}"
    bare = said["bare"].lower()
    home = next((provider for start, provider in _HOMES.items() if bare.startswith(start)), None)
    return None if home is None else f"{home}:{bare}"


def _agent(part: str, request: Request) -> Stage | None:
    if not re.search(r"\bagent\b", part, re.IGNORECASE):
        return None
    tools = [(name, kind) for words, name, kind in _TOOLS if re.search(rf"\b(?:{words})\b", part, re.IGNORECASE)]
    instructions = [value for value in _quoted(part, request) if not VARIABLE.search(value)]
    return Stage(
        name="agent",
        nodes=(*((f"@_{name}", kind) for name, kind in tools), ("@", "Agent")),
        into="@.input_value",
        out="@.response",
        edges=tuple(f"@_{name}.component_as_tool -> @.tools" for name, _ in tools),
        config=(
            f"  @.model: {model_named(request.text) or MODEL}",
            *(entry("@.system_prompt", value) for value in instructions[:1]),
        ),
        title="Agent with tools" if tools else "Agent",
    )


def _memory(part: str, request: Request) -> Stage | None:
    if not re.search(r"\b(?:remember\w*|memory|history|previous\s+messages)\b", part, re.IGNORECASE):
        return None
    return Stage(
        name="model",
        nodes=(("@_history", "Memory"), ("@_prompt", "Prompt Template"), ("@", "LanguageModelComponent")),
        into="@_prompt.question",
        out="@.text_output",
        edges=("@_history.messages_text -> @_prompt.history", "@_prompt.prompt -> @.input_value"),
        config=(
            _lines("@_prompt.template", "What was said before:\n{history}\n\nAnswer the last message: {question}"),
            f"  @.model: {model_named(request.text) or MODEL}",
        ),
        title="Memory chat",
    )


def _task(part: str, request: Request) -> Stage | None:
    said, template, title = next(
        (
            (found, text, name)
            for words, text, name in _TASKS
            if (found := re.search(rf"\b(?:{words})", part, re.IGNORECASE)) is not None
        ),
        (None, "", ""),
    )
    if said is None:
        return None
    what = said.groupdict().get("what") or ""
    return _asked(template.replace("{what}", what.capitalize() if title == "Translation" else what), title, request)


def _chat(part: str, request: Request) -> Stage | None:
    if not _MODEL_WORDS.search(part):
        return None
    prompt = next((value for value in _quoted(part, request) if VARIABLE.search(value)), None)
    if prompt is not None:
        return _asked(prompt, "Prompt and model", request)
    manner = re.search(
        r"\b(?:that|which|who)\s+(?:always\s+)?(?P<how>(?:talks?|speaks?|behaves?|acts?|answers?|replies)\s+(?:always\s+|only\s+)?"
        r"(?:like|as|in|politely|rudely|briefly|friendly|kindly|formally)\b[^,.;⟦]*)",
        request.text,
        re.IGNORECASE,
    )
    told = None if manner is None else "Always " + re.sub(r"^(\w+?)s\b", r"\1", manner["how"].strip()) + "."
    system = next(iter(_quoted(part, request)), told)
    return Stage(
        name="model",
        nodes=(("@", "LanguageModelComponent"),),
        into="@.input_value",
        out="@.text_output",
        config=(
            f"  @.model: {model_named(request.text) or MODEL}",
            *(() if system is None else (entry("@.system_message", system),)),
        ),
        title="Chat with a model",
    )


def _asked(template: str, title: str, request: Request) -> Stage:
    variable = VARIABLE.findall(template)[0]
    return Stage(
        name="model",
        nodes=(("@_prompt", "Prompt Template"), ("@", "LanguageModelComponent")),
        into=f"@_prompt.{variable}",
        out="@.text_output",
        edges=("@_prompt.prompt -> @.input_value",),
        config=(_lines("@_prompt.template", template), f"  @.model: {model_named(request.text) or MODEL}"),
        title=title,
    )


def _page(part: str, request: Request) -> Stage | None:
    del request
    if re.search(r"\b(?:extract|find|pull|pick|grab|list|all)\w*\b.*\b(?:urls?|links?)\b", part, re.IGNORECASE):
        return None
    if not re.search(
        r"\b(?:web\s?(?:page|site)s?|urls?|scrap\w*|crawl\w*|page\s+(?:at|whose))\b", part, re.IGNORECASE
    ) or not re.search(r"\b(?:read|fetch|load|scrap|crawl|get|download|open|show|visit)\w*\b", part, re.IGNORECASE):
        return None
    return Stage(
        name="page",
        nodes=(("@", "URLComponent"),),
        into="@.urls",
        out="@.raw_results",
        config=("  @.max_depth: 1", "  @.format: Text"),
        title="Web page",
    )


def _api(part: str, request: Request) -> Stage | None:
    named = re.search(r"\b(?i:apis?|http|endpoint|webservice|rest\s+(?:api|call|service))\b|\bREST\b", part)
    if not named and _address(part, request) is None:
        return None
    bare = _address(part, request)
    method = re.search(r"\b(GET|POST|PUT|PATCH|DELETE)\b", part)
    return Stage(
        name="call",
        nodes=(("@", "APIRequest"), ("@_text", "ParserComponent")),
        into=None if bare else "@.url_input",
        out="@_text.parsed_text",
        edges=("@.data -> @_text.input_data",),
        config=(
            *(() if bare is None else (entry("@.url_input", bare),)),
            f"  @.method: {method.group(1) if method else 'GET'}",
            "  @_text.mode: Stringify",
        ),
        title="API call",
    )


def _address(part: str, request: Request) -> str | None:
    """The web address that a part names, quoted or not."""
    quoted = next((value for value in _quoted(part, request) if re.match(r"https?://\S+$", value)), None)
    return quoted or next(iter(re.findall(r"https?://\S*[\w/]", part)), None)


def _file(part: str, request: Request) -> Stage | None:
    del request
    if not re.search(r"\b(?:files?|pdfs?|csvs?|documents?|docx)\b", part, re.IGNORECASE) or not re.search(
        r"\b(?:read|load|open|upload|show|pars|take)\w*\b", part, re.IGNORECASE
    ):
        return None
    return Stage(name="file", nodes=(("@", "File"),), into=None, out="@.message", title="Read a file")


def _lines(key: str, text: str) -> str:
    return "\n".join([f"  {key}: |", *(f"    {line}".rstrip() for line in text.split("\n"))])


def _quoted(part: str, request: Request) -> list[str]:
    return [request.quoted[int(number)] for number in re.findall(r"⟦(\d+)⟧", part)]


_RULES: tuple[Callable[[str, Request], Stage | None], ...] = (_agent, _memory, _page, _api, _file, _task, _chat)
