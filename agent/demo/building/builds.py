"""Building a flow from a message: recipes put together, their holes filled with the user's own words."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.demo.building.branches import branches, quoted_router, unrouted
from agent.demo.building.recipe import Recipe, recipes
from agent.demo.building.routers import router
from agent.demo.building.stages import Stage, chain
from agent.demo.exact.chains import serves, text_stages
from agent.demo.exact.language import Request
from agent.demo.exact.services import service_stage
from agent.demo.models import MODEL, model_named
from agent.demo.reading import Reading
from agent.demo.words import fold, found, vocabulary

_SIGNS = " ,.;:!?。，、；！？"
_LIST = re.compile(r"\s*(?:,|;|、|，|・|\band\b|\bund\b|\bet\b|\by\b|\be\b|と|和|及|&|\+)\s*")
_SPELLED = {"de": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}, "es": {"ñ": "ni"}}
"""How letters are written in ASCII where leaving the accent out gives another word."""
_ELISION = re.compile(r"['’]s\b|\b[ld]['’]")
_SOURCE = re.compile(r"\baus\s+(?:(?:de[rmn]|eine[rmn]|meine[rmn])\s+)?\S+\s+(?=\w)", re.IGNORECASE)
"""In German, where something comes from may stand before it: "aus E-Mails Name und Ort"."""
_LEAST_OWN_WORDS = 2
_FILE = re.compile(r"\b(?:pdfs?|docx|files?|datei\w*|fichiers?|archivos?|arquivos?|\w+\.\w{3,4})\b|ファイル|文件|文档")
_DATABASE = re.compile(
    r"\b(?:sqlite|postgres(?:ql)?|mysql|mariadb|oracle|mssql)(?:\+\w+)?://[^\s'\"`»”]+", re.IGNORECASE
)
_FORMATS = {"md": "markdown", "txt": "txt", "json": "json", "html": "html"}
_WRITTEN = re.compile(rf"([\w-]+)\.({'|'.join(_FORMATS)})\b", re.IGNORECASE)
_PASSWORD = re.compile(r"//[^/@:]*:[^/@]*@")
_PLUMBING = frozenset(
    {"ChatInput", "ChatOutput", "Prompt Template", "LanguageModelComponent", "ParserComponent", "SplitText"}
)


_MODEL_RECIPES = (
    "translation", "summary", "classification", "rows", "webhook", "sql", "agent", "page", "memory", "document",
)  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A flow to build.

    Attributes:
        spec: as spec text.
        needs: what the user has to do before the first run.
    """

    spec: str
    needs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """What the message names and the flow does not have, in the message's words."""


def flow_for(request: Request, reading: Reading) -> Build | None:
    """The flow that a message asks for, by exact rules first and by recipes then; None when nothing covers it.

    Args:
        request: the message taken apart, for the exact rules.
        reading: the message as it was read, for the recipes.
    """
    routed = router(request) or quoted_router(reading)
    if routed is not None:
        return Build(routed, missing=_missing(routed, reading))
    stages, left_out = text_stages(request)
    if stages and not left_out and not _needs_model(reading):
        return Build(chain(stages))
    outside = service_stage(request.text, request, sends=reading.has("sends"))
    if outside is not None and not reading.asks_for("agent"):
        return Build(chain([outside]))
    built = _from_recipes(reading)
    if built is not None:
        return built
    return Build(chain(stages), missing=left_out) if stages else None


def _needs_model(reading: Reading) -> bool:
    return reading.asks_for(*_MODEL_RECIPES) or ("json" in reading.folded and not reading.quotes)


def undone_parts(text: str, reading: Reading) -> tuple[list[str], list[str]]:
    """What a message joins to its request and no component of a flow does: what is left out, or told to its model.

    Args:
        text: the flow as spec text.
        reading: the message.
    """
    parts = [one for one in reading.unrecognised_parts if not _is_quoted_in(text, one, reading.language)]
    if re.search(r"^  \w+\.model: ", text, re.MULTILINE) is None:
        unserved = [one for one in parts if not serves(one) and _has_own_words(one, reading.language)]
        return [*reading.letters, *unserved], []
    fields = _described_fields(text)
    told = [one for one in parts if not any(field in one for field in fields if field != "answer")]
    unwanted = [reading.message[match.start() : match.end()] for match in reading.spans("no_model")]
    said = " ".join(text.split())
    untold = [one for one in told if " ".join(one.split()) not in said]
    routed = re.search(r": SmartRouter$", text, re.MULTILINE) is not None
    missed = [one for one in untold if not routed or not _is_routed(one, fold(said), reading.language)]
    outside = unrouted(reading) if routed else []
    return [*unwanted, *missed, *outside], [*(one for one in told if one not in untold), *reading.letters]


def _is_routed(part: str, folded: str, language: str) -> bool:
    """Whether a router goes by what a part of a message says: half of its words stand in the flow."""
    own = _own_words_of(part, language)
    return sum(word in folded for word in own) * 2 >= len(own)


def _is_quoted_in(text: str, part: str, language: str) -> bool:
    """Whether a part of a message only quotes what stands in a flow, and says when it is answered."""
    quotes = Reading(part).quotes
    rest = list(part)
    for quote in quotes:
        rest[quote.start() : quote.end()] = " " * len(quote[0])
    for concept in ("otherwise", "condition", "answering", "saying"):
        for match in found(vocabulary()[concept], fold("".join(rest)), language):
            rest[match.start() : match.end()] = " " * len(match[0])
    quoted = [next(filter(None, quote.groups()), "") for quote in quotes]
    return bool(quoted) and all(one in text for one in quoted) and not _has_own_words("".join(rest), language)


def spec_text(message: str) -> str:
    """The spec text that a message contains."""
    return message[message.index("name:") if "name:" in message else message.index("nodes:") :]


def with_file(text: str, path: str) -> str:
    """Spec text whose file nodes name a file of the user's.

    Args:
        text: the spec text.
        path: the file's path among the user's files.
    """
    nodes = re.findall(r"^ +(\w+): File$", text, re.MULTILINE)
    lines = "".join(f"  {node}.path: {json.dumps(path, ensure_ascii=False)}\n" for node in nodes)
    head, _, rest = text.partition("\nconfig:\n")
    return f"{head.rstrip()}\n\nconfig:\n{lines}{rest}" if lines else text


def _from_recipes(reading: Reading) -> Build | None:
    """The flow that the recipes of a message make together, or None when it names none that gives one."""
    if reading.has("letters") and not {recipe.name for recipe in reading.recipes} - {"writing", "rows"}:
        return None
    routed = branches(reading)
    if routed is not None:
        return Build(routed, missing=_missing(routed, reading))
    steps = [recipe for recipe in reading.recipes if recipe.step]
    tools = [recipe for recipe in reading.recipes if recipe.tool]
    tasks = [recipe for recipe in reading.recipes if recipe.task]
    frame = _frame(reading, tools, tasks)
    behind = [_stage(step, reading, tasks) for step in steps]
    if frame is None:
        return Build(chain(behind)) if steps or reading.asks_for("echo") else None
    if frame.name == "agent" and reading.asks_for("page"):
        tools.append(recipes()["tool-page-reader"])
    stage = _with_tools(frame, reading, tools) if frame.name == "agent" else _stage(frame, reading, tasks)
    if frame.name == "prompt":
        stage = replace(stage, title=tasks[0].title)
    text = chain([stage, *behind])
    needs = frame.needs_given if frame.given and _holes(reading, tasks)[frame.given] else frame.needs
    used = [needs, *(tool.needs for tool in tools if frame.name == "agent")]
    missing = () if frame.name == "read-file" else _missing(text, reading)  # the file is shown with every row of it
    return Build(text, tuple(one[reading.language] for one in used if reading.language in one), missing)


def _frame(reading: Reading, tools: Sequence[Recipe], tasks: Sequence[Recipe]) -> Recipe | None:
    """The recipe that gives a flow its shape; None for one that only repeats or changes what is typed."""
    ranked = [recipe for recipe in reading.recipes if recipe.rank is not None]
    frame = min(ranked, key=lambda recipe: recipe.rank or 0, default=None)
    name = frame.name if frame is not None else _shape(reading, tools, tasks)
    if name == "page" and not tasks and reading.has("website"):
        return None
    if name == "page" and not tasks and reading.asks_for("chatbot") and not _reads_pages(reading):
        name = "chatbot"
    if name == "extraction" and reading.asks_for("document") and _FILE.search(reading.folded):
        name = "document-extraction"
    if name in ("document", "rows") and not tasks and reading.has("showing") and not reading.has("asking"):
        name = "read-file"
    if name == "document" and tasks and not reading.asks_for("chatbot", "memory"):
        name = "document-task"
    return recipes()[name] if name is not None else None


def _reads_pages(reading: Reading) -> bool:
    """Whether a message wants a page to be read: it gives an address, or asks about what is written there."""
    bots = [match.span() for match in found(recipes()["chatbot"].words, reading.folded, reading.language)]
    asked = [match for match in reading.spans("asking") if (match.start(), match.end()) not in bots]
    return "http" in reading.folded or bool(asked)


def _shape(reading: Reading, tools: Sequence[Recipe], tasks: Sequence[Recipe]) -> str | None:
    """The name of the recipe for a message that names none with a shape of its own."""
    if tools and (tasks or reading.has("build") or reading.asks_for("chatbot")):
        return "agent"
    if reading.asks_for("echo") and not {task.name for task in tasks} - {"writing"}:
        return None
    if tasks:
        return "prompt"
    return next((name for name in ("chatbot", "prompt-template") if reading.asks_for(name)), None)


def _missing(text: str, reading: Reading) -> tuple[str, ...]:
    """The words of the recipes that a message names and whose components the flow does not have."""
    have = set(re.findall(r"^  \w+: (.+)$", text.partition("\nedges:")[0], re.MULTILINE))
    if "Agent" in have:
        have.add("Memory")  # an agent remembers by itself
    said: list[str] = []
    for recipe in reading.recipes:
        if not (set(recipe.types) - _PLUMBING) <= have:
            match = found(recipe.words, fold(reading.doable), reading.language)[0]
            said.append(reading.doable[match.start() : match.end()])
    fields = _described_fields(text)
    return tuple(one for one in dict.fromkeys(said) if not any(one in field for field in fields))


def _described_fields(text: str) -> list[str]:
    """What the fields of an extraction are called in the message; none for a flow that extracts nothing."""
    return re.findall(r'"description": "([^"]+)"', text) if '"multiple"' in text else []


def _stage(recipe: Recipe, reading: Reading, tasks: Sequence[Recipe]) -> Stage:
    return recipe.stage(_holes(reading, tasks))


def _holes(reading: Reading, tasks: Sequence[Recipe]) -> dict[str, str]:
    said = reading.wanted
    told = " ".join(task.task for task in tasks) or "Do with the text below what is asked for."
    return {
        "model": model_named(reading.message) or MODEL,
        "request": said,
        "task": f"{told}\nWhat is asked for: {said}" if said else told,
        "manner": manner(reading),
        "schema": json.dumps(_fields(reading), ensure_ascii=False),
        "database": _database(reading),
        **_file(reading),
    }


def _file(reading: Reading) -> dict[str, str]:
    """The name of the file that a message wants written, and the format that its ending stands for."""
    named = _WRITTEN.search(reading.message)
    return {"file": named[1], "format": _FORMATS[named[2].lower()]} if named else {"file": "answer"}


def _database(reading: Reading) -> str:
    """The address of the database that a message names; none with a password in it, which belongs into a variable."""
    address = _DATABASE.search(reading.message)
    return "" if address is None or _PASSWORD.search(address[0]) else address[0].rstrip(_SIGNS)


def manner(reading: Reading) -> str:
    """What a model is told of the user's wish: a quoted text alone, else their own words, if they say anything."""
    quoted = [next(filter(None, quote.groups()), "") for quote in reading.quotes]
    said = reading.wanted
    if len(quoted) == 1 and "{" not in quoted[0] and re.search(r"\b(system|instruct\w*|prompt)\b", reading.folded):
        return quoted[0]
    if not reading.has("manner") and not _own_words(reading):
        return ""
    return f"You are what these words describe; keep to their manner, their names and what they say is so:\n{said}"


def _has_own_words(text: str, language: str) -> bool:
    """Whether a piece of a message says more than that a flow is wanted."""
    return len(_own_words_of(text, language)) > (_LEAST_OWN_WORDS if language in ("ja", "zh") else 0)


def _own_words(reading: Reading) -> bool:
    """Whether a message says more than what kind of flow is wanted."""
    least = _LEAST_OWN_WORDS + (reading.language in ("ja", "zh"))
    return len(_own_words_of(reading.doable, reading.language)) >= least


def _own_words_of(said: str, language: str) -> list[str]:
    """The words of a text that are of no recipe and of no order to build a flow."""
    text = fold(said)
    concepts = [vocabulary()[name] for name in ("build", "flow", "besides", "filler")]
    for patterns in (*concepts, *(recipe.words for recipe in recipes().values())):
        for match in found(patterns, text, language):
            text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return re.findall(r"[一-鿿゠-ヿ]" if language in ("ja", "zh") else r"[^\W\d_]{4,}|\d+", text)


def _with_tools(frame: Recipe, reading: Reading, tools: Sequence[Recipe]) -> Stage:
    stage = _stage(frame, reading, [])
    names = [(f"@_{tool.name.removeprefix('tool-').replace('-', '_')}", tool.tool) for tool in tools]
    edges = tuple(f"{name}.{tool.out} -> @.tools" for (name, _), tool in zip(names, tools, strict=True))
    title = "Agent with tools" if tools else stage.title
    return replace(stage, nodes=(*names, *stage.nodes), edges=edges, title=title)


def _fields(reading: Reading) -> list[dict[str, str]]:
    """The fields that an extraction asks for: the longest list in the message."""
    best: list[str] = []
    for part in re.split(r"[.;:!?。；：！？\n]", reading.doable):
        items = [_name(item, reading) for item in _LIST.split(part)]
        names = [item for item in items if item]
        if len(names) > len(best):
            best = names
    described: dict[str, str] = {}
    for name in best or ["answer"]:
        described.setdefault(_key(name, reading.language) or "answer", name)
    return [{"name": key, "type": "str", "description": name, "multiple": "False"} for key, name in described.items()]


def _key(name: str, language: str) -> str:
    """The name of a field as a key: lower case letters of ASCII with `_`, where the script has such letters."""
    said = _ELISION.sub("", name.lower())
    if language not in ("ja", "zh"):
        spelled = _SPELLED.get(language, {})
        said = fold("".join(spelled.get(letter, letter) for letter in said))
    return re.sub(r"[\W_]+", "_", said).strip("_")


def _name(item: str, reading: Reading) -> str:
    """The name of a field, without the words around a list of fields; empty when nothing is left."""
    folded = fold(item)
    kept = list(item)
    concepts = [vocabulary()[name] for name in ("build", "flow", "please")]
    for patterns in (*concepts, *(recipe.words for recipe in recipes().values() if not recipe.tool)):
        for match in found(patterns, folded, reading.language):
            kept[match.start() : match.end()] = " " * (match.end() - match.start())
    if reading.language in ("ja", "zh"):
        return re.sub(r"^.*[からの从里中]|[をでに].*$|输出|返回|[等、]|\s+", "", "".join(kept)).strip()[:40]
    text = "".join(kept)
    words = re.findall(r"[\w'’-]+", _SOURCE.sub(" ", text) if reading.language == "de" else text)
    while words and (len(words[0]) < 3 or (words[0].islower() and fold(words[0]) in _SMALL)):
        words.pop(0)
    cut = next((n for n, word in enumerate(words) if n and fold(word) in _SMALL), len(words))
    return " ".join(words[:cut][-3:])


_SMALL = set(
    """
    the a an of from out in to and as it its them back give texts text emails mails sollen soll aus als raus einen
    eine ein der die das dem den vom von im le la les un une des du de dans texte el los las del en con al partir
    devolver testo dal dalla da il lo gli i nel do no na os um uma texto for with that which each every please put
    into como come em comme au aux format formato della dello delle degli nella dans im als
    """.split()  # noqa: SIM905  (a hundred quotes hide the words)
)
