"""Run by the subject's interpreter: prints what `from wirewright import ...` gives, as one JSON document.

Imports nothing of this project but `wirewright`, and nothing else but the standard library. Names of modules are left
out, since public names may move between them.
"""

import contextlib
import dataclasses
import importlib.metadata
import inspect
import json
import os
import re
import sys
import typing

import wirewright

_MODULE = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_<])")
_QUOTED = re.compile(r"(?<=: )'([^']*)'|(?<=> )'([^']*)'")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_OWNERS = importlib.metadata.packages_distributions()


def without_modules(text: str) -> str:
    """A signature or annotation without the modules of what it names."""
    return _QUOTED.sub(r"\1\2", _MODULE.sub("", _ADDRESS.sub("", text)))


def own(thing: object) -> bool:
    """Whether something comes from Wirewright rather than from Python or a dependency."""
    top = str(getattr(thing, "__module__", None)).partition(".")[0]
    return top not in sys.stdlib_module_names and _OWNERS.get(top, ["wirewright"]) == ["wirewright"]


class Unshown:
    """Stands for a default that is not shown."""

    def __repr__(self) -> str:
        """Three dots."""
        return "..."


def default(value: object) -> object:
    """A default as it may be shown: the process's environment is not."""
    return Unshown() if value is os.environ or getattr(value, "__self__", None) is os.environ else value


def signature(function: typing.Any) -> str:
    """How something is called."""
    read = inspect.signature(function)
    parameters = [
        parameter.replace(default=default(parameter.default))
        for name, parameter in read.parameters.items()
        if not name.startswith("_")
    ]
    return without_modules(str(read.replace(parameters=parameters)))


def member(holder: type, name: str) -> object:
    """What one public member of a class is."""
    raw = inspect.getattr_static(holder, name)
    if isinstance(raw, property):
        return "property " + (signature(raw.fget) if raw.fget else "") + (" settable" if raw.fset else "")
    if isinstance(raw, staticmethod | classmethod):
        return f"{type(raw).__name__} {signature(getattr(holder, name))}"
    if callable(raw):
        kind = "async method" if inspect.iscoroutinefunction(inspect.unwrap(raw)) else "method"
        return f"{kind} {signature(raw)}"
    return type(raw).__name__


def fields(holder: typing.Any) -> dict[str, str]:
    """The fields of a dataclass or a pydantic model, in their order."""
    found: dict[str, str] = {}
    if dataclasses.is_dataclass(holder):
        for field in dataclasses.fields(holder):
            shown = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
            kept = [name for name, on in (("keyword", field.kw_only), ("not in init", not field.init)) if on]
            if field.default is not dataclasses.MISSING:
                kept.append(f"default {default(field.default)!r}")
            if field.default_factory is not dataclasses.MISSING:
                kept.append("default made")
            found[field.name] = without_modules(" · ".join([shown, *kept]))
    elif hasattr(holder, "model_fields"):
        for name, info in holder.model_fields.items():
            found[name] = without_modules(f"{inspect.formatannotation(info.annotation)} · default {info.default!r}")
    return found


def public(holder: type) -> list[str]:
    """The public members that a class or its own bases define, and its special ones that callers use."""
    special = {"__init__", "__call__", "__iter__", "__len__", "__contains__", "__getitem__", "__aenter__", "__aexit__"}
    names = {name for base in holder.__mro__ if own(base) for name in vars(base)}
    return sorted(name for name in names if not name.startswith("_") or name in special)


def prose_free(schema: typing.Any) -> typing.Any:
    """A JSON schema without its descriptions."""
    if isinstance(schema, dict):
        return {
            key: prose_free(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))
        }
    return [prose_free(item) for item in schema] if isinstance(schema, list) else schema


def described(thing: typing.Any) -> dict[str, object]:
    """One public name."""
    if not inspect.isclass(thing):
        kind = "async function" if inspect.iscoroutinefunction(thing) else "function"
        return {"kind": kind, "signature": signature(thing)} if callable(thing) else {"kind": type(thing).__name__}
    held = fields(thing)
    facts: dict[str, object] = {
        "kind": "dataclass" if dataclasses.is_dataclass(thing) else "class",
        "bases": [base.__name__ for base in thing.__mro__[1:-1]],
        "signature": signature(thing),
        "fields": held,
        "members": {name: member(thing, name) for name in public(thing) if name not in held and name != "__init__"},
    }
    if hasattr(thing, "model_json_schema"):
        facts["kind"] = "pydantic model"
        try:
            facts["schema"] = prose_free(thing.model_json_schema())
        except Exception as error:  # noqa: BLE001  (what keeps it from having one is recorded, and compared)
            facts["schema"] = f"none: {type(error).__name__}"
    return facts


def hinted(thing: typing.Any) -> typing.Iterator[typing.Any]:
    """The annotations of what a public name holds and of what it and its public members give."""
    functions: list[typing.Any] = [thing]
    if inspect.isclass(thing):
        raw = [inspect.getattr_static(thing, name) for name in public(thing)]
        functions += [one.fget if isinstance(one, property) else getattr(one, "__func__", one) for one in raw]
    for function in functions:
        if inspect.isclass(function) or inspect.isfunction(function):
            # an annotation that exists for type checkers alone leads nowhere
            with contextlib.suppress(NameError):
                hints = typing.get_type_hints(function)
                yield from hints.values() if inspect.isclass(function) else [hints.get("return")]


def classes(hint: typing.Any) -> typing.Iterator[type]:
    """Wirewright's own classes that an annotation names."""
    if inspect.isclass(hint) and own(hint):
        yield hint
    for part in typing.get_args(hint):
        yield from classes(part)


def main() -> None:
    """Print every public name, and the classes that they hold or give."""
    names = {name: getattr(wirewright, name) for name in wirewright.__all__}
    reached = {found.__name__: found for thing in names.values() for hint in hinted(thing) for found in classes(hint)}
    document = {
        "all": list(wirewright.__all__),
        "dir": dir(wirewright),
        "names": {name: described(thing) for name, thing in names.items()},
        "reached": {name: described(thing) for name, thing in reached.items() if thing not in names.values()},
    }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
