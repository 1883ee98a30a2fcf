"""What the demo planner can do to a text without a model: one rule a stage."""

import re
from collections.abc import Callable
from dataclasses import replace

from agent.demo.building.stages import Stage, entry
from agent.demo.exact.language import VARIABLE, Request

PATTERNS = {
    r"e-?mails?(?:\s+address(?:es)?)?": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
    r"(?:urls?|links?|web\s+address(?:es)?)": r"https?://[^\s]+",
    r"phone(?:\s+numbers?)?": r"\+?\d[\d\s().-]{6,}\d",
    r"dates?": r"\d{4}-\d{2}-\d{2}",
    r"hash\s?tags?": r"#\w+",
    r"(?:mentions?|handles?)": r"@\w+",
    r"(?:prices?|money)": r"[$€£]\s?\d+(?:[.,]\d+)?",
    r"(?:numbers?|digits?|amounts?|integers?)": r"-?\d+(?:[.,]\d+)?",
}
"""What people call a pattern, and the regular expression for it."""

_CASES = {
    r"upper\s?-?case|capital\s+letters|all\s+caps|in\s+caps|capitals": "uppercase",
    r"lower\s?-?case|small\s+letters": "lowercase",
    r"title\s?-?case": "title",
    r"swap(?:s|ped)?\s+(?:the\s+)?case|swap\s?-?case": "swapcase",
    r"capitali[sz]e[sd]?": "capitalize",
}
_CHAT_NAMES = ("text", "input", "message", "question", "query", "user_input", "chat_input", "prompt", "topic")


def text_stage(part: str, request: Request) -> Stage | None:
    """The stage that a part of a request asks for, or None.

    Args:
        part: a piece of the masked message.
        request: the whole message taken apart, for its quoted values.
    """
    return next((stage for rule in _RULES if (stage := rule(part, request)) is not None), None)


def operation(name: str, title: str, *values: tuple[str, str]) -> Stage:
    """A text operation of the `Operations` component.

    Args:
        name: the operation.
        title: the flow's name when it has only this stage.
        *values: further fields with their values.
    """
    fields = tuple(entry(f"@.{field}", value) for field, value in values)
    return Stage(
        name="change",
        nodes=(("@", "Operations"),),
        into="@.text_input",
        out="@.message_output",
        config=(f"  @.operation: {name}", *fields),
        title=title,
    )


def template_stage(template: str, request: Request, title: str = "Prompt template") -> Stage:
    """A prompt template: one variable takes the message, the others a value that was said or a text input."""
    variables = list(dict.fromkeys(VARIABLE.findall(template)))
    chat = next((name for name in _CHAT_NAMES if name in variables), variables[0])
    values = {name: value for name in variables if name != chat and (value := _value_of(name, request)) is not None}
    asked = [name for name in variables if name != chat and name not in values]
    return Stage(
        name="prompt",
        nodes=(*((f"@_{name}", "TextInput") for name in asked), ("@", "Prompt Template")),
        into=f"@.{chat}",
        out="@.prompt",
        edges=tuple(f"@_{name}.text -> @.{name}" for name in asked),
        config=(entry("@.template", template), *(entry(f"@.{name}", value) for name, value in values.items())),
        title=title,
    )


def _template(part: str, request: Request) -> Stage | None:
    template = next((value for value in _quoted(part, request) if VARIABLE.search(value)), None)
    if template is None:
        worded = re.search(r"\b(?:prompt|template|instruction)s?\b[^⟦]*⟦(\d+)⟧", part, re.IGNORECASE)
        if worded is None:
            return None
        template = request.quoted[int(worded.group(1))] + " {text}"
    return template_stage(template, request)


def _value_of(name: str, request: Request) -> str | None:
    said = re.search(rf"\b{re.escape(name)}\s*(?:=|:|\bis\b|\bas\b|\bbeing\b)\s*(⟦\d+⟧|[\w-]+)", request.text)
    return request.unmask(said.group(1)) if said else None


def _replacement(part: str, request: Request) -> Stage | None:
    said = re.search(
        r"\b(?:replac|swap|substitut|chang|turn)\w*\s+(?:\w+\s+){0,5}?⟦(\d+)⟧\s+(?:with|by|for|to|into)\s+"
        r"(?:\w+\s+){0,3}?⟦(\d+)⟧",
        part,
        re.IGNORECASE,
    )
    if said is None:
        return None
    old, new = (request.quoted[int(number)] for number in said.groups())
    return operation("Text Replace", "Replace text", ("search_pattern", old), ("replacement_text", new))


def _extraction(part: str, request: Request) -> Stage | None:
    if not re.search(r"\b(extract|find|pull|pick|get|match|grab|list)\w*\b", part, re.IGNORECASE):
        return None
    given = re.search(r"\b(?:regex|pattern|expression|match\w*)\b[^⟦]*⟦(\d+)⟧", part, re.IGNORECASE)
    if given:
        pattern = request.quoted[int(given.group(1))]
    else:
        found = (regex for words, regex in PATTERNS.items() if re.search(rf"\b{words}\b", part, re.IGNORECASE))
        named = next(found, None)
        if named is None:
            return None
        pattern = named
    return Stage(
        name="extract",
        nodes=(("@", "RegexExtractorComponent"),),
        into="@.input_text",
        out="@.text",
        config=(entry("@.pattern", pattern),),
        title="Text extraction",
    )


def _case(part: str, request: Request) -> Stage | None:
    del request
    found = (case for words, case in _CASES.items() if re.search(rf"\b(?:{words})\b", part, re.IGNORECASE))
    case = next(found, None)
    return None if case is None else operation("Case Conversion", "Change case", ("case_type", case))


def _count(part: str, request: Request) -> Stage | None:
    del request
    said = re.search(
        r"\b(?:count\w*|how\s+many|number\s+of)\b.{0,30}?\b(?P<what>words?|characters?|letters|lines?)\b",
        part,
        re.IGNORECASE,
    )
    if said is None:
        return None
    unit = said["what"].lower().rstrip("s")
    unit = "character" if unit == "letter" else unit
    return Stage(
        name="count",
        nodes=(("@", "Operations"), ("@_result", "ParserComponent")),
        into="@.text_input",
        out="@_result.parsed_text",
        edges=("@.data_output -> @_result.input_data",),
        config=("  @.operation: Word Count", entry("@_result.pattern", f"{{{unit}_count}} {unit}s")),
        title=f"{unit.capitalize()} count",
    )


def _ends(part: str, request: Request) -> Stage | None:
    del request
    said = re.search(r"\b(?P<end>first|last)\s+(?P<count>\d+)\s+(?:characters?|letters?|chars?)\b", part, re.IGNORECASE)
    if said is None:
        return None
    head = said["end"].lower() == "first"
    field = "head_characters" if head else "tail_characters"
    return Stage(
        name="change",
        nodes=(("@", "Operations"),),
        into="@.text_input",
        out="@.message_output",
        config=(f"  @.operation: {'Text Head' if head else 'Text Tail'}", f"  @.{field}: {int(said['count'])}"),
        title="Beginning" if head else "End",
    )


def _cleaning(part: str, request: Request) -> Stage | None:
    del request
    if re.search(r"\b(?:extra|double|repeated|multiple)\s+(?:white\s?)?spaces?\b|\bclean\w*\b", part, re.IGNORECASE):
        return operation("Text Clean", "Clean text")
    if re.search(r"\b(?:trim|strip)\w*\b|\b(?:leading|trailing|surrounding)\b.*\bspaces?\b", part, re.IGNORECASE):
        return operation("Text Strip", "Trim text")
    return None


def _masked(part: str, request: Request) -> Stage | None:
    """Every digit, vowel or space becomes something else."""
    said = re.search(
        r"\b(?:each|every|all)\s+(?:the\s+)?(?P<what>digits?|numbers?|vowels?|spaces?|letters?)\b.{0,60}?"
        r"\b(?:stars?|asterisks?|hash(?:es)?|dash(?:es)?|⟦(?P<other>\d+)⟧)",
        part.replace("⟦", " ⟦"),
        re.IGNORECASE,
    ) or re.search(
        r"\b(?:each|every|all)\s+(?:the\s+)?(?P<what>digits?|numbers?|vowels?|spaces?|letters?)\b[^⟦]{0,60}⟦(?P<other>\d+)⟧",
        part,
        re.IGNORECASE,
    )
    if said is None or not re.search(
        r"\b(?:become|come\s+out|replac|turn|mask|hid|chang|convert)\w*", part, re.IGNORECASE
    ):
        return None
    patterns = {"digit": r"\d", "number": r"\d", "vowel": "[aeiouAEIOU]", "space": r"\s", "letter": "[A-Za-z]"}
    signs = {"star": "*", "aste": "*", "hash": "#", "dash": "-"}
    found = next((sign for word, sign in signs.items() if word in part.lower()), "*")
    new = request.quoted[int(said["other"])] if said["other"] else found
    stage = operation(
        "Text Replace",
        "Mask text",
        ("search_pattern", patterns[said["what"].lower().rstrip("s")]),
        ("replacement_text", new),
    )
    return replace(stage, config=(*stage.config, "  @.use_regex: true"))


def _each_line(part: str, request: Request) -> Stage | None:
    """Every line with something before it."""
    said = re.search(
        r"⟦(\d+)⟧[^⟦]{0,30}\b(?:in\s+front\s+of|before)\s+(?:every|each|all)\b[^⟦]{0,20}\blines?\b", part, re.IGNORECASE
    )
    if said is None:
        return None
    return Stage(
        name="lines",
        nodes=(("@", "SplitText"), ("@_listed", "ParserComponent")),
        into="@.data_inputs",
        out="@_listed.parsed_text",
        edges=("@.dataframe -> @_listed.input_data",),
        config=(
            '  @.separator: "\\n"',
            "  @.chunk_size: 1",
            "  @.chunk_overlap: 0",
            entry("@_listed.pattern", f"{request.quoted[int(said.group(1))]}{{text}}"),
        ),
        title="Lines",
    )


def _pieces(part: str, request: Request) -> Stage | None:
    said = re.search(r"\b(?:split|cut|break|chop|divid)\w*\b", part, re.IGNORECASE)
    if said is None:
        return None
    size = re.search(r"\b(\d+)\s*(?:characters?|letters?|chars?)\b", part, re.IGNORECASE)
    at = re.search(r"\b(?:by|at|on|along|separator|delimiter)\b[^⟦]*⟦(\d+)⟧", part, re.IGNORECASE)
    words = {r"\bcommas?\b": ",", r"\blines?\b|\bnew\s?lines?\b": "\n", r"\bspaces?\b|\bwords?\b": " ",
             r"\bsemicolons?\b": ";", r"\bsentences?\b": ". ", r"\bparagraphs?\b": "\n\n"}  # fmt: skip
    named = next((cut for word, cut in words.items() if re.search(word, part, re.IGNORECASE)), None)
    separator = request.quoted[int(at.group(1))] if at else named if named is not None else " " if size else "\n"
    return Stage(
        name="pieces",
        nodes=(("@", "SplitText"), ("@_listed", "ParserComponent")),
        into="@.data_inputs",
        out="@_listed.parsed_text",
        edges=("@.dataframe -> @_listed.input_data",),
        config=(
            entry("@.separator", separator),
            f"  @.chunk_size: {int(size.group(1)) if size else 1}",
            "  @.chunk_overlap: 0",
            entry("@_listed.pattern", "- {text}"),
        ),
        title="Splitter",
    )


def _calculation(part: str, request: Request) -> Stage | None:
    del request
    worded = r"\b(?:calculat\w*|arithmetic|maths?|sums?|comput\w*|work\w*\s+out|evaluat\w*\s+.*expressions?)\b"
    if not re.search(worded, part, re.IGNORECASE):
        return None
    return Stage(
        name="sum",
        nodes=(("@", "CalculatorComponent"), ("@_result", "ParserComponent")),
        into="@.expression",
        out="@_result.parsed_text",
        edges=("@.result -> @_result.input_data",),
        config=(entry("@_result.pattern", "{result}"),),
        title="Calculator",
    )


def _json_fields(part: str, request: Request) -> Stage | None:
    if not re.search(r"\bjson\b", part, re.IGNORECASE):
        return None
    sentence = next((value for value in _quoted(part, request) if VARIABLE.search(value)), None)
    fields = re.search(
        r"\b(?:fields?|keys?|values?)\s+(?:of\s+)?(?P<names>(?:⟦\d+⟧|\w+)(?:\s*(?:,|and)\s*⟦\d+⟧)*)", part
    )
    if sentence is None and fields is None:
        return None
    if sentence is None and fields is not None:
        names = [request.unmask(name) for name in re.split(r"\s*(?:,|\band\b)\s*", fields["names"])]
        sentence = ", ".join(f"{{{name}}}" for name in names if re.fullmatch(r"\w+", name))
    return Stage(
        name="data",
        nodes=(("@", "TypeConverterComponent"), ("@_said", "ParserComponent")),
        into="@.input_data",
        out="@_said.parsed_text",
        edges=("@.data_output -> @_said.input_data",),
        config=("  @.output_type: JSON", "  @.auto_parse: true", entry("@_said.pattern", sentence or "{text}")),
        title="Structured text",
    )


def _combination(part: str, request: Request) -> Stage | None:
    quoted = _quoted(part, request)
    verb = re.search(
        r"\b(combin\w*|join\w*|concat\w*|prefix\w*|append\w*|prepend\w*|suffix\w*|puts?|adds?|starts?|ends?|before|after"
        r"|in\s+front|writes?|attach\w*)\b",
        part,
        re.IGNORECASE,
    )
    if verb is None or not quoted:
        return None
    fixed = quoted[0]
    last = re.search(r"\b(append\w*|suffix\w*|after|end|ends|behind|at\s+the\s+end)\b", part, re.IGNORECASE)
    mine, other = ("text2", "text1") if last else ("text1", "text2")
    delimiter = re.search(
        r"\b(?:delimiter|separator|separated by|joined (?:by|with))\b[^⟦]*⟦(\d+)⟧", part, re.IGNORECASE
    )
    joined = fixed.startswith((" ", "\n")) if last else fixed.endswith((" ", "\n"))
    between = request.quoted[int(delimiter.group(1))] if delimiter else "" if joined else " "
    if fixed == between and len(quoted) > 1:
        fixed = quoted[1]
    return Stage(
        name="combine",
        nodes=(("@", "CombineText"),),
        into=f"@.{other}",
        out="@.combined_text",
        config=(entry(f"@.{mine}", fixed), entry("@.delimiter", between)),
        title="Combined text",
    )


def _quoted(part: str, request: Request) -> list[str]:
    return [request.quoted[int(number)] for number in re.findall(r"⟦(\d+)⟧", part)]


_RULES: tuple[Callable[[str, Request], Stage | None], ...] = (
    _json_fields,
    _template,
    _each_line,
    _replacement,
    _masked,
    _pieces,
    _count,
    _extraction,
    _case,
    _ends,
    _cleaning,
    _calculation,
    _combination,
)
