"""Functions that find, make or call other things by name or by value, each judged in its own way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from runtime.guard import derived, files, hints, judging, policy
from runtime.guard.arguments import Arguments
from runtime.guard.closed import attribute_rule
from runtime.guard.embedded import format_reach
from runtime.guard.folding import fold_call, is_foldable, is_unpacking
from runtime.guard.paths import as_path
from runtime.guard.reading import Reading
from runtime.guard.running import steps_into_run
from runtime.guard.scopes import Scope
from runtime.guard.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    PICKED,
    TABLE,
    Box,
    Const,
    File,
    Local,
    Made,
    Ref,
    Text,
    Value,
    certain_rounds,
    constants,
    contents,
    known,
    outside,
    sequence,
    shallow,
    strings,
    union,
)


def _getattr(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    held, name = given.at(0), given.at(1)
    if not held or not name:
        return EMPTY
    judging.by_name(reading, held, name, node, "`getattr`")
    fallback = given.at(2) or EMPTY
    names = strings(name)
    if len(names) == len(name):
        for atom in held:
            if isinstance(atom, Const) and isinstance(atom.value, str) and format_reach(atom.value):
                reading.report("escape", node, "A format template that reads attributes")
        for one in names:
            judging.attribute(reading, held, one, node)
            files.taken(reading, held, one, node)
        return union([*(derived.attribute(reading, held, one) for one in names), fallback])
    return PICKED | fallback


def _setattr(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    held, name, value = given.at(0) or EMPTY, given.at(1) or EMPTY, given.at(2) or EMPTY
    judging.by_name(reading, held, name, node, "`setattr`")
    fixed = constants(name) is not None
    for one in strings(name) if fixed else [""]:
        judging.changed(reading, held, one, value, node)
    for one in strings(name) if fixed else list(reading.stored):
        reading.store(one, value)
    return known(None)


def _delattr(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    judging.by_name(reading, given.at(0) or EMPTY, given.at(1) or EMPTY, node, "`delattr`")
    judging.changed(reading, given.at(0) or EMPTY, "", EMPTY, node)
    return known(None)


def _vars(reading: Reading, given: Arguments, node: ast.Call, scope: Scope) -> Value:
    held = given.at(0)
    if held is None and scope.kind != "function":
        reading.report("escape", node, "`vars()` outside of a function")
    for atom in held or EMPTY:
        if isinstance(atom, Ref) and "(" not in atom.path:
            reading.report("escape", node, f"The attribute table of {judging.shown(atom.path)}")
    return TABLE


def _locals(reading: Reading, _: Arguments, node: ast.Call, scope: Scope) -> Value:
    if scope.kind != "function":
        reading.report("escape", node, "`locals()` outside of a function")
    return frozenset({Box(tuple(scope.values.items()), EMPTY, mapping=True)})


def _dir(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    own = all(isinstance(atom, Made) for atom in given.at(0) or EMPTY) and given.given
    return frozenset({Box((), ANYTHING if own else DECODED, mapping=False)})


def _type(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    held = given.at(0) or EMPTY
    if len(given.given) > 1:
        return ANYTHING
    found: list[Value] = []
    for atom in held:
        match atom:
            case Ref(path) if path.endswith("()"):
                found.append(outside(path.removesuffix("()")))
            case Made(number):
                found.append(frozenset({Local(number)}))
            case File():
                found.append(outside("pathlib.Path"))
            case Const(value=value):
                found.append(outside(f"@{type(value).__name__}"))
            case Local() | Ref() if not (isinstance(atom, Ref) and "(" in atom.path):
                found.append(outside("types.FunctionType"))
            case _:
                found.append(ANYTHING)
    return union(found)


def _path(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    return as_path([*given.given, *([given.more] if given.more else [])])


def _import_module(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    name = given.at(0, "name") or EMPTY
    names = strings(name)
    if not name or len(names) < len(name):
        reading.report("dynamic_code", node, "Importing a module whose name is made at run time")
        return ANYTHING
    for one in names:
        rule = policy.judged_import(policy.imported(one))
        if rule is not None:
            reading.report(rule, node, f"Importing `{one}`")
    return frozenset(Ref(policy.imported(one)) for one in names)


def _attrgetter(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in given.every():
        for text in strings(value):
            if steps_into_run(text):
                reading.report("secrets", node, f"`attrgetter` with {text}")
            for part in text.split("."):
                if (
                    part in policy.HIDDEN_MODULES
                    or attribute_rule(part)
                    or part in ("__class__", "__dict__", "__init__")
                ):
                    reading.report("escape", node, f"`attrgetter` with {part}")
        unsure = frozenset(atom for atom in value if not isinstance(atom, Const))
        if judging.hidden_name(unsure):
            reading.report("escape", node, "`attrgetter` with a name made at run time")
    return outside("operator.attrgetter()")


def _methodcaller(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    name = given.at(0) or EMPTY
    hidden = judging.hidden_name(name)
    if hidden is not None:
        reading.report(hidden[0], node, f"`methodcaller` with {hidden[1]}")
    if any(text in ("format", "format_map", "read_text", "read_bytes", "write_text") for text in strings(name)):
        reading.report("escape", node, "`methodcaller` with a method that must be called by name")
    return outside("operator.methodcaller()")


def _getitem(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    held, index = given.at(0) or EMPTY, given.at(1) or EMPTY
    judging.key(reading, held, index, node)
    return derived.item(reading, held, index)


def _itemgetter(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in given.every():
        judging.key(reading, EMPTY, value, node)
    return outside("operator.itemgetter()")


def _partial(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    return given.at(0) or EMPTY


def _map(reading: Reading, given: Arguments, _: ast.Call, __: Scope) -> Value:
    found: list[Value] = []
    for atom in given.at(0) or EMPTY:
        if isinstance(atom, Local):
            found.append(reading.given_by(reading.definitions[atom.number]))
        elif isinstance(atom, Ref) and is_foldable(atom.path) and len(given.given) == 2:
            whole = certain_rounds(given.given[1])
            if whole is not None:
                return sequence([fold_call(atom.path, [known(one)]) or DECODED for one in whole])
            found.append(DECODED if is_unpacking(atom.path) else ANYTHING)
        else:
            found.append(ANYTHING)
    inner = union(found)
    return frozenset({shallow(Box((), inner, mapping=False))}) if inner else EMPTY


def _dict(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    items = tuple(given.named.items())
    rest = [contents(atom) for part in given.given for atom in part if isinstance(atom, Box)]
    rest += [ANYTHING for part in given.given if not all(isinstance(atom, Box) for atom in part)]
    return frozenset({shallow(Box(items, union(rest), mapping=True))})


def _super(_: Reading, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    outer = frozenset(atom for atom in given.at(1) or EMPTY if isinstance(atom, Ref))
    return outer or ANYTHING


def _format(reading: Reading, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in given.given[:1]:
        for text in strings(value):
            if format_reach(text):
                reading.report("escape", node, "A format template that reads attributes")
    return ANYTHING


def _address(reading: Reading, given: Arguments, _: ast.Call, __: Scope) -> Value:
    """An address put together from its parts begins with the first of them."""
    schemes = derived.item(reading, given.at(0) or EMPTY, known(0))
    return frozenset(Text(f"{one}:" if one else "", "", decoded=False) for one in strings(schemes) or [""])


def _namespace(reading: Reading, given: Arguments, _: ast.Call, __: Scope) -> Value:
    for name, value in given.named.items():
        reading.store(name, value | ANYTHING)
    return ANYTHING


def _typed(reading: Reading, given: Arguments, node: ast.Call, scope: Scope) -> Value:
    """Types that are passed as text, alone or before a default, are evaluated."""
    for value in given.every():
        for atom in value:
            first = atom.value if isinstance(atom, Const) else None
            if isinstance(first, tuple) and first:
                first = first[0]  # pyright: ignore[reportUnknownVariableType] any constant
            if isinstance(first, str):
                hints.quoted(reading, first, node, scope)
            if isinstance(atom, Box):
                for text in strings(contents(atom)):
                    hints.quoted(reading, text, node, scope)
    return ANYTHING


def _buffer(_: Reading, __: Arguments, ___: ast.Call, ____: Scope) -> Value:
    return outside("io.BytesIO()")


SPECIAL: Mapping[str, Callable[[Reading, Arguments, ast.Call, Scope], Value]] = MappingProxyType(
    {
        "@getattr": _getattr,
        "inspect.getattr_static": _getattr,
        "@setattr": _setattr,
        "@delattr": _delattr,
        "@vars": _vars,
        "@locals": _locals,
        "@dir": _dir,
        "@type": _type,
        "@map": _map,
        "@dict": _dict,
        "@super": _super,
        "@str.format": _format,
        "@str.format_map": _format,
        "@object.__getattribute__": _getattr,
        "@object.__setattr__": _setattr,
        "@object.__delattr__": _delattr,
        "@type.__getattribute__": _getattr,
        "@type.__setattr__": _setattr,
        "@type.__delattr__": _delattr,
        "pathlib.Path": _path,
        "importlib.import_module": _import_module,
        "operator.attrgetter": _attrgetter,
        "operator.methodcaller": _methodcaller,
        "operator.getitem": _getitem,
        "operator.itemgetter": _itemgetter,
        "functools.partial": _partial,
        "functools.partialmethod": _partial,
        "urllib.parse.urlunparse": _address,
        "urllib.parse.urlunsplit": _address,
        "types.SimpleNamespace": _namespace,
        "io.BytesIO": _buffer,
        "pydantic.TypeAdapter": _typed,
        "pydantic.create_model": _typed,
        "pydantic.validate_call": _typed,
        "typing.NamedTuple": _typed,
        "typing.TypedDict": _typed,
        "typing_extensions.TypedDict": _typed,
        "dataclasses.make_dataclass": _typed,
        "io.StringIO": _buffer,
    }
)
"""Each such function with how it is judged and what it gives."""
