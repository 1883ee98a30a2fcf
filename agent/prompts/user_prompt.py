"""The prompt of a turn: its instructions, and the framed message."""

from dataclasses import replace

from agent.models.providers import PROVIDERS, usable_models
from agent.prompts import prompt
from agent.prompts.framing import Frame, likely_components
from agent.toolsets.selection import WRITES_COMPONENTS
from agent.turn.result import Intent
from agent.turn.state import Turn
from flows.fields.keys import without_keys
from flows.fields.model_providers import STORED, prefix_of, split_model
from flows.search.limits import relevant
from flows.templates import fitting
from tools.consent.offers import installable
from tools.replies import errors
from tools.workbench import Workbench


def instructions(intent: Intent) -> str:
    """The instructions for an intent; those for writing components are included only where needed."""
    parts = ["question" if intent == "question" else "builder"]
    if intent in WRITES_COMPONENTS:
        parts.append("components")
    return "\n\n".join(prompt(part) for part in parts)


def framed_message(turn: Turn, bench: Workbench) -> str:
    """The message after its context; the demo planner reads only the message."""
    if turn.choice.is_demo:
        return turn.text
    read = turn.classification
    if read.intent not in {"build_flow", "component_then_flow"}:
        return _frame(turn, bench).around(turn.text)
    return replace(
        _frame(turn, bench),
        dismissed_plan=turn.conversation.quote_plan(turn.text),
        templates=_templates(turn.english, bench),
        likely=[*likely_components(turn.english, bench.catalogue, canvas=bench.current), *_not_installed(turn, bench)],
        default_model=_default_model(turn),
        models=_other_models(turn),
        wanted_model=_wanted(read.provider, read.model),
    ).around(turn.text)


def _templates(request: str, bench: Workbench) -> list[str]:
    """The templates that a new flow may begin with, and the nodes that a change of them can name."""
    if not bench.current.is_empty:
        return []
    lacks = {"embeddings"} if bench.models and bench.models.own and not bench.models.own_embedding else set[str]()
    return [
        f"{one.name}: {one.description} ({', '.join(f'{node}: {kind}' for node, kind in one.nodes)})"
        for one in fitting(request, without=lacks)
    ]


def _frame(turn: Turn, bench: Workbench) -> Frame:
    """What every message is framed with: the canvas, what was said before, and the proposals."""
    waits = bench.open_offer if bench.proposal is not None else None
    return Frame(
        canvas=bench.flow,
        catalogue=bench.catalogue,
        faults=() if bench.flow.is_empty else errors(bench.check(bench.flow)),
        history=turn.conversation.turns,
        own=bench.own_components,
        files=bench.attached,
        application=[f"{one.description}: {without_keys(one.value)}" for one in turn.request.context],
        proposal=None if waits is None else (waits, bench.offers[waits]),
        earlier={name: flow for name, flow in bench.offers.items() if name != waits},
    )


def _not_installed(turn: Turn, bench: Workbench) -> list[str]:
    """The component types that the message may want and that would have to be installed."""
    query = turn.english[:500]
    return list(filter(None, [installable(bench, query, relevant(bench.catalogue.search(query, 3), query))]))


def _default_model(turn: Turn) -> str:
    """The turn's own model as a model field takes it; empty for a script, which no flow can name."""
    choice = turn.choice
    return f"{choice.provider}:{choice.names[0]}" if choice.provider in STORED and choice.names else ""


def _other_models(turn: Turn) -> list[str]:
    """A model of each other configured provider, as a model field takes it; one for both of OpenAI's APIs."""
    own = STORED.get(turn.choice.provider)
    configured = reversed(turn.services.providers(turn.request.user))
    found = {STORED[info.name]: info for info in configured if STORED[info.name] != own}
    return usable_models(reversed(found.values()))


def _wanted(provider: str | None, model: str | None) -> str | None:
    """The model that a message names, as a model field takes it where its provider is known."""
    given = ":".join(filter(None, (provider, model)))
    named = split_model(given) or split_model(model or "")
    if named is not None:
        return ":".join(named)
    prefix = prefix_of(given)
    if prefix is None or prefix not in PROVIDERS:
        return given or None
    return usable_models([PROVIDERS[prefix]])[0]
