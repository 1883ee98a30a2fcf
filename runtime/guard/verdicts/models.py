"""Judges what lets a model of pydantic read the attributes of any object: its settings, wherever they are given.

A model that reads attributes takes their names from its aliases, which are texts. So the keys of its settings stand in
the source, and the key that lets it read attributes is not among them.
"""

from __future__ import annotations

import ast

from runtime.guard.interpreter.arguments import Arguments, Call
from runtime.guard.interpreter.derived import foreign_bases, is_component, lineage
from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.sets import every, inside, one, outside, paths, union
from runtime.guard.values import ANYTHING, EMPTY, Box, Const, Local, Made, Ref, Unknown, Value
from runtime.guard.verdicts import judging, protocols
from runtime.guard.verdicts.running import HANDED

SETTINGS = ("model_config", "Config")
"""The names under which a class has its settings."""
SWITCHED = frozenset(
    (
        *("numpy.load", "inspect.signature", "inspect.Signature.from_callable", "pydantic.validate_call"),
        *("traceback.TracebackException", "traceback.TracebackException.from_exception"),
    )
)
"""Functions with a keyword that lets them execute or read what no component may."""
_METACLASSES = ("@type", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType")
_PLAIN = ("@", "abc.", "typing.", "typing_extensions.", "enum.", "collections.abc.")
_NAMES = (Ref("pydantic.AliasPath()"), Ref("pydantic.AliasChoices()"))
_FIX = "Write the keys out in the source, as in model_config = {'extra': 'forbid'}."
_KEYWORDS_FIX = "Write the keywords out in the call."


def settings(reading: Reading, value: Value, node: ast.AST) -> None:
    """Judge the settings of a model: each key stands in the source."""
    for atom in value:
        match atom:
            case Box(items, rest, mapping=True) if not rest:
                keys = [key for key, _ in items]
                for key in keys:
                    protocols.keyword(reading, key if isinstance(key, str) else None, node)
                sure = all(isinstance(key, str) for key in keys)
            case Local(number):
                sure = _is_plain(reading, number)
            case Const(value=None):
                sure = True
            case Ref():
                sure = not atom.is_instance
            case _:
                sure = False
        if not sure:
            what = "The settings of a model with keys that do not stand in the source"
            reading.report("escape", node, what, _FIX)


def bound(reading: Reading, name: str, value: Value, node: ast.AST, scope: Scope) -> None:
    """Judge what a class binds a name to, when that is its settings or one of them."""
    if scope.kind == "class" and name in SETTINGS:
        settings(reading, value, node)
    if scope.kind == "class":
        protocols.keyword(reading, name, node)


def stored(reading: Reading, held: Value, name: str, value: Value, node: ast.AST) -> None:
    """Judge what an attribute is set to: the settings of a class, but not a component's own variable."""
    if name in SETTINGS and not all(isinstance(atom, Made) for atom in held):
        settings(reading, value, node)
    protocols.keyword(reading, name, node)


def is_fresh(target: ast.expr, value: ast.expr, scope: Scope) -> bool:
    """Whether a class gets settings that are written out where it gets them, so that nobody else can change them."""
    named = isinstance(target, ast.Name) and target.id == "model_config" and scope.kind == "class"
    return named and isinstance(value, ast.Dict | ast.Call)


def aliases(call: Call) -> Value:
    """Judge the names by which a field is read: none of them is a special one.

    A union that is told apart by a field reads that field of whatever object it is given, by the aliases.
    """
    given, reading = call.given, call.reading
    named = [given.named.get(name, EMPTY) for name in ("alias", "validation_alias")]
    for value in (*named, *given.in_order()):
        judging.key(reading, EMPTY, value, call.node)
    if call.path.endswith("Field") and given.open:
        call.report("escape", "A field with keywords that do not stand in the source", _KEYWORDS_FIX)
    elif protocols.tells_apart(reading):
        for atom in union(named if call.path.endswith("Field") else [*named, *given.in_order()]):
            if isinstance(atom, Const) and isinstance(atom.value, str):
                protocols.pattern_name(reading, atom.value, call.node)
                if atom.value in (*HANDED, "__dict__"):
                    call.report("secrets", f"The alias {atom.value!r} beside a `discriminator`", "Use another name.")
            elif not isinstance(atom, Const) and atom not in _NAMES:
                call.report("escape", "An alias made at run time beside a `discriminator`", "Write the alias out.")
    return outside(f"{call.path}()")


def config(call: Call) -> Value:
    """Judge what `ConfigDict` makes: a dictionary."""
    given = call.given
    made = one(Box(tuple(given.named.items()), given.more, mapping=True))
    if given.open:
        settings(call.reading, made, call.node)
    return made


def made_with(call: Call) -> Value:
    """Judge the settings that a call gives to what it makes."""
    for name in ("config", "__config__", "__cls_kwargs__"):
        if name in call.given.named:
            settings(call.reading, call.given.named[name], call.node)
    if call.given.open and any(isinstance(atom, Box) and atom.mapping for atom in call.given.more):
        settings(call.reading, call.given.more, call.node)
    return ANYTHING


def reads(call: Call) -> None:
    """Judge the keywords of a call that makes a model of something, directly or by what it is handed."""
    atoms = frozenset(atom for value in call.given.given for atom in every(value))
    switched = not SWITCHED.isdisjoint({call.path, *paths(atoms)})
    if call.given.open and (call.path in judging.READERS or switched or Unknown("reader") in atoms):
        call.report("escape", "A call with keywords that do not stand in the source", _KEYWORDS_FIX)
    if "pydantic.validate_call" in paths(atoms):
        made_with(call)
    bases = call.given.given[1] if len(call.given.given) > 2 else EMPTY
    if any(isinstance(atom, Box) and not atom.mapping for atom in bases) and any(
        isinstance(atom, Local) and is_outer(call.reading, atom.number) for atom in inside(bases)
    ):
        call.report("dynamic_code", "A class of outside classes that is made at run time", "Write it out.")


def subclass(reading: Reading, keyword: ast.keyword, value: Value, node: ast.ClassDef) -> None:
    """Judge a keyword of a class: settings of a model, or what makes the class."""
    given = Arguments()
    if keyword.arg is None:
        given.spread_names(value)
    for name in [keyword.arg, *given.named]:
        protocols.keyword(reading, name, node)
    if given.open:
        what = "A class with keywords that do not stand in the source"
        reading.report("escape", node, what, "Write the keywords out.")
    makers = value if keyword.arg == "metaclass" else given.named.get("metaclass", EMPTY)
    for atom in makers:
        if not _makes_classes(reading, atom):
            reading.report("dynamic_code", node, "A metaclass of unknown kind", "Inherit from `type` or `abc.ABCMeta`.")


def _makes_classes(reading: Reading, maker: object) -> bool:
    match maker:
        case Ref(path):
            return path in _METACLASSES
        case Local(number) if isinstance(reading.definitions[number].node, ast.ClassDef):
            bases = reading.definitions[number].bases
            return all(atom != maker and _makes_classes(reading, atom) for atom in bases)
        case Local():
            return True
        case _:
            return False


def is_outer(reading: Reading, number: int) -> bool:
    """Whether a class of the source inherits, by whatever way, from one of outside that is more than a kind."""
    bases = foreign_bases(reading, number)
    return any(not isinstance(base, Ref) or not base.path.startswith(_PLAIN) for base in bases)


def is_model(reading: Reading, number: int) -> bool:
    """Whether the instances of a class of the source may be models, which components are not."""
    return is_outer(reading, number) and not is_component(reading, number)


def _inherits_classes(reading: Reading, number: int) -> bool:
    """Whether all that a class of the source inherits from is certain to be a class."""
    return all(isinstance(base, Ref) and not base.is_instance for base in foreign_bases(reading, number))


def _is_plain(reading: Reading, number: int) -> bool:
    """Whether a class has only the names that its body and those of its parents bind."""
    nodes = [each.node for each in lineage(reading, number)]
    written_out = all(isinstance(each, ast.ClassDef) and not (each.keywords or each.decorator_list) for each in nodes)
    return written_out and _inherits_classes(reading, number)


def matched(reading: Reading, kinds: Value, node: ast.MatchClass) -> None:
    """Judge the class of a pattern with positions: the attributes that these read stand in the source."""
    for atom in kinds:
        sure = isinstance(atom, Ref) and not atom.is_instance
        if isinstance(atom, Local):
            sure = _reads_named(reading, atom.number, node)
        if not sure:
            what = f"A pattern of {len(node.patterns)} positions of a class whose attributes do not stand in the source"
            reading.report("escape", node, what, "Name the attributes: case Point(x=x, y=y).")


def _reads_named(reading: Reading, number: int, node: ast.MatchClass) -> bool:
    """Whether a class of the source names its attributes by itself; those are judged as if they were read."""
    for each in lineage(reading, number):
        if not isinstance(each.node, ast.ClassDef) or any(part.arg != "slots" for part in each.node.keywords):
            return False
        for part in each.node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                protocols.pattern_name(reading, part.target.id, node)
    return _inherits_classes(reading, number)
