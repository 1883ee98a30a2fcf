"""Component types that are not installed, as a model reads of them before it builds with one."""

from collections.abc import Collection

from flows.component_type import Match
from tools.replies import bullets, match_line
from tools.workbench import Workbench

NOT_INSTALLED = "Not installed; building with one asks the user first"
"""What is said of the types of bundles that can be installed."""


def installable(bench: Workbench, query: str, matches: Collection[Match]) -> str:
    """The types of bundles that may be wanted for a query, with what installing them takes; mostly none.

    Args:
        bench: knows what is installed and what can be.
        query: the query, in English.
        matches: the installed types that have to do with it.
    """
    lines: list[str] = []
    for match in bench.bundles.search(query, bench.catalogue, matches):
        bundle = bench.bundles.bundle_of(match.type)
        lines.append(match_line(match) if bundle is None else f"{match_line(match)} ({bundle.cost})")
    return f"{NOT_INSTALLED}:\n{bullets(lines)}" if lines else ""
