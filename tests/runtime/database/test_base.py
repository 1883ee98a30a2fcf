"""Tables are made of annotations, and statements take a class where they take a table."""

import pytest
from sqlalchemy import ColumnClause, MetaData, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateTable

from runtime.database.base import Base, column


def test_an_annotation_is_a_column_that_may_be_null_if_it_may_be_none() -> None:
    class Row(Base):
        metadata = MetaData()
        __tablename__ = "rows"

        id: ColumnClause[str] = column(primary_key=True)
        count: ColumnClause[int | None]
        done: ColumnClause[bool]

    created = " ".join(str(CreateTable(Row.__table__).compile(dialect=sqlite.dialect())).split())
    assert created == (
        "CREATE TABLE rows ( id VARCHAR NOT NULL, count INTEGER, done BOOLEAN NOT NULL, PRIMARY KEY (id) )"
    )
    assert str(select(Row.count).where(Row.id == "a").select_from(Row)).split() == (
        ["SELECT", "rows.count", "FROM", "rows", "WHERE", "rows.id", "=", ":id_1"]
    )


def test_a_type_that_no_column_stores_is_refused() -> None:
    with pytest.raises(TypeError, match="'at'"):

        class Row(Base):  # pyright: ignore[reportUnusedClass]  (making it is what fails)
            metadata = MetaData()
            __tablename__ = "rows"

            at: ColumnClause[bytes]
