"""Names that a component's source has without defining them: the engine executes it among its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from runtime.guard.interpreter.scopes import bound_by

_IMPORTS = (ast.Import, ast.ImportFrom)
_MODULES = ("ast", "contextlib", "copy", "importlib", "sys", "warnings")
_OWN = """
    add_type_ignores validate_code eval_function execute_function create_function create_class
    create_type_ignore_class prepare_global_scope extract_class_code compile_class_code build_class_constructor
    get_default_imports find_names_in_code _import_module_with_warnings _resolve_attribute _handle_module_attributes
    _MissingModulePlaceholder _get_module_fallbacks _static_imported_base _trusted_imported_bases
    _has_static_type_metaclass_bases register_compiled_class_method_returns snapshot_trusted_class_method_returns
    exec_globals compiled_class
"""
GIVEN: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in _MODULES},
        "FunctionType": "types.FunctionType",
        "ModuleType": "types.ModuleType",
        **{name: f"lfx.custom.validate.{name}" for name in _OWN.split()},
    }
)
"""Dotted paths by the names that the engine's own module, in which it executes sources, has."""

_REPLACED = (
    ("from langflow import CustomComponent", "from langflow.custom import CustomComponent"),
    (
        "from langflow.interface.custom.custom_component import CustomComponent",
        "from langflow.custom import CustomComponent",
    ),
)


def as_executed(source: str) -> str:
    """Return the source as the engine executes it: it replaces two old imports, wherever these words stand."""
    for old, new in _REPLACED:
        source = source.replace(old, new)
    return source


def given_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each given name that a source uses, with its path, unless the source has surely made it its own before."""
    used: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in GIVEN and isinstance(node.ctx, ast.Load):
            used[node.id] = min(used.get(node.id, node.lineno), node.lineno)
    for name, first in used.items():
        if not any(
            name in bound_by(node) and (isinstance(node, _IMPORTS) or node.lineno < first) for node in tree.body
        ):
            yield name, GIVEN[name]
