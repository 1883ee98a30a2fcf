"""What all tables have in common: the types of their columns, and the names of their constraints."""

from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, MetaData, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase


class StoredText(TypeDecorator[str]):
    """Text that both SQLite and Postgres store: U+FFFD stands for NUL, which Postgres refuses, and half characters."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002  (SQLAlchemy's form)
        """The text as it is stored."""
        if not isinstance(value, str) or value.isascii():
            return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value
        return value.replace("\0", "\ufffd").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class Base(DeclarativeBase):
    """The base of the tables: constraints have names, so that migrations can refer to them.

    Whole numbers have 64 bits on either database.
    """

    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy's form)
        str: StoredText(),
        int: BigInteger().with_variant(Integer(), "sqlite"),
    }

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


REFERS = "refers to"


def refers_to(table: str) -> dict[str, str]:
    """Marks a column that holds the id or number of a row of another table: what is imported may get another one."""
    return {REFERS: table}
