"""Finds the packages that components import and that are not installed, Langflow's services among them."""

import ast
import functools
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any


def missing_packages(components: dict[str, dict[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """The packages that the source of each component type imports and that are not installed, by type name.

    `always` lists top-level imports, without which the component cannot be created; `sometimes` those that run only
    with the code that needs them. Types without missing packages are left out.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for kind, node in components.items():
        try:
            tree = ast.parse(node["template"].get("code", {}).get("value") or "")
        except (SyntaxError, AttributeError, ValueError):
            continue
        always = _missing(tree.body)
        sometimes = [name for name in _missing(ast.walk(tree)) if name not in always]
        if always or sometimes:
            found[kind] = {"always": always, "sometimes": sometimes}
    return found


def _missing(nodes: Iterable[ast.AST]) -> list[str]:
    """The top-level packages that these nodes import and that cannot be found."""
    modules: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.append(node.module)
    packages = {module.partition(".")[0] for module in modules}
    return sorted(package for package in packages if not _is_installed(package))


@functools.cache
def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False
