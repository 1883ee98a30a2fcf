"""Reading a flow from a file or standard input: Langflow JSON or spec text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cli.engine import EngineUnavailable, ready_catalogue
from cli.errors import BadUsage
from cli.flow.components import Inspect, inspect_in_new_engine, read_sources, with_user_components
from cli.input.texts import Source, read, source_name
from cli.output.faults import has_errors
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, FlowFormatError
from flows.faults import Fault


@dataclass(frozen=True, kw_only=True)
class LoadedFlow:
    """A flow that was read.

    Attributes:
        flow: the flow; None when the spec has errors.
        faults: what is wrong with the spec.
        written: the ids as the source writes them, by the flow's own node ids.
        from_spec: whether the flow was built from spec text.
    """

    flow: Flow | None
    faults: tuple[Fault, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict[str, str])
    from_spec: bool = False

    def name(self, node: str) -> str:
        """A node's id as the source writes it."""
        return self.written.get(node, node)

    def in_words(self, text: str) -> str:
        """A message with the ids that the source writes."""
        for node in sorted(self.written, key=len, reverse=True):
            text = text.replace(node, self.written[node])
        return text

    def placed(self, fault: Fault) -> Fault:
        """A fault of the flow, with the ids that the source writes."""
        node = None if fault.node is None else self.name(fault.node)
        return replace(fault, node=node, message=self.in_words(fault.message), fix=self.in_words(fault.fix))


def flow_of(source: Source) -> Flow:
    """The flow in a JSON text.

    Raises:
        BadUsage: when it is not JSON or not a flow; `where` has the line or the JSON path.
    """
    try:
        return Flow.from_json(json.loads(source.text, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        where = f"{source.name}: line {error.lineno} column {error.colno}"
        raise BadUsage("invalid_json", f"{source.name} is not JSON: {error.msg}.", fix=_FIX, where=where) from None
    except FlowFormatError as error:
        where = f"{source.name}: {error.path}"
        message = f"{source.name} is not a flow: {error.path} {error.message}."
        raise BadUsage("invalid_flow", message, fix=error.fix, where=where) from None
    except (RecursionError, ValueError):
        message = f"{source.name} is not valid JSON: it nests too deep, or has a number that JSON does not allow."
        raise BadUsage("invalid_json", message, fix=_FIX, where=source.name) from None


def built(source: Source, catalogue: Catalogue) -> LoadedFlow:
    """The flow that spec text builds, with the faults of building."""
    from flows.spec import build

    result = build(source.text, catalogue)
    written = {node: name for name, node in result.ids.items()}
    return LoadedFlow(flow=result.flow, faults=result.faults, written=written, from_spec=True)


def load_flow(
    name: str, text: str | None = None, *, components: str | None = None, inspect: Inspect = inspect_in_new_engine
) -> tuple[LoadedFlow, Catalogue | None]:
    """The flow in a source, and the catalogue with the flow's own components; None when there is no catalogue.

    Args:
        name: the source's name, as the user called it.
        text: its content, when it was read already.
        components: the folder of the flow's own components.
        inspect: makes component types from their sources.
    """
    source = read(name) if text is None else Source(name=source_name(name), text=text)
    given = LoadedFlow(flow=flow_of(source)) if source.is_json else None
    try:
        catalogue = ready_catalogue()
    except EngineUnavailable as unavailable:
        fault = Fault(code=unavailable.code, message=unavailable.message, fix=unavailable.fix)
        return LoadedFlow(flow=None, faults=(fault,)), None
    sources = read_sources(components)
    sources = sources if given else with_user_components(sources, source.text, catalogue)
    own = sources.components(inspect(sources.texts.values()) if sources.texts else [], catalogue)
    catalogue = own.added_to(catalogue)
    if has_errors(own.faults):
        return LoadedFlow(flow=None, faults=own.faults), catalogue
    loaded = given or built(source, catalogue)
    return replace(loaded, faults=(*own.faults, *loaded.faults)), catalogue


def all_faults(loaded: LoadedFlow, catalogue: Catalogue | None) -> list[Fault]:
    """The faults of building, then those of checking that building did not find."""
    if loaded.flow is None or catalogue is None:
        return list(loaded.faults)
    known = {(fault.code, fault.node, fault.port, fault.field) for fault in loaded.faults}
    found = [loaded.placed(fault) for fault in check(loaded.flow, catalogue)]
    return faults_here(
        [
            *loaded.faults,
            *(fault for fault in found if (fault.code, fault.node, fault.port, fault.field) not in known),
        ]
    )


def faults_here(faults: list[Fault]) -> list[Fault]:
    """The faults of a flow on this installation, whose default model, if there is one, serves open model fields."""
    if all(fault.code != "missing_model" for fault in faults) or not _has_default_model():
        return faults
    return [fault for fault in faults if fault.code != "missing_model"]


def _has_default_model() -> bool:
    """Whether a default model is configured; only a flow that needs one waits for these imports."""
    from agent.models.flow_models import has_default_model
    from agent.settings import AssistantSettings
    from cli.files.local import local_keys
    from cli.settings import settings_of

    return has_default_model(settings_of(AssistantSettings).model, lambda: local_keys().flow_environment())


_FIX = "Give a Langflow export (JSON) or spec text."


def _refuse_constant(name: str) -> object:
    raise ValueError(name)
