"""Judges special names by which Python or a library reads attributes or memory that the source only describes."""

from __future__ import annotations

import ast

from runtime.guard.interpreter.reading import Reading
from runtime.guard.sets import constants, elements
from runtime.guard.values import ANYTHING, Value
from runtime.guard.verdicts import judging
from runtime.guard.violations import Rule

_MATCHED = "__match_args__"
_READ = ("from_attributes", "orm_mode")
_GENERATES = "alias_generator"
_TELLS = "discriminator"
_METHODS: dict[str, Rule] = {
    **dict.fromkeys(("__instancecheck__", "__subclasscheck__", "__subclasshook__", _MATCHED), "escape"),
    "is_safe_attribute": "escape",
    "is_safe_callable": "escape",
    **dict.fromkeys(("__array_interface__", "__array_struct__"), "native"),
}
"""Methods that say of others' objects what they are, or of memory where it is."""
_ANSWERS = frozenset(("__getattr__", "__getattribute__"))
"""Methods that answer to any name, `__array_interface__` too."""
_ARRAYS = frozenset(("numpy", "pandas"))
_FRAMES = frozenset(("DataFrame", "Table"))
"""What makes arrays and tables of objects, by the import and by the name."""


def defined(reading: Reading, name: str, node: ast.AST) -> None:
    """Judge the name of a function that the source defines, or a special name in quotes."""
    if (rule := _METHODS.get(name)) is not None:
        reading.report(rule, node, f"`{name}` of one's own")
    elif name in _ANSWERS and (reading.tops & _ARRAYS or reading.mentioned & _FRAMES):
        fix = "Give the class the attributes that it needs by name."
        reading.report("native", node, f"`{name}` beside arrays, which ask objects where their memory is,", fix)


def declared(reading: Reading, name: str, value: Value, node: ast.AST) -> None:
    """Judge what is assigned to a special name: patterns read the attributes that `__match_args__` names."""
    if name != _MATCHED:
        defined(reading, name, node)
        return
    names = constants(elements(value))
    if names is None:
        reading.report("escape", node, f"`{_MATCHED}` that does not stand in the source")
    for one in names or ():
        pattern_name(reading, str(one), node)


def pattern_name(reading: Reading, name: str, node: ast.AST) -> None:
    """Judge the name of an attribute that a pattern reads by its position."""
    judging.attribute(reading, ANYTHING, name, node)


def keyword(reading: Reading, name: str | None, node: ast.AST) -> None:
    """Judge a keyword, key or variable of a class that lets a model read any object's attributes by its aliases."""
    if name in _READ:
        what = f"`{name}` lets a model read the attributes of any object by names that are texts."
        reading.report("escape", node, what, "Give the model a dictionary with the values.")
    elif name == _GENERATES and tells_apart(reading):
        what = f"`{_GENERATES}` beside a `{_TELLS}`, which reads attributes of any object by aliases,"
        reading.report("escape", node, what, "Write the alias of each field out.")


def tells_apart(reading: Reading) -> bool:
    """Whether a source may have unions that are told apart by a field, which is read of whatever they are given."""
    return _TELLS in reading.keywords or _TELLS in reading.mentioned


def quoted(reading: Reading, text: str, node: ast.AST) -> None:
    """Judge a text that is one of these names, wherever it goes."""
    defined(reading, text, node)
    keyword(reading, text, node)
