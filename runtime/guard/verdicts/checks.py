"""Functions that find, make or call other things by name or by value, each judged in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from runtime.guard.interpreter import derived, hints
from runtime.guard.interpreter.arguments import Call
from runtime.guard.interpreter.heap import GROWS
from runtime.guard.interpreter.texts import as_path, below
from runtime.guard.ruleset import canonical
from runtime.guard.sets import (
    constants,
    contents,
    every,
    known_value,
    listed,
    one,
    outside,
    paths,
    shallow,
    strings,
    union,
)
from runtime.guard.values import ANYTHING, EMPTY, PICKED, Atom, Box, Const, File, Local, Made, Ref, Text, Unknown, Value
from runtime.guard.verdicts import files, judging, models
from runtime.guard.verdicts.embedded import field_reach, is_local_database, template_reach
from runtime.guard.verdicts.running import steps_into_run

Check: TypeAlias = Callable[[Call], Value]
CHECKS: dict[str, Check] = {
    "archive": files.archive,
    "alias": models.aliases,
    "config": models.config,
    "settings": models.made_with,
    "cafile": files.machine_certificates,
    "dir": lambda _: listed(ANYTHING),
    "folder": lambda _: one(File(1, text=True)),
    "memfile": lambda _: outside("io.BytesIO()"),
    "pathfn": files.path_function,
    "pathlib": lambda call: as_path(call.given.in_order()),
    "super": lambda call: frozenset(atom for atom in call.at(1) if isinstance(atom, Ref)) or ANYTHING,
    "temp": files.made_temporary,
}
"""Each check of a public name: it judges a call, and tells what the call gives."""


def _judges(name: str) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        CHECKS[name] = check
        return check

    return add


@_judges("getattr")
def _getattr(call: Call) -> Value:
    held, name, fallback = call.at(0), call.at(1), call.at(2)
    if not held or not name:
        return EMPTY
    if not judging.by_name(call.reading, held, name, call.node, "`getattr`"):
        text = all(isinstance(atom, Text | Const) for atom in name)
        model = any(isinstance(atom, Made) and models.is_model(call.reading, atom.number) for atom in held)
        return (ANYTHING if text and not model else PICKED) | fallback
    found: list[Value] = [fallback, ANYTHING if Unknown("asked") in name else EMPTY]
    for text in strings(name):
        if text in GROWS:
            call.reading.heap.put(held, Box((), ANYTHING))
        special = judging.taken(call.reading, held, text, call.node)
        found.append(derived.attribute(call.reading, held, text) if special is None else special)
    return union(found)


@_judges("setattr")
def _setattr(call: Call) -> Value:
    held, name, reading = call.at(0), call.at(1), call.reading
    fixed = constants(name) is not None
    if not fixed and not all(isinstance(atom, Made) for atom in held) and name != one(Unknown("asked")):
        call.report("escape", "`setattr` with a name made at run time", judging.ESCAPE_FIX)
    for text in strings(name) if fixed else [""]:
        judging.changed(reading, held, text, call.node)
        models.stored(reading, held, text, call.at(2), call.node)
    for text in strings(name) if fixed else [*reading.stored, *reading.file_fields]:
        reading.store(text, call.at(2))
    return known_value(None)


@_judges("delattr")
def _delattr(call: Call) -> Value:
    judging.changed(call.reading, call.at(0), "", call.node)
    return known_value(None)


@_judges("vars")
def _vars(call: Call) -> Value:
    if not judging.plain_instances(call.reading, call.at(0)):
        call.report("escape", "The attribute table of something else", "Name the attributes one by one.")
    return derived.attribute(call.reading, call.at(0), "__dict__")


@_judges("locals")
def _locals(call: Call) -> Value:
    if call.scope.kind != "function":
        call.report("escape", "`locals()` outside of a function")
    return one(Box(tuple(call.scope.values.items()), EMPTY, mapping=True))


@_judges("type")
def _type(call: Call) -> Value:
    if len(call.given.given) > 1:
        bases = every(call.given.given[1])
        if any(isinstance(atom, Ref | Unknown) and atom not in (Ref("@object"), Ref("@Exception")) for atom in bases):
            call.report("dynamic_code", "A class of outside classes that is made at run time", "Write it out.")
        return ANYTHING
    return union(map(_type_of, call.at(0)))


def _type_of(atom: Atom) -> Value:
    match atom:
        case Ref(path) if path.startswith("numpy.") and atom.is_instance:
            return outside("numpy.ndarray")
        case Ref(path) if path.endswith("()"):
            return outside(path.removesuffix("()"))
        case Made(number):
            return one(Local(number))
        case File():
            return outside("pathlib.Path")
        case Const(value=value) if value is not None:
            return outside(f"@{type(value).__name__}")
        case Local():
            return outside("types.FunctionType")
        case Ref() if not atom.is_instance:
            return outside("types.FunctionType")
        case _:
            return ANYTHING


@_judges("join")
def _join(call: Call) -> Value:
    parts = call.given.in_order()
    if not all(parts):
        return EMPTY
    if not any(isinstance(atom, File) for part in parts for atom in part):
        return ANYTHING
    found = below(parts[0], parts[1:])
    return frozenset(replace(atom, text=True) if isinstance(atom, File) else atom for atom in found)


@_judges("import")
def _import(call: Call) -> Value:
    name, rules = call.at(0, "name"), call.reading.rules
    modules = {text: canonical(text) for text in strings(name)}
    if not name or len(strings(name)) < len(name):
        call.report("dynamic_code", "Importing a module whose name is made at run time")
        return ANYTHING
    for text, module in modules.items():
        if (rule := rules.refusal(module)) is not None:
            call.report(rule, f"Importing `{text}`", rules.fix(module))
    return frozenset(map(Ref, modules.values()))


@_judges("attrgetter")
def _attrgetter(call: Call) -> Value:
    for value in call.given.every():
        if constants(value) is None:
            call.report("escape", "`attrgetter` with a name made at run time", judging.ESCAPE_FIX)
        for text in strings(value):
            if steps_into_run(text):
                call.report("secrets", f"`attrgetter` with {text}")
            for part in text.split("."):
                _named_attribute(call, "attrgetter", part)
    return outside(f"{call.path}()")


@_judges("methodcaller")
def _methodcaller(call: Call) -> Value:
    if constants(call.at(0)) is None:
        call.report("escape", "`methodcaller` with a name made at run time", judging.ESCAPE_FIX)
    for text in strings(call.at(0)):
        _named_attribute(call, "methodcaller", text, f"Write lambda value: value.{text}(...).")
    return outside(f"{call.path}()")


def _named_attribute(call: Call, how: str, name: str, fix: str | None = None) -> None:
    judging.attribute(call.reading, ANYTHING, name, call.node)
    if name in call.reading.rules.methods or name.startswith("_"):
        call.report("escape", f"`{how}` with {name}", fix)


@_judges("getitem")
def _getitem(call: Call) -> Value:
    held, index = call.at(0), call.at(1)
    judging.key(call.reading, held, index, call.node)
    if any(isinstance(atom, Ref) and not atom.is_instance for atom in held):
        call.report("escape", "`getitem` of a class")
    return derived.item(held, index)


@_judges("itemgetter")
def _itemgetter(call: Call) -> Value:
    for value in call.given.every():
        judging.key(call.reading, EMPTY, value, call.node)
    return outside(f"{call.path}()")


@_judges("map")
def _map(call: Call) -> Value:
    reading = call.reading
    given = (reading.definitions[atom.number] if isinstance(atom, Local) else None for atom in call.at(0))
    return listed(union([ANYTHING if defined is None else reading.given_by(defined) for defined in given]))


@_judges("dict")
def _dict(call: Call) -> Value:
    atoms = [atom for part in call.given.given for atom in part]
    rest = union([_values(atom) if isinstance(atom, Box) else ANYTHING for atom in atoms])
    return shallow(Box(tuple(call.given.named.items()), rest, mapping=True))


def _values(box: Box) -> Value:
    """What `dict` keeps of a dictionary, or of pairs."""
    return contents(box) if box.mapping else every(contents(box))


@_judges("address")
def _address(call: Call) -> Value:
    """An address put together from its parts begins with the first of them."""
    schemes = strings(derived.item(call.at(0), known_value(0)))
    return frozenset(Text(f"{scheme}:" if scheme else "") for scheme in schemes or [""])


@_judges("namespace")
def _namespace(call: Call) -> Value:
    for name, value in call.given.named.items():
        call.reading.store(name, value | ANYTHING)
    return ANYTHING


@_judges("types")
def _types(call: Call) -> Value:
    """Types that are passed as text, alone or before a default, are evaluated: each must be certain to be a type."""
    models.made_with(call)
    model = "create_model" in call.path
    values = [value for name, value in call.given.named.items() if not (model and name.startswith("__"))]
    values += call.given.given[0 if "TypeAdapter" in call.path and not model else 1 :]
    for atom in {atom for value in [*values, call.given.more] for atom in value}:
        if isinstance(atom, Const):
            atoms: Value = frozenset(map(Const, atom.parts or (atom.value,)))
        elif isinstance(atom, Box):
            atoms = every(derived.item_of(atom, known_value(0)) if model and not atom.rest else contents(atom))
        else:
            atoms = one(atom)
        for text in strings(atoms):
            hints.quoted(call.reading, text, call.node, call.scope)
        if any(isinstance(part, Text | Unknown) or (isinstance(part, Ref) and "json" in part.path) for part in atoms):
            what = f"{judging.source_path(call.path)} with a type that is not certain"
            call.report("dynamic_code", what, "Name the type, or write the model out as a class.")
    return ANYTHING


@_judges("wraps")
def _wraps(call: Call) -> Value:
    given = call.given
    if given.named.keys() - {"wrapped"} or given.more or len(given.given) > (1 if call.path.endswith("wraps") else 2):
        call.report("escape", f"{judging.source_path(call.path)} of attributes by name")
    return ANYTHING


@_judges("yaml")
def _yaml(call: Call) -> Value:
    safe = (Ref("yaml.SafeLoader"), Ref("yaml.CSafeLoader"), Ref("yaml.BaseLoader"))
    loader = call.at(1, "Loader")
    if not loader or not all(atom in safe or isinstance(atom, Local) for atom in loader):
        call.report("deserialiser", f"`{call.path}` without a safe loader")
    return ANYTHING


@_judges("request")
def _request(call: Call) -> Value:
    files.addresses(call, call.at(0, "url", "fullurl"))
    for name in ("cafile", "capath"):
        if call.given.named.get(name, EMPTY) - {Const(None)}:
            call.report("files", f"{judging.source_path(call.path)} with `{name}`")
    return outside(f"{call.path}()")


@_judges("partial")
def _partial(call: Call) -> Value:
    """A function with some of its arguments, which a field must not begin with in this way."""
    field = any(path.endswith("Input") for path in paths(call.at(0)))
    if field and (call.given.more or call.given.named.keys() & {"value", "file_path", "name"}):
        call.report("files", "A field with arguments that it gets elsewhere", "Write the field out.")
    return call.at(0)


@_judges("second")
def _second(call: Call) -> Value:
    if files.outside_files(call.at(1, "fileobj"), "buffer"):
        call.report("files", judging.source_path(call.path))
    return ANYTHING


@_judges("readsql")
def _read_sql(call: Call) -> Value:
    files.connection(call, call.at(1, "con"))
    return outside(f"{call.path}()")


@_judges("fill")
def _fill(call: Call) -> Value:
    """`string.Formatter` reads attributes and items of what it is given: its format stands in the source."""
    texts = call.at(0, "format_string", "field_name")
    if constants(texts) is None or any(map(field_reach, strings(texts))):
        fix = "Write the format out, or fill it in with string.Template."
        call.report("escape", f"{judging.source_path(call.path)} of a format that does not stand in the source", fix)
    return ANYTHING


@_judges("ndarray")
def _ndarray(call: Call) -> Value:
    call.report("native", "`numpy.ndarray` over a buffer", "Make it with numpy.array, zeros or empty.")
    return ANYTHING


@_judges("raw")
def _raw(call: Call) -> Value:
    """Objects out of a buffer are whatever its numbers point to."""
    kind = call.at(1, "dtype")
    objects = any("O" in text or "object" in text for text in strings(kind))
    if objects or not kind.isdisjoint({Ref("@object"), Ref("numpy.object_")}):
        call.report("native", f"{judging.source_path(call.path)} of objects", "Name a type of numbers.")
    return outside(f"{call.path}()")


_OPTION = re.compile(r"(?:display|mode|future|compute|styler|io)\.[\w.]+|\w*(?:max_|width|precision|chained|copy)\w*")
"""An option of pandas that names no module; part of a name is looked up as a pattern."""


@_judges("option")
def _option(call: Call) -> Value:
    names = call.given.given[::2] + ([call.given.more] if call.given.more else [])
    for name in [*names, *(value for key, value in call.given.named.items() if key == "pat")]:
        if constants(name) is None or not all(map(_OPTION.fullmatch, strings(name))):
            call.report("dynamic_code", f"{judging.source_path(call.path)} of an option that may name a module")
    return outside(f"{call.path}()")


@_judges("feed")
def _feed(call: Call) -> Value:
    if any(not text.lstrip().startswith(("http://", "https://", "<")) for text in strings(call.at(0))):
        call.report("files", f"{judging.source_path(call.path)} of a file")
    return ANYTHING


@_judges("jinja")
def judge_template(call: Call) -> Value:
    """Judge a Jinja template outside of a sandbox: it executes what it says, so its text stands in the source."""
    texts = union([contents(atom) if isinstance(atom, Box) else one(atom) for atom in call.at(0, "source", "mapping")])
    if any(map(template_reach, strings(texts))):
        call.report("dynamic_code", "A template that reaches into Python")
    elif constants(texts) is None:
        fix = "Use jinja2.sandbox.SandboxedEnvironment, or write the template out."
        call.report("dynamic_code", "A Jinja template that is not written out in the source", fix)
    return outside(f"{call.path}()")


@_judges("entities")
def _entities(call: Call) -> Value:
    for name in ("resolve_entities", "load_dtd", "dtd_validation", "attribute_defaults"):
        if not call.given.named.get(name, EMPTY) <= {Const(value=False), Const("internal")}:
            call.report("files", f"An XML parser with `{name}`")
    return outside(f"{call.path}()")


@_judges("logfile")
def _logfile(call: Call) -> Value:
    if "filename" in call.given.named and files.outside_files(call.given.named["filename"], "optional"):
        call.report("files", "A log in a file")
    return known_value(None)


@_judges("dburl")
def judge_database(call: Call) -> Value:
    """Judge the address of a database, or what opens it: neither names a file of this machine."""
    for atom in call.at(0, "url", "database_uri") | call.given.named.get("creator", EMPTY):
        text = atom.value if isinstance(atom, Const) else atom.head if isinstance(atom, Text) else None
        if (isinstance(text, str) and is_local_database(text)) or (isinstance(atom, File) and atom.depth < 0):
            call.report("files", f"{judging.source_path(call.path)} with a path of this machine")
    return outside(f"{call.path}()")


@_judges("transport")
def _transport(call: Call) -> Value:
    if "uds" in call.given.named:
        call.report("sockets", "A Unix socket")
    return outside(f"{call.path}()")
