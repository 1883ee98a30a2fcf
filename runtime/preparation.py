"""Prepares a flow for one run: its tweaks, the packages it needs, its admission, the variables that enter."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, configure
from runtime.guard import refuse, runnable
from runtime.guard.admission import find
from runtime.inputs import refuse_unused_input
from runtime.install.bundles import bundle_of, install_hint
from runtime.options import RunOptions, Tweaks
from runtime.results import RunError, RunFailed
from runtime.variables import FilledFlow, Lookup, fill_variables


def prepare_run(flow: Flow, catalogue: Catalogue, text: str | None, options: RunOptions, lookup: Lookup) -> FilledFlow:
    """Return the nodes and edges to run. It may take a while for a large flow: call it in a thread.

    Args:
        flow: what the user asked to run.
        catalogue: the component types.
        text: the flow's input, if there is one.
        options: the run's options.
        lookup: gives the values of variables.

    Raises:
        RunFailed: the flow is not run; the error says why.
    """
    tweaked = apply_tweaks(flow, catalogue, options.tweaks or {})
    error = missing_bundle(tweaked, catalogue) or refuse(tweaked, catalogue, has_models=options.models is not None)
    if error is None and text and not options.verification:
        error = refuse_unused_input(tweaked)
    if error is not None:
        raise RunFailed(error)
    allowed = options.allow_variables or ()
    return fill_variables(runnable(tweaked), catalogue, allowed, lookup, verification=options.verification)


def apply_tweaks(flow: Flow, catalogue: Catalogue, tweaks: Tweaks) -> Flow:
    """Return the flow with the tweaks applied. It must still be admitted: a tweak may change code.

    Raises:
        RunFailed: there is no such node or field, or a value is wrong.
    """
    for node, values in tweaks.items():
        try:
            flow = configure(flow, catalogue, node, dict(values)).flow
        except EditError as error:
            fault = error.faults[0]
            message = f"The tweak is refused: {fault.message}"
            raise RunFailed(RunError(code="refused", message=message, fix=fault.fix, node=node)) from None
    return flow


def missing_bundle(flow: Flow, catalogue: Catalogue) -> RunError | None:
    """The error for a node whose component type comes with a bundle that is not installed, or None."""
    for node in flow.nodes:
        if node.is_note or find(catalogue, node.type) is not None or (package := bundle_of(node.type)) is None:
            continue
        message = f"{node.display_name or node.type!r} comes with {package}, which is not installed."
        return RunError(code="missing_package", message=message, fix=f"{install_hint(package)}.", node=node.id)
    return None
