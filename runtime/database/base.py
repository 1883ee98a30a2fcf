"""What all tables have in common: the types of their columns, and the names of their constraints."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, get_args, get_origin, get_type_hints

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnClause,
    Dialect,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine


class StoredText(TypeDecorator[str]):
    """Text that both SQLite and Postgres store: U+FFFD stands for NUL, which Postgres refuses, and half characters."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002  (SQLAlchemy's form)
        """The text as it is stored."""
        if not isinstance(value, str) or value.isascii():
            return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value
        return value.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


_TYPES: Final[dict[type, TypeEngine[Any]]] = {
    str: StoredText(),
    int: BigInteger().with_variant(Integer(), "sqlite"),
    bool: Boolean(),
}
"""The types of columns by the annotation; whole numbers have 64 bits on either database."""


@dataclass(frozen=True)
class _Options:
    type: Any = None
    column: dict[str, Any] = field(default_factory=dict[str, Any])


def column(type: Any = None, **options: Any) -> Any:
    """A column that needs more than its annotation.

    Args:
        type: its type in the database; None for the one of its annotation.
        options: those of SQLAlchemy's `Column`.
    """
    return _Options(type, options)


class _Tables(type):
    """Lets a statement take a class where it takes a table."""

    __table__: Table

    def __clause_element__(cls) -> Table:
        return cls.__table__


class Base(metaclass=_Tables):
    """The base of the tables: each annotation `ColumnClause[...]` is a column, which may be NULL if it may be None.

    They are tables of SQLAlchemy's Core, because nothing here needs its mapper. Constraints have names, so that
    migrations can refer to them.

    Attributes:
        metadata: all tables.
    """

    metadata: ClassVar = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    __tablename__: ClassVar[str]
    __table_args__: ClassVar[Sequence[SchemaItem]] = ()

    def __init_subclass__(cls) -> None:
        """Make the table.

        Raises:
            TypeError: the type of a column is none that is stored.
        """
        annotations = get_type_hints(cls)
        columns = [_column(name, annotations[name], cls.__dict__.get(name)) for name in cls.__annotations__]
        cls.__table__ = Table(cls.__tablename__, cls.metadata, *columns, *cls.__table_args__)
        for each in columns:
            setattr(cls, each.name, each)


def _column(name: str, annotation: Any, options: _Options | None) -> Column[Any]:
    (stored,) = get_args(annotation) if get_origin(annotation) is ColumnClause else (annotation,)
    choices = get_args(stored) if isinstance(stored, UnionType) else (stored,)
    kinds = [kind for kind in choices if kind is not NoneType]
    if len(kinds) != 1 or kinds[0] not in _TYPES:
        raise TypeError(f"The column {name!r} is annotated {annotation}, which no column stores.")
    given = options or _Options()
    return Column(name, given.type or _TYPES[kinds[0]], nullable=NoneType in choices, **given.column)


REFERS = "refers to"


def refers_to(table: str) -> dict[str, str]:
    """Marks a column that holds the id or number of a row of another table: what is imported may get another one."""
    return {REFERS: table}
