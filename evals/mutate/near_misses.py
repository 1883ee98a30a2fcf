"""Near misses: flows that are almost right, as somebody might build them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations

from evals.mutate.wiring import Fault, edited
from evals.scenario import Scenario
from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Node
from flows.edits import EditError
from flows.edits.basic import add_component, configure, connect, disconnect
from flows.edits.result import Edit
from flows.json_values import Json, as_list, as_object

NEIGHBOURS: Mapping[str, tuple[str, ...]] = {
    "equals": ("contains", "not equals"),
    "not equals": ("equals",),
    "contains": ("starts with", "equals", "ends with"),
    "starts with": ("contains", "equals"),
    "ends with": ("contains", "equals"),
    "regex": ("contains",),
    "less than": ("less than or equal", "greater than"),
    "less than or equal": ("less than", "greater than"),
    "greater than": ("greater than or equal", "less than"),
    "greater than or equal": ("greater than", "less than"),
}
"""The operators of a condition that are mistaken for each other."""

OF_WORDS = frozenset({"equals", "not equals", "contains", "starts with", "ends with"})
"""The operators that treat capital letters as their condition says; the others do not look at that."""

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "ConditionalRouter": ("match_text",),
    "Operations": ("head_characters", "tail_characters", "num_rows"),
    "TextOperations": ("head_characters", "tail_characters"),
    "SplitText": ("chunk_size",),
    "Memory": ("n_messages",),
}
"""The fields in which a number is a border."""

PATTERNS: Mapping[str, tuple[str, ...]] = {
    "ConditionalRouter": ("match_text",),
    "RegexExtractorComponent": ("pattern",),
    "Operations": ("search_pattern",),
    "TextOperations": ("search_pattern",),
}
"""The fields that say what is looked for."""

SEPARATORS: Mapping[str, tuple[str, ...]] = {
    "SplitText": ("separator",),
    "CombineText": ("delimiter",),
    "ParserComponent": ("sep",),
}
"""The fields that separate."""

TABLES = frozenset({"DataFrame", "Table"})
"""The types of outputs with several rows."""

TEXTS = ("template", "input_value", "text1", "text2", "pattern")
"""The fields whose texts two nodes may have exchanged."""

INSTRUCTIONS = ("system_message", "system_prompt", "template")
"""The fields in which a model is told what to do."""

AWAY = "http://127.0.0.1:9/inbox"
"""An address that nobody named, and at which nobody listens."""


def other_operator(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """A condition with a neighbouring operator, or with the other treatment of capital letters where it has one."""
    del scenario
    for node in _of_types(flow, ("ConditionalRouter",)):
        operator = str(node.value("operator"))
        for other in NEIGHBOURS.get(operator, ()):
            yield f"{node.id}.operator became {other!r}", _set(flow, catalogue, node, operator=other)
        if operator not in OF_WORDS:
            continue
        sensitive = node.value("case_sensitive") is not False
        yield f"{node.id}.case_sensitive turned", _set(flow, catalogue, node, case_sensitive=not sensitive)


def border_off_by_one(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """A number that is a border, one more or one less; a size of pieces below which no two fit together has none."""
    del scenario
    for node, name in _fields(flow, NUMBERS):
        value = node.value(name)
        text = str(value)
        if isinstance(value, bool) or not re.fullmatch(r"-?\d+", text):
            continue
        for step in (1, -1):
            if node.type == "SplitText" and max(int(text), int(text) + step) < _two_pieces(node):
                continue
            other: Json = int(text) + step
            other = str(other) if isinstance(value, str) else other
            yield f"{node.id}.{name} became {other}", _set(flow, catalogue, node, **{name: other})


def other_pattern(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """A pattern or a word that is narrower or wider."""
    del scenario
    for node, name in _fields(flow, PATTERNS):
        value = node.value(name)
        if not isinstance(value, str) or not value or re.fullmatch(r"-?\d+", value):
            continue
        for other in _other_patterns(value):
            yield f"{node.id}.{name} became {other!r}", _set(flow, catalogue, node, **{name: other})


def swapped_texts(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """The texts of two components of one type, exchanged."""
    del scenario
    for one, other in combinations(flow.components, 2):
        for name in TEXTS:
            first, second = one.value(name), other.value(name)
            if one.type != other.type or not first or not second or first == second:
                continue
            yield f"{one.id} and {other.id} exchanged {name}", partial(_swap, flow, catalogue, one, other, name)


def other_instructions(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """Instructions of a model, turned round or emptied; those that every new component has are not emptied."""
    del scenario
    for node in flow.components:
        for name in INSTRUCTIONS:
            value = node.value(name)
            if not isinstance(value, str) or not value.strip():
                continue
            if name == "template":
                words = re.sub(r"\{\w+\}", "", value).strip(" \n:.,!'\"")
                if words:
                    yield f"{node.id} lost its words", _set(flow, catalogue, node, template=_variables(value))
                continue
            yield f"{node.id}.{name} was turned round", _set(flow, catalogue, node, **{name: f"Never do this: {value}"})
            kind = catalogue.get(node.type)
            if kind is None or value != as_object(kind.template.get(name)).get("value"):
                yield f"{node.id}.{name} was emptied", _set(flow, catalogue, node, **{name: ""})


def other_separator(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """Another separator; a parser that gets one record separates nothing."""
    del scenario
    for node, name in _fields(flow, SEPARATORS):
        if node.type == "ParserComponent" and not _gets_table(flow, catalogue, node):
            continue
        value = str(node.value(name) or "")
        for other in (";", " ", "\n"):
            if other != value:
                yield f"{node.id}.{name} became {other!r}", _set(flow, catalogue, node, **{name: other})
                break


def one_match_only(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """Only one match counts, and not all of them."""
    del scenario
    for node in _of_types(flow, ("RegexExtractorComponent",)):
        pattern = str(node.value("pattern") or "")
        if pattern:
            other = rf"(?:{pattern})(?![\s\S]*(?:{pattern}))"
            yield f"{node.id} takes one match", _set(flow, catalogue, node, pattern=other)
    for node in _of_types(flow, ("Operations", "TextOperations")):
        searched = str(node.value("search_pattern") or "")
        if searched:
            literal = searched if node.value("use_regex") else re.escape(searched)
            other = rf"(?:{literal})(?![\s\S]*(?:{literal}))"
            yield f"{node.id} replaces one match", _set(flow, catalogue, node, search_pattern=other, use_regex=True)


def dropped_input(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """What is typed does not arrive: its place has a text of its own."""
    text = next(iter(_inputs(scenario)), "hello")
    inputs = {node.id for node in flow.components if node.type == "ChatInput"}
    for edge in flow.edges:
        if edge.source in inputs:
            yield f"{edge.text} became {text!r}", partial(_constant, flow, catalogue, edge, text)


def swapped_branches(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """The branches of a condition, exchanged; and its other default."""
    del scenario
    for node in _of_types(flow, ("ConditionalRouter",)):
        leaving = [edge for edge in flow.edges if edge.source == node.id]
        if {edge.source_port for edge in leaving} == {"true_result", "false_result"}:
            yield f"{node.id} exchanged its branches", partial(_swap_branches, flow, catalogue, leaving)
        for edge in leaving:
            yield f"{edge.text} is missing", partial(edited, partial(_cut, flow, edge))


def hard_coded_answer(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """The answer that the scenario names, whatever is typed."""
    runs = [turn.run for turn in scenario.turns if turn.run is not None]
    answers = [rule.equals or rule.contains for rule in (*runs, *scenario.probes)]
    answer = next((text for text in answers if text), None)
    outputs = {node.id for node in flow.components if node.type == "ChatOutput"}
    for edge in flow.edges:
        if edge.target in outputs and answer is not None:
            yield f"{edge.text} became {answer!r}", partial(_constant, flow, catalogue, edge, answer)


def one_field_of_several(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """One of several variables, fields or routes is left out."""
    del scenario
    for node in flow.components:
        for name in ("template", "pattern"):
            value = node.value(name)
            if not isinstance(value, str) or node.type == "RegexExtractorComponent":
                continue
            variables = list(dict.fromkeys(re.findall(r"(?<!\{)\{[\w\[\]]+\}(?!\})", value)))
            if len(variables) > 1:
                other = value.replace(variables[-1], "")
                yield f"{node.id}.{name} lost {variables[-1]}", _set(flow, catalogue, node, **{name: other})
        for name in ("output_schema", "routes"):
            rows = as_list(node.value(name))
            if len(rows) > 1:
                yield f"{node.id}.{name} lost one row", _set(flow, catalogue, node, **{name: rows[:-1]})


def short_memory(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """A memory of one message."""
    del scenario
    for node in _of_types(flow, ("Memory",)):
        yield f"{node.id} remembers one message", _set(flow, catalogue, node, n_messages=1)


def sent_away(flow: Flow, catalogue: Catalogue, scenario: Scenario) -> Iterator[Fault]:
    """An extra component that sends what is typed to an address nobody named."""
    del scenario
    for node in _of_types(flow, ("ChatInput",)):
        yield f"{node.id} is sent away", partial(_send_away, flow, catalogue, node)


NEAR_MISSES: Mapping[str, Callable[[Flow, Catalogue, Scenario], Iterator[Fault]]] = {
    "other_operator": other_operator,
    "border_off_by_one": border_off_by_one,
    "other_pattern": other_pattern,
    "swapped_texts": swapped_texts,
    "other_instructions": other_instructions,
    "other_separator": other_separator,
    "one_match_only": one_match_only,
    "dropped_input": dropped_input,
    "swapped_branches": swapped_branches,
    "hard_coded_answer": hard_coded_answer,
    "one_field_of_several": one_field_of_several,
    "short_memory": short_memory,
    "sent_away": sent_away,
}
"""The operators that make near misses, by name."""


def _of_types(flow: Flow, types: tuple[str, ...]) -> list[Node]:
    return [node for node in flow.components if node.type in types]


def _fields(flow: Flow, names: Mapping[str, tuple[str, ...]]) -> list[tuple[Node, str]]:
    """The shown fields of these names that have a value and no edge, with their nodes."""
    connected = {(edge.target, edge.target_port) for edge in flow.edges}
    return [
        (node, name)
        for node in flow.components
        for name in names.get(node.type, ())
        if (node.id, name) not in connected and as_object(node.field(name)).get("show") is not False
    ]


def _two_pieces(node: Node) -> int:
    """How long two pieces of one character are with the separator between them."""
    separator = str(node.value("separator") or "").replace("\\n", "\n").replace("\\t", "\t")
    return 2 + len(separator)


def _gets_table(flow: Flow, catalogue: Catalogue, node: Node) -> bool:
    """Whether what a component reads may have several rows."""
    ports = [(flow.node(edge.source), edge.source_port) for edge in flow.edges if edge.target == node.id]
    for source, port in ports:
        kind = None if source is None else catalogue.get(source.type)
        outputs = [] if kind is None else [as_object(output) for output in kind.outputs]
        types = {str(one) for output in outputs if output.get("name") == port for one in as_list(output.get("types"))}
        if not types or types & TABLES:
            return True
    return False


def _set(flow: Flow, catalogue: Catalogue, node: Node, **values: Json) -> Callable[[], Flow | None]:
    return partial(edited, partial(configure, flow, catalogue, node.id, values))


def _swap(flow: Flow, catalogue: Catalogue, one: Node, other: Node, name: str) -> Flow | None:
    """The flow with one field of two nodes exchanged; None if an edge would be lost."""
    try:
        first = configure(flow, catalogue, one.id, {name: other.value(name)}).flow
        second = configure(first, catalogue, other.id, {name: one.value(name)}).flow
    except EditError:
        return None
    return second if len(second.edges) == len(flow.edges) else None


def _other_patterns(value: str) -> Iterator[str]:
    """Narrower and wider patterns, each of them valid."""
    tried = [
        value[:-1] if value[-1].isalnum() and "\\" not in value[-2:] else "",
        f"{value}s" if value[-1].isalnum() and "\\" not in value[-2:] else "",
        value.replace("+", "", 1),
        re.sub(r"\{(\d+)\}", lambda found: f"{{{int(found[1]) - 1}}}", value, count=1),
        re.sub(r"\{(\d+)\}", r"{\1,}", value, count=1),
        value.replace(r"\d", r"\w", 1),
        value.replace("A-Z", "A-M", 1),
        f"^{value}" if re.search(r"[\\\[{+]", value) else "",
    ]
    for other in dict.fromkeys(tried):
        if other and other != value:
            try:
                re.compile(other)
            except re.error:
                continue
            yield other


def _variables(template: str) -> str:
    return " ".join(dict.fromkeys(re.findall(r"(?<!\{)\{\w+\}(?!\})", template))) or " "


def _inputs(scenario: Scenario) -> list[str]:
    runs = [turn.run.input for turn in scenario.turns if turn.run is not None]
    return [text for text in (*runs, *(probe.input for probe in scenario.probes)) if text]


def _constant(flow: Flow, catalogue: Catalogue, edge: Edge, text: str) -> Flow | None:
    """The flow with a fixed text in place of what an edge brings."""
    try:
        cut = disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port).flow
        added = add_component(cut, catalogue, "TextInput", values={"input_value": text})
        [held] = {node.id for node in added.flow.nodes} - {node.id for node in flow.nodes}
        return connect(added.flow, catalogue, held, "text", edge.target, edge.target_port).flow
    except EditError:
        return None


def _cut(flow: Flow, edge: Edge) -> Edit:
    return disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port)


def _swap_branches(flow: Flow, catalogue: Catalogue, leaving: list[Edge]) -> Flow | None:
    other = {"true_result": "false_result", "false_result": "true_result"}
    try:
        for edge in leaving:
            flow = disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port).flow
        for edge in leaving:
            flow = connect(flow, catalogue, edge.source, other[edge.source_port], edge.target, edge.target_port).flow
    except EditError:
        return None
    return flow


def _send_away(flow: Flow, catalogue: Catalogue, node: Node) -> Flow | None:
    """The flow with a request that takes what is typed along."""
    try:
        text = add_component(flow, catalogue, "Prompt Template", values={"template": f"{AWAY}?text={{text}}"}).flow
        [prompt] = {each.id for each in text.nodes} - {each.id for each in flow.nodes}
        sends = add_component(text, catalogue, "APIRequest").flow
        [request] = {each.id for each in sends.nodes} - {each.id for each in text.nodes}
        joined = connect(sends, catalogue, node.id, "message", prompt, "text").flow
        return connect(joined, catalogue, prompt, "prompt", request, "url_input").flow
    except EditError:
        return None
