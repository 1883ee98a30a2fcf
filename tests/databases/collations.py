"""Databases of the tests' Postgres that compare and fold text by the rules of a language."""

from itertools import count

from tests.databases.postgres import Cluster

TURKISH = "tr-TR"
"""In Turkish, I is the capital of ı, and i the small letter of İ."""

_numbers = count(1)


def database_of(cluster: Cluster, language: str) -> str:
    """The URL of a new database that sorts and folds text as in a language."""
    name = f"language_{next(_numbers)}"
    rules = f"LOCALE_PROVIDER icu ICU_LOCALE '{language}' LC_COLLATE 'C' LC_CTYPE 'C'"
    cluster.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' {rules}")
    return cluster.url().replace("wire@/postgres?", f"wire@/{name}?")
