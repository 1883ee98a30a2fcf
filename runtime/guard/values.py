"""What an expression may be at run time, as far as the source tells: constants, outside names, files, texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast


@dataclass(frozen=True, slots=True)
class Const:
    """A value that is known: text, bytes, a number, None, or a tuple of such (lists are told as tuples)."""

    value: object
    kind: type

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "kind", type(value))

    @property
    def parts(self) -> tuple[object, ...] | None:
        """The parts of a list or tuple; None for anything else."""
        return cast("tuple[object, ...]", self.value) if isinstance(self.value, tuple) else None


@dataclass(frozen=True, slots=True)
class Ref:
    """Something from outside the source by its dotted path; `()` stands for the result of a call, `@` for a builtin."""

    path: str

    @property
    def is_instance(self) -> bool:
        """Whether it is what a call gave, or was taken from that."""
        return "(" in self.path


@dataclass(frozen=True, slots=True)
class Local:
    """A function or class that the source defines, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Made:
    """An instance of a class that the source defines."""

    number: int


@dataclass(frozen=True, slots=True)
class Box:
    """A container: what stands under known keys or positions, and what else may be in it.

    `sites` are where it may have been made: containers of one site share all that is put into them later. Nothing is
    put into a tuple, whose site is `FIXED`. `within` are those sites and the ones of all that stands in it, `depth` is
    how deeply containers stand in it.
    """

    items: tuple[tuple[object, Value], ...]
    rest: Value
    mapping: bool = False
    sites: frozenset[object] = frozenset()
    within: frozenset[object] = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        inner = [atom for value in (*(held for _, held in self.items), self.rest) for atom in value]
        boxes = [atom for atom in inner if isinstance(atom, Box)]
        object.__setattr__(self, "within", self.sites.union(*(box.within for box in boxes)))
        object.__setattr__(self, "depth", 1 + max((box.depth for box in boxes), default=0))
        object.__setattr__(self, "_hash", hash((self.items, self.rest, self.mapping, self.sites)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class File:
    """A path or an open file; `depth` is how many steps it lies below the temporary folder, -1 outside of it.

    A path that is `last` ends in a name made at run time, which may be `..`: it may be opened, but leads nowhere.
    """

    depth: int
    text: bool = False
    last: bool = False

    @property
    def parent(self) -> File:
        """The folder that it stands in."""
        return File(self.depth - 1 if self.depth > 0 else -1, self.text)

    @property
    def followed(self) -> File:
        """What it leads to when the system follows it."""
        return File(-1, self.text) if self.last else self


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is put together at run time, of which only the beginning is known, and whether it has no slash."""

    head: str
    step: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything: `picked` by an attribute's name made at run time, a `method` that is judged by its arguments, a
    `reader` of models, whose keywords stand in the source, the name that `__getattr__` is `asked` for, which is judged
    where it is asked, or a `step` of a path: a number, or a text without a slash."""

    kind: Literal["plain", "picked", "method", "reader", "asked", "step"] = "plain"


Atom: TypeAlias = Const | Ref | Local | Made | Box | File | Text | Unknown
Value: TypeAlias = frozenset[Atom]

MODEL_CONFIG = Ref("pydantic.BaseModel.model_config")
"""The settings of a model, of whatever class."""
FIXED: frozenset[object] = frozenset({None})
EMPTY: Value = frozenset()
ASKED: Value = frozenset({Unknown("asked")})
ANYTHING: Value = frozenset({Unknown()})
STEP: Value = frozenset({Unknown("step")})
PICKED: Value = frozenset({Unknown("picked")})
OUTSIDE: Value = frozenset({File(-1)})
JOINED: Value = frozenset({Text("")})
