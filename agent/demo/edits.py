"""Changes of the flow on the canvas, in plain words of eight languages, as fragments of spec text."""

import json
import re
from collections.abc import Iterator, Sequence

from agent.demo.building.recipe import Recipe, recipes
from agent.demo.exact.changes import connectable, removal
from agent.demo.models import model_named
from agent.demo.plan import CannotPlan
from agent.demo.reading import Reading
from agent.demo.replies import reply
from agent.demo.words import fold, found, vocabulary
from flows.document import Edge, Flow, Node
from tools.workbench import Workbench

_SHORT, _SHORT_LABEL, _MOST_SENTENCES = 8, 4, 2
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
    removed = _removed(reading, flow) if reading.has("remove") else None
    if removed is not None:
        return removed
    _refuse_the_unknown(reading, flow)
    steps = [recipe for recipe in reading.recipes if recipe.step]
    if steps:
        return _before_the_answer(steps[0], flow, language)
    tools = [recipe for recipe in reading.recipes if recipe.tool]
    if tools and reading.has("add", "build"):
        return _with_tools(tools, flow, language)
    if reading.asks_for("memory") and reading.has("add", "manner", "build"):
        return _with_memory(flow, language)
    if reading.has("manner", "language"):
        return _instructed(reading, flow)
    raise CannotPlan(reply("which_change", language, said=reading.message.strip()[:200]))


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
        raise CannotPlan(reply("which_change", reading.language, said=reading.message.strip()[:200]))


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
    """The names of a flow's components in the order in which they run."""
    return " → ".join(node.display_name for node in in_order(flow))


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


def _removed(reading: Reading, flow: Flow) -> str | None:
    """The removal of the one component that the message names."""
    said = fold(reading.message)
    named = [node for node in flow.nodes if not node.is_note and _names(node, said)]
    return removal(named[0], flow) if len(named) == 1 else None


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


def _before_the_answer(step: Recipe, flow: Flow, language: str) -> str:
    edge = _last_edge(flow, language)
    stage = step.stage({}).named(_free("Step", [node.id for node in flow.nodes]))
    return "\n".join(
        [
            "nodes:",
            *(f"  {name}: {kind}" for name, kind in stage.nodes),
            "edges:",
            f"  {edge.source}.{edge.source_port} -> {stage.into}",
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
