"""What calls of functions from outside the source do and give, where that matters."""

from __future__ import annotations

import ast

from runtime.guard import files, judging, policy
from runtime.guard.arguments import Arguments
from runtime.guard.builtin_calls import SPECIAL
from runtime.guard.embedded import is_local_path, template_reach
from runtime.guard.folding import fold_call, is_foldable, is_unpacking
from runtime.guard.paths import as_text, below
from runtime.guard.reading import Reading
from runtime.guard.scopes import Scope
from runtime.guard.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    Box,
    Const,
    File,
    Local,
    Ref,
    Text,
    Value,
    contents,
    elements,
    outside,
    shallow,
    strings,
    union,
)

_SAFE_LOADERS = frozenset(
    f"yaml.{prefix}{name}"
    for prefix in ("", "loader.", "cyaml.")
    for name in ("SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader")
)
_OPENERS = frozenset(
    f"urllib.request.{name}"
    for name in ("urlopen", "Request", "urlretrieve", "build_opener().open", "OpenerDirector().open")
)
_TEMPLATES = ("Template", "from_string", "compile_expression", "compile", "DictLoader")
_HTTP = ("http://", "https://")
_PATHLESS = frozenset(
    [
        "requests",
        "httpx",
        "aiohttp",
        "urllib3",
        "fastapi",
        "starlette",
        "yarl",
        "furl",
        "jsonpointer",
        "jsonpatch",
        "jsonpath",
        "jsonpath_ng",
        "lxml",
        "parsel",
        "jq",
        "bs4",
        "pydantic",
        "re",
        "regex",
        "pydantic_core",
        "httpx2",
        "typing_extensions",
    ]
)
"""Libraries to which a text that begins with a slash is no file."""


def called(reading: Reading, path: str, given: Arguments, node: ast.Call, scope: Scope) -> Value:
    """Judge a call of something outside by what it is called with; what it gives."""
    special = SPECIAL.get(path)
    if special is not None:
        return special(reading, given, node, scope)
    if path.startswith("tempfile."):
        return files.made_temporary(reading, path.partition(".")[2], given, node)
    if path.startswith("os.path.") or path in ("os.fspath", "os.fsencode", "os.fsdecode"):
        found = files.path_function(path.rpartition(".")[2], given)
        if found is not None:
            return found
    if path in _OPENERS:
        _addresses(reading, given, node)
    elif path.startswith(("yaml.load", "ruamel.yaml")):
        _yaml(reading, path, given, node)
    elif not policy.is_standard(path):
        _library(reading, path, given, node)
    if not is_foldable(path):
        return ANYTHING if path.startswith("@") or policy.forbidden(path) else outside(f"{path}()")
    parts = list(given.given)
    folded = None if given.named or given.more else fold_call(path, parts)
    if folded is not None:
        return folded
    return DECODED if is_unpacking(path) else _collected(path, given)


def _collected(path: str, given: Arguments) -> Value:
    first = given.at(0) or EMPTY
    if path in ("@str", "@repr", "@ascii", "@format", "sys.intern", "os.fspath", "textwrap.dedent"):
        return as_text(first)
    if path in ("@next", "@min", "@max", "@sum"):
        return union([elements(first), given.at(1) or EMPTY])
    if path in ("@zip", "itertools.chain"):
        inner = union([elements(part) for part in given.given])
        pair = Box((), inner, mapping=False) if path == "@zip" else None
        return frozenset({shallow(Box((), frozenset({pair}) if pair else inner, mapping=False))})
    if path == "@enumerate":
        pair = Box(((0, ANYTHING), (1, elements(first))), EMPTY, mapping=False)
        return frozenset({shallow(Box((), frozenset({pair}), mapping=False))})
    if path in ("@int", "@float", "@bool", "@len", "@abs", "@ord", "@range", "@hex", "@oct", "@bin", "json.loads"):
        return ANYTHING
    if path == "os.path.join":
        return (
            below(first, given.given[1:])
            if any(isinstance(atom, File) for part in given.given for atom in part)
            else ANYTHING
        )
    if path == "@reversed":
        inner = elements(first)
        return frozenset({shallow(Box((), inner, mapping=False))}) if inner else EMPTY
    inner = elements(first)
    return frozenset({shallow(Box((), inner, mapping=False))}) if inner else EMPTY


def _addresses(reading: Reading, given: Arguments, node: ast.AST) -> None:
    value = given.at(0, "url", "fullurl")
    for atom in value or EMPTY:
        match atom:
            case Const(value=str() as text):
                bad = not text.strip().lower().startswith(_HTTP)
            case Text(head, _, decoded):
                start = head.strip().lower()[:8]
                bad = (decoded and not start) or (bool(start) and not any(_fits(start, scheme) for scheme in _HTTP))
            case File():
                bad = True
            case _:
                bad = False
        if bad:
            reading.report("files", node, "An address that is not http(s)")


def _fits(start: str, scheme: str) -> bool:
    return start.startswith(scheme) or scheme.startswith(start)


def _yaml(reading: Reading, path: str, given: Arguments, node: ast.AST) -> None:
    if path in ("yaml.load", "yaml.load_all"):
        loader = given.at(1, "Loader") or EMPTY
        safe = loader and all(
            (isinstance(atom, Ref) and atom.path in _SAFE_LOADERS) or isinstance(atom, Local) for atom in loader
        )
        if not safe:
            reading.report("deserialiser", node, f"`{path}` without a safe loader")
    elif path == "ruamel.yaml.YAML" and "unsafe" in strings(given.at(0, "typ") or EMPTY):
        reading.report("deserialiser", node, "`YAML(typ='unsafe')`")


def _entities(reading: Reading, given: Arguments, node: ast.AST) -> None:
    for name in ("resolve_entities", "load_dtd", "dtd_validation", "attribute_defaults"):
        value = given.named.get(name)
        if value is not None and not all(atom in (Const(value=False), Const("internal")) for atom in value):
            reading.report("files", node, f"An XML parser with `{name}`")


def _templates(reading: Reading, path: str, given: Arguments, node: ast.AST) -> None:
    """A Jinja template executes what it says, so that its text must stand in the source, unless it is in a sandbox."""
    name = path.rpartition(".")[2]
    if not path.startswith("jinja2.") or path.startswith("jinja2.sandbox.") or name not in _TEMPLATES:
        return
    text = given.at(0, "source", "mapping") or EMPTY
    if name == "DictLoader":
        text = union([contents(atom) if isinstance(atom, Box) else frozenset({atom}) for atom in text])
    if any(template_reach(one) for one in strings(text)):
        reading.report("dynamic_code", node, "A template that reaches into Python")
    elif any(not isinstance(atom, Const) for atom in text):
        reading.report(
            "dynamic_code",
            node,
            "A Jinja template that is not written out in the source",
            "Use jinja2.sandbox.SandboxedEnvironment, or write the template out.",
        )


def _library(reading: Reading, path: str, given: Arguments, node: ast.AST) -> None:
    top = path.partition(".")[0]
    texts = [text for value in given.every() for text in strings(value)]
    _templates(reading, path, given, node)
    if path in ("lxml.etree.XMLParser", "lxml.etree.ETCompatXMLParser", "lxml.etree.iterparse"):
        _entities(reading, given, node)
    if "uds" in given.named:
        reading.report("sockets", node, "A Unix socket")
    for name in ("verify", "cert"):
        given_paths = given.named.get(name, EMPTY)
        if any(is_local_path(text) for text in [*strings(given_paths), *strings(elements(given_paths))]):
            reading.report("files", node, f"{judging.shown(path)} with a path of this machine")
    if "(" in path or top in _PATHLESS:
        return
    for text in texts:
        database = text.startswith("sqlite:") and "memory" not in text and text != "sqlite://"
        if database or is_local_path(text) or "file://" in text:
            reading.report("files", node, f"{judging.shown(path)} with a path of this machine")
