"""Exports lfx's component registry, installed bundles included, as the catalogue file."""

import asyncio
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

FORMAT = 1


def registry() -> dict[str, dict[str, Any]]:
    """Every component type that lfx knows here, by type name: its frontend node and its category.

    Bundles (packages with a `langflow.extensions` entry point) are loaded the way lfx itself loads them, so their
    types carry the names that flows made with them carry.
    """
    from lfx.interface.components import get_and_cache_all_types_dict  # takes seconds
    from lfx.services.deps import get_settings_service

    categories = asyncio.run(get_and_cache_all_types_dict(get_settings_service()))
    return {
        kind: {**node, "category": category}
        for category, components in categories.items()
        for kind, node in components.items()
        if isinstance(node, dict) and isinstance(node.get("template"), dict)
    }


def export(target: Path, digest: str) -> None:
    """Write the catalogue to `target`; what identifies it comes first, so that a reader need not parse it all."""
    document = {"format": FORMAT, "lfx": version("lfx"), "runner": digest, "components": registry()}
    target.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
