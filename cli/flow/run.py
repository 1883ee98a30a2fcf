"""Running a flow for `wirewright flow run`: what it is given, what is told on the way, and the result's document."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.errors import BadUsage

if TYPE_CHECKING:
    from cli.flow.source import Made
    from flows.document import Json
    from runtime.options import OnEvent
    from runtime.results import RunEvent, RunResult
from runtime.runner import Runner

_FIX = "Write NODE.FIELD=VALUE, such as --tweak prompt.template=Hello."


def runner_of_settings() -> "Runner":
    """A runner for one flow, as the settings say; it starts when it is first needed, and tells of that."""
    from agent.models.flow_models import flow_models
    from agent.settings import AssistantSettings
    from cli.output.streams import progress
    from cli.settings import settings_of
    from runtime.runner import Runner

    settings = settings_of(AssistantSettings)
    runner = Runner(concurrency=1, models=flow_models(settings.model), allow_variables=settings.run_variables)
    runner.on_progress = progress()
    return runner


def tweaks_of(given: Iterable[str], made: "Made") -> "dict[str, dict[str, Json]]":
    """The tweaks that `--tweak NODE.FIELD=VALUE` says; nodes are called as the source calls them.

    Raises:
        BadUsage: one of them says something else.
    """
    nodes = {name: node for node, name in made.written.items()}
    found: dict[str, dict[str, Json]] = {}
    for each in given:
        place, equals, value = each.partition("=")
        node, dot, field = place.rpartition(".")
        if not (equals and dot and node and field):
            raise BadUsage("bad_value", f"{each!r} is no tweak.", fix=_FIX, where="--tweak")
        found.setdefault(nodes.get(node, node), {})[field] = _value(value)
    return found


def teller(made: "Made", *, as_json: bool) -> "OnEvent":
    """Writes each event as it comes: a line of JSON on standard output, or words for people on standard error."""
    from cli.output.streams import document, note

    def tell(event: "RunEvent") -> None:
        named = replace(event, node=made.name(event.node))
        if as_json:
            document(named.to_json())
        elif (words := _words(named)) is not None:
            note(words)

    return tell


def result_json(result: "RunResult") -> dict[str, object]:
    """The document of a result."""
    shown = result.to_json()
    return {key: shown[key] for key in ("ok", "output", "outputs", "types", "metrics", "error")}


def written(made: "Made", result: "RunResult") -> "RunResult":
    """A result with the ids that the source writes."""
    outputs = {made.name(node): value for node, value in result.outputs.items()}
    types = {made.name(node): value for node, value in result.types.items()}
    error = result.error
    if error is not None:
        node = None if error.node is None else made.name(error.node)
        error = replace(error, node=node, message=made.in_words(error.message), fix=made.in_words(error.fix))
    return replace(result, outputs=outputs, types=types, error=error)


def _value(text: str) -> "Json":
    """A list or an object where the text is one; any other text stays text, which the field itself reads."""
    read: Callable[[str], Json] = json.loads
    if text.lstrip()[:1] in {"[", "{"}:
        try:
            return read(text)
        except ValueError:
            return text
    return text


def _words(event: "RunEvent") -> str | None:
    again = f" (time {event.iteration})" if event.iteration > 1 else ""
    match event.kind:
        case "node_started":
            return f"{event.node} begins{again}"
        case "node_finished":
            return f"{event.node} {'ended' if event.ok else 'failed'}{again} after {event.seconds:.2f} s"
        case "token":
            return f"{event.node}: {event.text}"
        case "cut":
            return "The run tells more than is shown."
