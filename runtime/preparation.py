"""Makes a flow ready for one run: its tweaks, the packages it needs, its admission, the variables that may enter."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.guard import refuse, runnable
from runtime.guard.admission import find
from runtime.install.bundles import bundle_of, installing
from runtime.results import RunError
from runtime.tweaks import Tweaks, tweaked
from runtime.variables import Filled, Lookup, filled


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a run may have.

    Attributes:
        tweaks: values for this run alone.
        variables: names of the user's variables that may enter.
        lookup: gives their values.
        verification: whether it is a verification run.
        has_models: whether it may call models.
    """

    tweaks: Tweaks
    variables: Collection[str]
    lookup: Lookup
    verification: bool
    has_models: bool


def prepared(flow: Flow, catalogue: Catalogue, conditions: Conditions) -> Filled | RunError:
    """What is run of `flow`, or why it is not run."""
    changed = tweaked(flow, catalogue, conditions.tweaks)
    if isinstance(changed, RunError):
        return changed
    refused = missing_bundle(changed, catalogue) or refuse(changed, catalogue, has_models=conditions.has_models)
    if refused is not None:
        return refused
    data = runnable(changed)
    return filled(data, catalogue, conditions.variables, conditions.lookup, verification=conditions.verification)


def missing_bundle(flow: Flow, catalogue: Catalogue) -> RunError | None:
    """The error for a component type of a bundle that is not installed; None when there is no such node."""
    for node in flow.nodes:
        if node.is_note or find(catalogue, node.type) is not None or (package := bundle_of(node.type)) is None:
            continue
        message = f"{node.display_name or node.type!r} comes with {package}, which is not installed."
        return RunError(code="missing_package", message=message, fix=f"{installing(package)}.", node=node.id)
    return None
