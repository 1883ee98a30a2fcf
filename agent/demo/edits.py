"""Changes of the flow on the canvas, in plain words of eight languages, as fragments of spec text."""

import json
import re
from collections.abc import Iterator, Sequence

from agent.demo.building.added import added_stage
from agent.demo.building.recipe import Recipe, recipes
from agent.demo.building.roles import removed_role
from agent.demo.building.stages import Stage
from agent.demo.exact.changes import removal, removals
from agent.demo.exact.names import connectable, no_component
from agent.demo.models import model_named
from agent.demo.plan import CannotPlan
from agent.demo.reading import Reading
from agent.demo.reasons import reason
from agent.demo.replies import reply
from agent.demo.words import fold, found, vocabulary
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Edge, Flow, Node
from tools.workbench import Workbench

_SHORT, _SHORT_LABEL, _MOST_SENTENCES, _NAME_WORDS = 8, 4, 2, 3
_WORD = re.compile(r"[A-Za-zÀ-ɏ0-9][A-Za-zÀ-ɏ0-9_.-]*")
_INSTRUCTIONS = ("system_prompt", "system_message")
_MODEL_TYPES = ("LanguageModelComponent", "Agent")


def wants_edit(reading: Reading, flow: Flow) -> bool:
    """Whether a message asks to change the flow on the canvas rather than for a new one."""
    if flow.is_empty:
        return False
    if reading.has("clear", "fix", "model") or model_named(reading.message) is not None:
        return True
    if reading.has("build") and (reading.has("flow") or reading.recipes) and not reading.has("add"):
        return False
    return reading.has("add", "remove", "manner") or bool(reading.recipes)


def unknown_change(reading: Reading) -> CannotPlan:
    """That no rule knows the change that a message asks for."""
    return CannotPlan(reply("which_change", reading.language, said=reading.message.strip()[:200]))


def edit(reading: Reading, bench: Workbench) -> str:
    """The change that a message asks for, as a fragment of spec text.

    Raises:
        CannotPlan: when no rule knows the change or the canvas has no place for it; the message asks back.
    """
    flow, language = bench.current, reading.language
    if reading.has("clear"):
        return "\n".join(["remove:", *(f"  {node.id}" for node in flow.nodes)])
    model = model_named(reading.message)
    if model is not None:
        return _configured(_one(flow, ("model",), language), "model", model)
    if reading.has("model"):
        raise CannotPlan(reply("which_model", language))
    if reading.has("fix"):
        return _mended(flow, language)
    removed = _removed(reading, flow)
    if removed is not None:
        return removed
    _refuse_the_unknown(reading, flow)
    if reading.removes_step:
        raise unknown_change(reading)
    steps = [recipe for recipe in reading.recipes if recipe.step]
    if steps:
        return _before_the_answer(steps[0].stage({}), flow, language)
    tools = [recipe for recipe in reading.recipes if recipe.tool]
    if tools and reading.has("add", "build"):
        return _with_tools(tools, flow, language)
    if reading.asks_for("memory") and reading.has("add", "manner", "build"):
        return _with_memory(flow, language)
    if reading.has("manner", "language"):
        return _instructed(reading, flow)
    added = _added_by_name(reading, bench)
    if added is not None:
        return added
    raise unknown_change(reading)


def unknown_component(reading: Reading, catalogue: Catalogue) -> str | None:
    """That there is no component of the name that a message wants to add, and what comes near; None for others."""
    if not reading.has("add") or reading.recipes or reading.quotes or named_components(reading.message, catalogue):
        return None
    said = _added_words(reading)
    named = reading.has("component") or all(word[:1].isupper() or reading.language in ("ja", "zh") for word in said)
    if not said or len(said) > (_NAME_WORDS if named else 1):
        return None
    return reason(no_component(" ".join(said), catalogue), reading.language)


def _added_by_name(reading: Reading, bench: Workbench) -> str | None:
    """The addition of the one component that a message names, when it says nothing else.

    Raises:
        CannotPlan: there is no component of the name.
    """
    unknown = unknown_component(reading, bench.catalogue)
    if unknown is not None:
        raise CannotPlan(unknown)
    named = named_components(reading.message, bench.catalogue)
    said = {fold(word) for word in _added_words(reading)}
    if len(named) != 1 or not reading.has("add") or not said <= set(fold(named[0].display_name).split()):
        return None
    name = _free(re.sub(r"\W", "", named[0].display_name), [node.id for node in bench.current.nodes])
    return f"nodes:\n  {name}: {named[0].type}"


def _added_words(reading: Reading) -> list[str]:
    """What a message says beside the words for adding: the name of what it adds."""
    kept = reading.message
    for concept in ("add", "step", "component", "this_flow", "flow", "build", "please", "filler"):
        for match in reading.spans(concept):
            kept = kept[: match.start()] + " " * len(match[0]) + kept[match.end() :]
    return [word for word in _WORD.findall(kept) if len(word) >= _SHORT_LABEL or not word.islower()]


def named_components(message: str, catalogue: Catalogue) -> list[ComponentType]:
    """The component types whose names stand in a message, each place counted once, the longest name first."""
    said = f" {_spaced(message)} "
    names = [
        (name, component)
        for component in catalogue
        for name in {_spaced(component.display_name), _spaced(component.type)}
        if len(name) > 3 and (not component.legacy or " " in name)
    ]
    named: dict[str, ComponentType] = {}
    for name, component in sorted(names, key=lambda one: (-len(one[0]), one[1].type)):
        if f" {name} " in said:
            named.setdefault(component.type, component)
            said = said.replace(f" {name} ", "  ")
    return list(named.values())


def _spaced(text: str) -> str:
    return " ".join("".join(c if c.isascii() and c.isalnum() else " " for c in fold(text)).split())


def _refuse_the_unknown(reading: Reading, flow: Flow) -> None:
    """Ask back rather than do half of a message: when a sentence of it is not understood, or it names a setting."""
    known = [vocabulary()[name] for name in ("manner", "language", "add", "otherwise", "run")] + [
        one.words for one in recipes().values()
    ]
    sentences = [
        sentence for sentence in re.split(r"[.;!?。；！？\n]+", reading.folded) if len(sentence.strip()) > _SHORT
    ]
    unknown = [one for one in sentences if not any(found(words, one, reading.language) for words in known)]
    labels = {
        fold(str(field.get("display_name") or ""))
        for node in flow.nodes
        for name, field in node.template.items()
        if name not in _INSTRUCTIONS
        and isinstance(field.get("value"), int | float)
        and not isinstance(field.get("value"), bool)
    }
    named = [label for label in labels if len(label) > _SHORT_LABEL and label in reading.folded]
    if unknown or named or len(sentences) > _MOST_SENTENCES:
        raise unknown_change(reading)


def unconnected_outputs(flow: Flow) -> Iterator[tuple[Node, Node | None]]:
    """The chat outputs that nothing leads into, each with the node whose answer fits it."""
    led = {edge.target for edge in flow.edges}
    leading = {edge.source for edge in flow.edges}
    for node in flow.nodes:
        if node.type == "ChatOutput" and node.id not in led:
            loose = [one for one in flow.nodes if one.id not in leading and one.id != node.id and not one.is_note]
            fitting = [one for one in loose if one.type != "ChatInput" and connectable(one, node, flow)]
            yield node, fitting[-1] if fitting else None


def _mended(flow: Flow, language: str) -> str:
    lines: list[str] = []
    for node, source in unconnected_outputs(flow):
        if source is not None:
            output, field = connectable(source, node, flow)[0]
            lines.append(f"  {source.id}.{output} -> {node.id}.{field}")
    if not lines:
        raise CannotPlan(reply("no_fault", language, chain=chain_text(flow), key=""))
    return "\n".join(["edges:", *lines])


def chain_text(flow: Flow) -> str:
    """How a flow runs: its connections as paths of names, the one from the chat input first."""
    order = in_order(flow)
    at = {node.id: place for place, node in enumerate(order)}
    left = sorted(
        {(at[edge.source], at[edge.target]) for edge in flow.edges if {edge.source, edge.target} <= at.keys()},
        key=lambda ends: (order[ends[0]].type != "ChatInput", ends),
    )
    paths: list[list[int]] = []
    told: set[int] = set()
    while left:
        path = list(left.pop(0))
        told.add(path[0])
        while path[-1] not in told:
            told.add(path[-1])
            ahead = next((ends for ends in left if ends[0] == path[-1]), None)
            if ahead is not None:
                left.remove(ahead)
                path.append(ahead[1])
        paths.append(path)
    paths += [[place] for place in at.values() if place not in told]
    return "; ".join(" → ".join(order[place].display_name for place in path) for path in paths)


def in_order(flow: Flow) -> Sequence[Node]:
    """The nodes of a flow, each after those that lead into it, as far as there is no circle."""
    left = [node for node in sorted(flow.nodes, key=lambda node: node.position) if not node.is_note]
    ordered: list[Node] = []
    while left:
        placed = {node.id for node in ordered}
        waits = {edge.target for edge in flow.edges if edge.source not in placed and edge.source != edge.target}
        ready = next((node for node in left if node.id not in waits), left[0])
        left.remove(ready)
        ordered.append(ready)
    return ordered


def _one(flow: Flow, fields: Sequence[str], language: str) -> Node:
    """The one node that has one of some fields."""
    nodes = [node for node in flow.nodes if any(node.field(name) is not None for name in fields)]
    if fields == ("model",):
        nodes = [node for node in nodes if (node.field("model") or {}).get("type") == "model"]
    if len(nodes) == 1:
        return nodes[0]
    chosen = [node for node in nodes if node.type in _MODEL_TYPES]
    if len(chosen) == 1:
        return chosen[0]
    why = ", ".join(node.display_name for node in nodes) or chain_text(flow)
    raise CannotPlan(reply("no_place", language, why=why))


def _configured(node: Node, field: str, value: str) -> str:
    return f"config:\n  {node.id}.{field}: {json.dumps(value, ensure_ascii=False)}"


def described_removal(reading: Reading, bench: Workbench) -> str | None:
    """The removal of parts that a message describes by role, place or what they do; None for any other message."""
    flow = bench.current
    role = removed_role(reading, flow)
    if role is not None:
        return removal(role, flow)
    if not reading.removes_step or reading.has("except") or (not reading.recipes and _named_nodes(reading, flow)):
        return None
    between = [node for node in in_order(flow) if node.type not in ("ChatInput", "ChatOutput")]
    if reading.has("last", "first"):
        steps = between[-1:] if reading.has("last") else between[:1]
    else:
        steps = [node for recipe in reading.recipes for node in _doing(recipe, flow)]
    gone = list({node.id: node for node in steps}.values())
    return removals(gone, flow, bench.catalogue) if gone else None


def _doing(recipe: Recipe, flow: Flow) -> list[Node]:
    """The nodes of a flow that do what a recipe does: with its settings, or a prompt that says it and its model."""
    if not recipe.task:
        fitting = [node for node in flow.nodes if node.type in recipe.types and recipe.is_set_in(node.value)]
        return fitting if len(fitting) == len(recipe.types) else []
    prompts = [node for node in flow.nodes if found(recipe.words, fold(str(node.value("template") or "")), "en")]
    led = {edge.target for edge in flow.edges if any(edge.source == node.id for node in prompts)}
    return [*prompts, *(node for node in flow.nodes if node.id in led and node.type == "LanguageModelComponent")]


def _removed(reading: Reading, flow: Flow) -> str | None:
    """The removal of the one component that a message names, when it removes something.

    Raises:
        CannotPlan: it also adds something: half of a message is not done in silence.
    """
    if not reading.has("remove"):
        return None
    if reading.has("add"):
        raise unknown_change(reading)
    named = _named_nodes(reading, flow)
    return removal(named[0], flow) if len(named) == 1 else None


def _named_nodes(reading: Reading, flow: Flow) -> list[Node]:
    said = fold(reading.message)
    return [node for node in flow.nodes if not node.is_note and _names(node, said)]


def _names(node: Node, said: str) -> bool:
    names = {fold(node.display_name), fold(node.type)}
    if node.field("template") is not None and node.type.startswith("Prompt"):
        names |= {"prompt", "vorlage", "plantilla", "提示词", "プロンプト"}
    return any(re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", said) for name in names)


def _last_edge(flow: Flow, language: str) -> Edge:
    """The one connection that leads into the one chat output."""
    outputs = {node.id for node in flow.nodes if node.type == "ChatOutput"}
    edges = [edge for edge in flow.edges if edge.target in outputs]
    if len(edges) != 1:
        raise CannotPlan(reply("no_place", language, why=chain_text(flow)))
    return edges[0]


def added_step(reading: Reading, flow: Flow) -> str | None:
    """The addition of a step that does with the answer what a message says; None for any other message.

    Raises:
        CannotPlan: a part of the message is not understood, or the flow has no place for the step.
    """
    stage = added_stage(reading)
    if stage is None:
        return None
    _refuse_the_unknown(reading, flow)
    return _before_the_answer(stage, flow, reading.language)


def _before_the_answer(step: Stage, flow: Flow, language: str) -> str:
    edge = _last_edge(flow, language)
    stage = step.named(_free(reply("step", language), [node.id for node in flow.nodes]))
    return "\n".join(
        [
            "nodes:",
            *(f"  {name}: {kind}" for name, kind in stage.nodes),
            "edges:",
            f"  {edge.source}.{edge.source_port} -> {stage.into}",
            *(f"  {line}" for line in stage.edges),
            f"  {stage.out} -> {edge.target}.{edge.target_port}",
            "config:",
            *stage.config,
        ]
    )


def _with_tools(tools: Sequence[Recipe], flow: Flow, language: str) -> str:
    """Tools for the one agent; a language model becomes an agent first."""
    agents = [node for node in flow.nodes if node.field("tools") is not None]
    models = [node for node in flow.nodes if node.type == "LanguageModelComponent"]
    taken = [node.id for node in flow.nodes]
    lines = ["nodes:"]
    edges: list[str] = []
    config: list[str] = []
    removed: list[str] = []
    if len(agents) == 1:
        agent = agents[0].id
    elif len(models) == 1 and not agents:
        old = models[0]
        agent = _free("Agent", taken)
        lines.append(f"  {agent}: Agent")
        edges += [f"  {e.source}.{e.source_port} -> {agent}.input_value" for e in flow.edges
                  if e.target == old.id and e.target_port == "input_value"]  # fmt: skip
        edges += [f"  {agent}.response -> {e.target}.{e.target_port}" for e in flow.edges if e.source == old.id]
        model = old.value("model")
        if model:
            config.append(f"  {agent}.model: {json.dumps(model, ensure_ascii=False)}")
        if old.value("system_message"):
            config.append(f"  {agent}.system_prompt: {json.dumps(old.value('system_message'), ensure_ascii=False)}")
        removed.append(f"  {old.id}")
    else:
        raise CannotPlan(reply("no_place", language, why=chain_text(flow)))
    for tool in tools:
        name = _free(re.sub(r"\W", "", tool.tool), [*taken, *(line.split(":")[0].strip() for line in lines)])
        lines.append(f"  {name}: {tool.tool}")
        edges.append(f"  {name}.{tool.out} -> {agent}.tools")
    return "\n".join([
        *lines, "edges:", *edges,
        *(["config:", *config] if config else []), *(["remove:", *removed] if removed else []),
    ])  # fmt: skip


def _with_memory(flow: Flow, language: str) -> str:
    """The messages so far, put into the one prompt template."""
    prompts = [node for node in flow.nodes if (node.field("template") or {}).get("type") == "prompt"]
    if len(prompts) != 1:
        raise CannotPlan(reply("no_place", language, why=chain_text(flow)))
    name = _free("History", [node.id for node in flow.nodes])
    template = f"What was said before:\n{{history}}\n\n{prompts[0].value('template') or ''}"
    return "\n".join([
        "nodes:", f"  {name}: Memory",
        "edges:", f"  {name}.messages_text -> {prompts[0].id}.history",
        "config:", f"  {prompts[0].id}.template: {json.dumps(template, ensure_ascii=False)}",
    ])  # fmt: skip


def _instructed(reading: Reading, flow: Flow) -> str:
    """The user's words, added to the instructions of the one model or agent."""
    node = _one(flow, _INSTRUCTIONS, reading.language)
    field = next(name for name in _INSTRUCTIONS if node.field(name) is not None)
    before = str(node.value(field) or "").strip()
    default = str((node.field(field) or {}).get("value") or "").strip() if node.type == "Agent" else ""
    said = f"Do as the user of this flow wishes: {reading.message.strip()}"
    return _configured(node, field, f"{before}\n{said}" if before and before != default else said)


def _free(name: str, taken: Sequence[str]) -> str:
    """A name that is not taken."""
    return next(one for one in (name, *(f"{name}{number}" for number in range(2, len(taken) + 3))) if one not in taken)
