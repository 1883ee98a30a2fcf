"""Exports lfx's component registry, including installed bundles, as the catalogue file."""

import asyncio
import json
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

FORMAT = 1
COMPONENT_SECONDS = 10.0
TOTAL_SECONDS = 120.0
SOURCES = Path(__file__).resolve().parent.parent / "components"
OWN = {"FileVectorStore": ("file_vector_store", "files_and_knowledge")}
"""Wirewright's own component types: the module with the source, and the category."""


def registry() -> dict[str, dict[str, Any]]:
    """Every component type that lfx knows, by type name: its frontend node and its category.

    Bundles (packages with a `langflow.extensions` entry point) are loaded as lfx loads them, so that their types have
    the names that flows use.
    """
    from lfx.interface.components import get_and_cache_all_types_dict  # takes seconds
    from lfx.services.deps import get_settings_service

    categories = asyncio.run(get_and_cache_all_types_dict(get_settings_service()))
    of_lfx = {
        kind: {**node, "category": category}
        for category, components in categories.items()
        for kind, node in components.items()
        if isinstance(node, dict) and isinstance(node.get("template"), dict)
    }
    return {**of_lfx, **own_components()}


def own_components() -> dict[str, dict[str, Any]]:
    """Wirewright's own component types, by type name, described from their sources as a user's would be."""
    from lfx.custom import utils
    from lfx.custom.custom_component.component import Component

    from lfx_runner.introspect.refresh import plain

    found: dict[str, dict[str, Any]] = {}
    for kind, (module, category) in OWN.items():
        source = (SOURCES / f"{module}.py").read_text(encoding="utf-8")
        template, _ = utils.build_custom_component_template(Component(_code=source), class_name=kind)
        node = plain(template)
        node["template"]["code"]["value"] = source
        found[kind] = {**node, "category": category}
    return found


def choices(components: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How the options of each component type change its fields and outputs (see options.py), by type name.

    Types in which nothing depends on an option are left out; None stands for a type that could not be examined, such
    as one whose packages are not installed or that takes too long.
    """
    from lfx_runner.introspect.refresh import no_network

    found: dict[str, Any] = {}
    end = time.monotonic() + TOTAL_SECONDS
    ignored = account_fields()
    with no_network():
        for kind, node in components.items():
            rules = _examined(node, ignored, min(end, time.monotonic() + COMPONENT_SECONDS))
            if rules != {}:
                found[kind] = rules
    return found


def account_fields() -> frozenset[str]:
    """The names of fields that depend on the accounts and models of a machine, not on the component."""
    try:
        from lfx.base.models.unified_models.build_config import _get_all_provider_mapped_fields as mapped
    except ImportError:
        return frozenset({"model", "api_key"})
    return frozenset({"model", "api_key", *mapped()})


def _examined(node: dict[str, Any], ignored: frozenset[str], deadline: float) -> Any:
    """The rules of a type, found in a thread that is abandoned when it hangs."""
    from lfx_runner.introspect.options import rules_of

    found: list[Any] = []

    def examine() -> None:
        try:
            found.append(rules_of(node, ignored, deadline))
        except Exception:  # noqa: BLE001 - the component's code may fail, or a package may be missing
            found.append(None)

    thread = threading.Thread(target=examine, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()) + 5.0)
    return found[0] if found else None


def export(target: Path, digest: str) -> None:
    """Write the catalogue to `target`, beginning with what identifies it, so that readers need not parse it all."""
    from lfx_runner.introspect.requirements import missing_packages

    components = registry()
    document = {
        "format": FORMAT,
        "lfx": version("lfx"),
        "runner": digest,
        "components": components,
        "choices": choices(components),
        "lacking": missing_packages(components),
    }
    target.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
