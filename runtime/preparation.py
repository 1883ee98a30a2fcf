"""Prepares a flow for one run: its tweaks, the packages that it needs, its admission, the variables that enter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, configure
from flows.json_values import JsonObject, as_list, as_object, object_at
from runtime.database.errors import StoreUnavailable
from runtime.files.flow_files import give_files, reads_files
from runtime.guard import refuse, runnable
from runtime.guard.admission import find, has_untrusted_code
from runtime.install.bundles import bundle_of, install_hint
from runtime.node_json import calls_fields_code
from runtime.options import RunOptions, Tweaks
from runtime.results import RunError, RunFailed
from runtime.variables import FilledFlow, Lookup, fill_variables


def prepare_run(
    flow: Flow,
    catalogue: Catalogue,
    text: str | None,
    options: RunOptions,
    lookup: Lookup,
    own: Mapping[str, str],
) -> FilledFlow:
    """Return the nodes and edges to run. It may take a while for a large flow: call it in a thread.

    Args:
        flow: what the user wants to run.
        catalogue: the component types.
        text: the flow's input, if there is one.
        options: the run's options.
        lookup: returns the values of variables.
        own: the variables that the user keeps.

    Raises:
        RunFailed: the flow is refused; the error says why.
    """
    tweaked = _apply_tweaks(flow, catalogue, options.tweaks or {})
    error = _missing_bundle(tweaked, catalogue) or refuse(tweaked, catalogue, has_models=options.models is not None)
    if error is None and text and not options.verification:
        error = _unused_input(tweaked)
    if error is not None:
        raise RunFailed(error)
    allowed = options.allow_variables or ()
    given = give_files(_marked(runnable(tweaked)), options.files, samples=options.verification)
    filled = fill_variables(given.data, catalogue, allowed, lookup, verification=options.verification, own=own)
    return replace(filled, files=given)


def _marked(data: JsonObject) -> JsonObject:
    """Nodes and edges, where each node's template says what it is, as Langflow needs; one from elsewhere may not."""
    nodes = as_list(data.get("nodes"))
    if all("_type" in object_at(as_object(node), "data", "node", "template") for node in nodes):
        return data
    return {**data, "nodes": [*map(_marked_node, map(as_object, nodes))]}


def _marked_node(raw: JsonObject) -> JsonObject:
    data, node = object_at(raw, "data"), object_at(raw, "data", "node")
    template: JsonObject = {"_type": "Component", **object_at(node, "template")}
    return {**raw, "data": {**data, "node": {**node, "template": template}}}


def is_quick(flow: Flow, catalogue: Catalogue, options: RunOptions) -> bool:
    """Whether `prepare_run` takes less time than waking a thread for it.

    So it is for a short flow of the catalogue's own code, which the guard need not read, without tweaks and files.

    Args:
        flow: what the user wants to run.
        catalogue: the component types.
        options: the run's options.
    """
    if options.tweaks or not flow.is_short:
        return False
    data = flow.data
    return not (has_untrusted_code(data, catalogue) or calls_fields_code(data) or reads_files(data))


async def kept_variables(options: RunOptions) -> Mapping[str, str]:
    """The variables that the user keeps, and that may enter a run.

    Raises:
        RunFailed: they cannot be read.
    """
    try:
        return {} if options.variables is None or options.verification else await options.variables.values()
    except StoreUnavailable as failure:
        raise RunFailed(RunError(code="crash", message=f"Not run: {failure.message}", fix=failure.fix)) from None


def _apply_tweaks(flow: Flow, catalogue: Catalogue, tweaks: Tweaks) -> Flow:
    """The flow with the tweaks applied. It must still be admitted, because a tweak may change code."""
    for node, values in tweaks.items():
        try:
            flow = configure(flow, catalogue, node, dict(values)).flow
        except EditError as error:
            fault = error.faults[0]
            message = f"The tweak is refused: {fault.message}"
            raise RunFailed(RunError(code="refused", message=message, fix=fault.fix, node=node)) from None
    return flow


def _missing_bundle(flow: Flow, catalogue: Catalogue) -> RunError | None:
    """The error for a node whose component type comes with a bundle that is not installed, or None."""
    for node in flow.nodes:
        if node.is_note or find(catalogue, node.type) is not None or (package := bundle_of(node.type)) is None:
            continue
        message = f"{node.display_name or node.type!r} comes with {package}, which is not installed."
        return RunError(code="missing_package", message=message, fix=f"{install_hint(package)}.", node=node.id)
    return None


def _unused_input(flow: Flow) -> RunError | None:
    """The error for a flow in which no node takes the input, because several text inputs all have a value; or None.

    A chat input always takes the input, and so does a single text input. Of several text inputs, those that have a
    value or are connected keep it (`lfx_runner.execute` follows the same rule).
    """
    if any(node.type == "ChatInput" for node in flow.nodes):
        return None
    inputs = [node for node in flow.nodes if node.type == "TextInput"]
    connected = {edge.target for edge in flow.edges}
    if len(inputs) < 2 or any(not node.value("input_value") and node.id not in connected for node in inputs):
        return None
    ids = [node.id for node in inputs]
    message = f"No node takes the input: the text inputs {', '.join(ids[:-1])} and {ids[-1]} all have a value already."
    fix = f"Add a chat input, clear the text input that should take it, or set one for this run: {ids[0]}.input_value."
    return RunError(code="missing_input", message=message, fix=fix)
