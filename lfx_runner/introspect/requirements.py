"""What components import that is not installed here: other packages, and Langflow's own services."""

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any


def lacking(components: dict[str, dict[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """The packages that each component type's source imports and that are not installed, by type name.

    `always` lists what is imported first of all, without which the component cannot even be made; `sometimes` what is
    imported only when the part that needs it runs. Types that lack nothing are left out.
    """
    known: dict[str, bool] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for kind, node in components.items():
        try:
            tree = ast.parse(node["template"].get("code", {}).get("value") or "")
        except (SyntaxError, AttributeError, ValueError):
            continue
        always = _absent(_imported(tree.body), known)
        sometimes = [name for name in _absent(_imported(ast.walk(tree)), known) if name not in always]
        if always or sometimes:
            found[kind] = {"always": always, "sometimes": sometimes}
    return found


def _imported(nodes: Iterable[ast.AST]) -> list[str]:
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return names


def _absent(names: Iterable[str], known: dict[str, bool]) -> list[str]:
    """The top-level packages among the modules named that cannot be found."""
    return sorted({name.partition(".")[0] for name in names if not _found(name.partition(".")[0], known)})


def _found(package: str, known: dict[str, bool]) -> bool:
    if package not in known:
        try:
            known[package] = find_spec(package) is not None
        except (ImportError, ValueError):
            known[package] = False
    return known[package]
