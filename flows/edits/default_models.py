"""Names the assistant's own model in the components that an edit adds, so that the flow also runs in Langflow."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.edits.basic import configure
from flows.edits.result import Edit, EditError
from flows.fields.model_providers import KNOWN_TO_LANGFLOW, STORED, split_model
from flows.json_values import JsonObject


def name_default_models(
    before: Flow, edit: Edit, catalogue: Catalogue, language: str | None, embedding: str | None
) -> Edit:
    """The edit with a model in each required model field that it would leave empty in a new component.

    A provider that Langflow does not know is not named: the field stays empty, and takes the assistant's model here.

    Args:
        before: the flow before the edit; the components in it keep what they have.
        edit: the edit.
        catalogue: the component types.
        language: the assistant's own model, as `provider:name`.
        embedding: its embedding model, as `provider:name`.
    """
    models = {"language": _named(language), "embedding": _named(embedding)}
    if not any(models.values()):
        return edit
    known = {node.id for node in before.nodes}
    for node in edit.flow.nodes:
        for name, field in () if node.id in known else _unset(node):
            model = models.get(str(field.get("model_type") or "language"))
            if model is None:
                continue
            try:
                step = configure(edit.flow, catalogue, node.id, {name: model})
            except EditError:  # a component that is not of the catalogue stays as it is
                continue
            edit = Edit(step.flow, (*edit.actions, *step.actions))
    return edit


def _named(model: str | None) -> str | None:
    named = split_model(model or "")
    return None if named is None or STORED[named[0]] not in KNOWN_TO_LANGFLOW else model


def _unset(node: Node) -> list[tuple[str, JsonObject]]:
    """The model fields of a component that have to be set and are not."""
    return [
        (name, field)
        for name, field in node.template.items()
        if field.get("type") == "model"
        and field.get("required")
        and field.get("show") is not False
        and field.get("value") in (None, "", [])
    ]
