"""What keeps a stored flow from running, over HTTP: its faults, and the models, keys, files and bundles it lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Received
from agent.models.overview import overview
from agent.models.providers import DEMO, PROVIDERS
from flows.bundles import BundleIndex
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, Json, JsonObject, Node
from flows.fields.model_providers import prefix_of
from flows.fields.model_values import CONNECTED, canonical_model
from flows.fields.secrets import is_secret
from flows.json_values import as_list, as_object, as_text
from runtime.files.flow_files import missing_files
from runtime.files.names import FileRefused
from runtime.variables import MODEL_KEYS, conventional_name
from server.access.caller import Caller, caller_of
from server.json_response import JsonResponse
from server.requests.multipart import refusal
from server.requests.operation import operation
from server.routes.flows.stale import known_components
from server.routes.flows.stored import PATH
from tools.json_types import FaultJson


class FlowNeed(Received):
    """Something that a flow lacks.

    Attributes:
        kind: a model that answers, the value of a secret field, a file, or a bundle that has the component type.
        node: the id of the node that needs it.
        title: what the node is called.
        field: the field that needs it; empty for a bundle.
        label: what the field is called; empty for a bundle.
        name: the provider without a key, the variable without a value, the missing file or the bundle; empty where
            nothing is chosen yet.
        size_mb: how large the download of a bundle is, in megabytes; null where that is not known.
    """

    kind: Literal["model", "secret", "file", "bundle"]
    node: str
    title: str
    field: str = ""
    label: str = ""
    name: str = ""
    size_mb: float | None = None


class FlowNeeds(Received):
    """What keeps a flow from running; nothing when it can run.

    Attributes:
        needs: what it lacks, in the order of its nodes.
        faults: what is wrong with it as it is stored, errors first.
        version: the version that this is about.
    """

    needs: list[FlowNeed]
    faults: list[FaultJson]
    version: int


@operation(FlowNeeds)
async def needs(request: Request) -> Response:
    """What is wrong with the flow, and the models, keys, files and bundles that it requires and that are not there."""
    caller = caller_of(request)
    stored = await (await caller.flows()).get(request.path_params["flow_id"])
    catalogue, known = await known_components(caller), await _kept(caller)
    found = await asyncio.to_thread(flow_needs, stored.flow, catalogue, caller.assistant.bundles, known)
    faults = await asyncio.to_thread(check, stored.flow, catalogue, has_model=known.has_default)
    return JsonResponse(FlowNeeds(needs=found, faults=faults, version=stored.entry.version))


class Kept(Received):
    """What a user has already.

    Attributes:
        files: the paths of the files.
        variables: the names of the variables that a run may have.
        providers: the prefixes of the providers that can serve.
        has_default: whether there is a model for fields that name none.
    """

    files: list[str]
    variables: list[str]
    providers: list[str]
    has_default: bool


def flow_needs(flow: Flow, catalogue: Catalogue, bundles: BundleIndex, kept: Kept) -> list[FlowNeed]:
    """What a flow lacks, in the order of its nodes.

    Args:
        flow: the flow.
        catalogue: the installed component types.
        bundles: the bundles that can be installed.
        kept: what the user has.
    """
    data = as_object(flow.to_json().get("data"))
    files = missing_files(data, kept.files)
    fed = {(edge.target, edge.target_port) for edge in flow.edges}
    found: list[FlowNeed] = []
    for node in flow.components:
        found += _bundle(node, catalogue, bundles)
        is_fed = _fed_in(node, fed)
        found += _models(node, is_fed, kept)
        found += _secrets(node, is_fed, catalogue, kept.variables)
        for lacking in files:
            if lacking.node == node.id:
                found.append(_need("file", node, lacking.field, name=lacking.path))
    return found


def _fed_in(node: Node, fed: Collection[tuple[str, str]]) -> Callable[[str], bool]:
    return lambda name: (node.id, name) in fed


def _bundle(node: Node, catalogue: Catalogue, bundles: BundleIndex) -> Iterator[FlowNeed]:
    known = bundles.find(node.type, catalogue)
    bundle = None if known is None else bundles.bundle_of(known.type)
    if bundle is not None:
        yield FlowNeed(kind="bundle", node=node.id, title=_title(node), name=bundle.name, size_mb=bundle.size_mb)


def _models(node: Node, is_fed: Callable[[str], bool], kept: Kept) -> Iterator[FlowNeed]:
    for name, field in node.template.items():
        if field.get("type") != "model" or field.get("show") is False or is_fed(name):
            continue
        for prefix in _prefixes(field.get("value")):
            lacks = prefix not in kept.providers if prefix else field.get("required") and not kept.has_default
            if lacks:
                yield _need("model", node, name, name=prefix)


def _prefixes(value: Json) -> list[str]:
    """The providers that a model field names; one empty name where it takes the default."""
    try:
        models = canonical_model(value)
    except ValueError:
        return []  # a fault of its own
    if models == CONNECTED:
        return []
    named = [prefix_of(as_text(as_object(one).get("provider"))) for one in as_list(models)]
    return [one for one in named if one is not None] if models else [""]


def _secrets(
    node: Node, is_fed: Callable[[str], bool], catalogue: Catalogue, variables: Collection[str]
) -> Iterator[FlowNeed]:
    known = catalogue.find(node.type)
    if known is None:
        return
    for name, declared in known.template.items():
        field = as_object(node.template.get(name))
        if not is_secret(as_object(declared)) or field.get("show") is False or is_fed(name):
            continue
        variable = _variable(node.type, name, field)
        if variable and variable not in variables and not MODEL_KEYS.fullmatch(variable):
            yield _need("secret", node, name, name=variable)


def _variable(kind: str, name: str, field: JsonObject) -> str:
    """The variable whose value a field takes; empty if it needs none."""
    value = as_text(field.get("value"))
    if value:
        return value if field.get("load_from_db") is True else ""
    return conventional_name(kind, name) if field.get("required") else ""


def _need(kind: Literal["model", "secret", "file"], node: Node, field: str, *, name: str) -> FlowNeed:
    label = as_text(as_object(node.template.get(field)).get("display_name")) or field
    return FlowNeed(kind=kind, node=node.id, title=_title(node), field=field, label=label, name=name)


def _title(node: Node) -> str:
    return node.display_name or node.type


async def _kept(caller: Caller) -> Kept:
    try:
        listed = await asyncio.to_thread(caller.files.listing)
    except FileRefused as refused:
        raise refusal(refused) from None
    keys, variables = await caller.keys.read(), await caller.variables.values()
    environment = keys.environment()
    found = overview(caller.settings.model, environment, {name: keys.stored(name) for name in PROVIDERS})
    return Kept(
        files=[path for path, _ in listed],
        variables=[*variables, *caller.settings.run_variables],
        providers=[name for name, info in PROVIDERS.items() if info.available(environment)],
        has_default=found.default not in (None, DEMO),
    )


routes = [Route(f"{PATH}/{{flow_id}}/needs", needs, methods=["GET"])]
