"""Looks component types up in lfx's table of renamed types by an index.

lfx reads the whole table of a thousand entries for each node of a run, and three more times for each run.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lfx.extension.migration import rewrite
from lfx.extension.migration.loader import load_migration_table
from lfx.extension.migration.schema import MigrationTable


def install() -> None:
    """Index lfx's own table, once and before processes are forked; other tables are read as before."""
    table, _ = load_migration_table()
    if table is None:
        return
    for name, rows, field in (
        ("lookup_bare", table.entries, "bare_class_name"),
        ("lookup_import_path", table.entries, "import_path"),
        ("lookup_legacy_slot", table.entries, "legacy_slot"),
        ("lookup_ambiguous_bare", table.ambiguous_bare_names, "name"),
    ):
        index: dict[str, Any] = {}
        for row in rows:
            index.setdefault(getattr(row, field), row)
        setattr(MigrationTable, name, _indexed(getattr(MigrationTable, name), table, index))
    values, read = table.all_known_legacy_values(), MigrationTable.all_known_legacy_values
    MigrationTable.all_known_legacy_values = lambda self: values if self is table else read(self)
    known, live = rewrite._known_current_types_from_index(), rewrite._known_current_types_from_cache
    rewrite._known_current_types = lambda: frozenset(known | found) if (found := live()) else known


def _indexed(read: Callable[..., Any], table: MigrationTable, index: Mapping[str, Any]) -> Callable[..., Any]:
    def looked_up(self: MigrationTable, name: str) -> Any:
        return index.get(name) if self is table else read(self, name)

    return looked_up
