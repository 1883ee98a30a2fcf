"""The state of one reading of a source: what names, attributes and functions may be, and what was found so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from runtime.guard.interpreter.heap import Heap, placed
from runtime.guard.interpreter.scopes import BUILTINS, Function, Scope, inside, open_scope, parameters
from runtime.guard.ruleset import Rules
from runtime.guard.sets import known_value, one, union, widened
from runtime.guard.values import ANYTHING, EMPTY, File, Ref, Value
from runtime.guard.violations import DOES, FIXES, Rule, Violation

Reader: TypeAlias = Callable[["Reading", Any, Scope], Any]
READERS: dict[type[ast.AST], Reader] = {}
"""How each kind of expression and statement is read: the modules beside this one put their functions in."""
_MANY = 8
"""Possibilities from which on each counts as work."""
BUDGET = 1_000_000
"""Expressions that one reading may look at, all passes together."""


def reads(*kinds: type[ast.AST]) -> Callable[[Reader], Reader]:
    """Let a function read these kinds of nodes."""

    def add(reader: Reader) -> Reader:
        READERS.update(dict.fromkeys(kinds, reader))
        return reader

    return add


class TooMuch(Exception):
    """The source asks for more reading than a component is worth."""


@dataclass(eq=False)
class Definition:
    """A function or class of the source.

    Attributes:
        bases: what a class may inherit from.
        owner: the class that a function is a method of.
        static: `static` or `class` for a method that is called without its object, `property` for one that is read.
        decorated: whether decorators may call it with something else.
        gives: what calling the function may return or yield.
    """

    number: int
    node: ast.ClassDef | Function
    scope: Scope
    bases: Value = EMPTY
    owner: Definition | None = None
    static: str = ""
    decorated: bool = False
    gives: Value = EMPTY

    @property
    def parameters(self) -> list[str]:
        """The names of a function's parameters, in order."""
        return [] if isinstance(self.node, ast.ClassDef) else [arg.arg for arg in parameters(self.node.args)]


@dataclass(eq=False)
class Reading:
    """What has been learnt about one source.

    Values only grow from pass to pass. A pass is stale when it has learnt something that it had read before without
    it; what a pass that is not stale has found is the verdict.
    """

    tree: ast.Module
    rules: Rules
    use: Callable[[Reading, Value, ast.expr], None]
    module: Scope = field(init=False)
    file_fields: set[str] = field(default_factory=set[str])
    attributes: dict[str, Value] = field(default_factory=dict[str, Value])
    tops: set[str] = field(default_factory=set[str])
    stored: set[str] = field(default_factory=set[str])
    inputs: set[str] = field(default_factory=set[str])
    defaults: dict[str, Value] = field(default_factory=dict[str, Value])
    mentioned: set[str] = field(default_factory=set[str])
    keywords: set[str | None] = field(default_factory=set[str | None])
    definitions: dict[int, Definition] = field(default_factory=dict[int, Definition])
    by_node: dict[int, Definition] = field(default_factory=dict[int, Definition])
    waiting: list[Definition] = field(default_factory=list[Definition])
    found: set[Violation] = field(default_factory=set[Violation])
    rooms: dict[int, Scope] = field(default_factory=dict[int, Scope])
    quoted: dict[tuple[int, str], ast.expr | None] = field(default_factory=dict[tuple[int, str], ast.expr | None])
    heap: Heap = field(init=False)
    passes: int = 0
    read: set[object] = field(default_factory=set[object])
    stale: bool = False
    missed: bool = False
    final: bool = False
    spent: int = 0

    def __post_init__(self) -> None:
        self.heap = Heap(self.spend, self._grow, self.read)
        self.module = open_scope(self.tree, None)
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            waiting.extend(inside(node))
            if isinstance(node, ast.Name):
                self.mentioned.add(node.id)
                if isinstance(node.ctx, ast.Del):  # also by a function that declares it `global`
                    self.module.settled.pop(node.id, None)
            elif isinstance(node, ast.ExceptHandler):
                self.module.settled.pop(node.name or "", None)
            elif isinstance(node, ast.Attribute):
                (self.stored if isinstance(node.ctx, ast.Store) else self.mentioned).add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                self.mentioned.add(node.module or "")
                self.tops.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Import):
                self.mentioned.update(alias.name for alias in node.names)
                self.tops.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.keyword):
                self.keywords.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
                self.mentioned.add(node.value)

    def value(self, node: ast.expr | None, scope: Scope) -> Value:
        """What an expression may be, where its value goes somewhere: what may not be handed around is reported."""
        if node is None:
            return known_value(None)
        found = self.base(node, scope)
        if isinstance(node, ast.Name | ast.Attribute):
            self.use(self, found, node)
        return found

    def base(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression may be, where only an attribute or item is taken from it, or its truth."""
        self.spend()
        read = READERS.get(type(node))
        found = ANYTHING if read is None else self.heap.seen(read(self, node, scope), id(node))
        if len(found) > _MANY:
            self.spend(len(found))
        return found

    def spend(self, steps: int = 1) -> None:
        """Count work.

        Raises:
            TooMuch: when all that was granted is used up.
        """
        self.spent += steps
        if self.spent > BUDGET:
            raise TooMuch

    def report(self, rule: Rule, node: ast.AST, what: str, fix: str | None = None) -> None:
        """Note a violation; `what` is the thing that does what the rule forbids, or a whole sentence."""
        message = what if what.endswith(".") else f"{what} {DOES[rule]}."
        self.found.add(Violation(getattr(node, "lineno", 1), rule, message, fix or FIXES[rule]))

    def lookup(self, name: str, scope: Scope, line: int) -> Value:
        """What a name may be where it is read."""
        found: list[Value] = []
        here: Scope | None = scope.home(name)
        first = True
        while here is not None:
            if name in here.bound and (first or here.kind != "class"):
                self.read.add((id(here.values), name))
                found.append(here.values.get(name, EMPTY))
                if here.kind == "function" or here.settled.get(name, line) < line:
                    return self._settled(union(found))
            first = False
            here = here.parent
        if name in BUILTINS:
            found.append(one(Ref(f"@{name}")))
        return self._settled(union(found)) if found else ANYTHING

    def _settled(self, value: Value) -> Value:
        """What was never given a value may, in the end, be anything."""
        if value:
            return value
        self.missed = True
        return ANYTHING if self.final else EMPTY

    def bind(self, name: str, value: Value, scope: Scope) -> None:
        """Let a name be one thing more."""
        home = scope.home(name)
        self._grow(home.values, name, value)
        if home.kind == "class":
            self.store(name, value)
        if home is not scope:
            home.bound.add(name)

    def store(self, name: str, value: Value) -> None:
        """Let an attribute, of whatever object, be one thing more."""
        self.stored.add(name)
        self._grow(self.attributes, name, value)

    def attribute(self, name: str) -> Value:
        """What an attribute of the source's own objects may be."""
        uploaded = one(File(1, text=True)) if name in self.file_fields else EMPTY
        default = self._default(name) | self.heap.attribute(name)
        if name not in self.stored:
            return (uploaded or ANYTHING) | default
        self.read.add((id(self.attributes), name))
        value = self.attributes.get(name, EMPTY) | default
        if uploaded:
            return value | uploaded
        return value | ANYTHING if name in self.inputs else self._settled(value)

    def declare(self, name: str, default: Value) -> None:
        """Let an input begin with a value, which stands in the source and is not the user's."""
        self._grow(self.defaults, name, default)

    def _default(self, name: str) -> Value:
        """What an input may begin with, also when it was set after it was declared."""
        self.read.update(((id(self.defaults), name), (id(self.attributes), "value")))
        later = self.attributes.get("value", EMPTY) if name in self.inputs else EMPTY
        return self.defaults.get(name, EMPTY) | later

    def define(self, node: ast.ClassDef | Function, scope: Scope) -> Definition:
        """The definition at a node, made when it is first met."""
        known = self.by_node.get(id(node))
        if known is None:
            known = Definition(len(self.by_node), node, open_scope(node, scope))
            self.by_node[id(node)] = known
            self.definitions[known.number] = known
            known.scope.number = known.number
        return known

    def pass_in(self, definition: Definition, name: str, value: Value) -> None:
        """Let a parameter be one thing more."""
        self._grow(definition.scope.values, name, value)

    def give(self, definition: Definition, value: Value) -> None:
        """Let a function return one thing more."""
        value = placed(value, definition.number)
        definition.gives = self._more(definition.gives, value, definition.number)

    def given_by(self, definition: Definition) -> Value:
        """What calling a function may return or yield."""
        self.read.add(definition.number)
        return definition.gives

    def leave_open(self) -> bool:
        """Let every parameter that nothing was passed to be anything; whether there was one."""
        opened = False
        for definition in list(self.definitions.values()):
            opened |= self._open(definition.scope.values, definition.parameters)
        return opened | self._open(self.attributes, self.stored)

    def _open(self, values: dict[str, Value], names: Iterable[str]) -> bool:
        missing = [name for name in names if not values.get(name)]
        values.update(dict.fromkeys(missing, ANYTHING))
        return any((id(values), name) in self.read for name in missing)

    def _grow(self, values: dict[Any, Value], name: object, value: Value) -> None:
        before, value = values.get(name, EMPTY), placed(value, (id(values), name))
        if (after := self._more(before, value, (id(values), name))) != before:
            values[name] = after

    def _more(self, before: Value, value: Value, read: object) -> Value:
        """What something may be that was one thing before and may be another."""
        if value <= before:
            return before
        after = union([before, value])
        after = widened(after) if self.passes > 2 else after
        self.stale = self.stale or (after != before and read in self.read)
        return after
