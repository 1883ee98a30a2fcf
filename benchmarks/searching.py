"""Searching: how often what people mean is found, beside the engine's own search, and how long it takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import yaml

from flows.catalogue import Catalogue
from flows.component_type import ComponentType

QUERIES = Path(__file__).parent.parent / "tests" / "flows" / "data" / "queries.yaml"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Five times faster in C, where PyYAML was built with it."""
MANY = 10_000
DEPTH = 10

Search = Callable[[str], Sequence[str]]
Labelled = Mapping[str, frozenset[str]]
"""Queries with the component types that answer them."""


@dataclass(frozen=True)
class Quality:
    """How well a search answers labelled queries; each figure is a share of one."""

    queries: int
    recall_at_1: float
    recall_at_5: float
    reciprocal_rank: float

    def __str__(self) -> str:
        return (
            f"recall@1 {self.recall_at_1:.3f}  recall@5 {self.recall_at_5:.3f}  MRR {self.reciprocal_rank:.3f}"
            f"  ({self.queries} queries)"
        )


def labelled() -> dict[str, Labelled]:
    """The labelled queries by their part: those that the search was tuned on, and those held out from tuning."""
    parts = yaml.load(QUERIES.read_text(encoding="utf-8"), Loader=LOADER)  # noqa: S506  (a safe loader)
    return {
        part: {query: frozenset([wanted] if isinstance(wanted, str) else wanted) for query, wanted in queries.items()}
        for part, queries in parts.items()
    }


def judge(search: Search, queries: Labelled) -> Quality:
    """Measure a search: the mean over all queries of the rank of the first right answer among ten."""
    ranks: list[int] = []
    for query, wanted in queries.items():
        found = list(search(query))[:DEPTH]
        ranks.append(next((rank for rank, name in enumerate(found, start=1) if name in wanted), 0))
    count = len(ranks)
    return Quality(
        queries=count,
        recall_at_1=sum(rank == 1 for rank in ranks) / count,
        recall_at_5=sum(0 < rank <= 5 for rank in ranks) / count,
        reciprocal_rank=sum(1 / rank for rank in ranks if rank) / count,
    )


def ours(catalogue: Catalogue) -> Search:
    """The search of the catalogue."""
    return lambda query: [match.type for match in catalogue.search(query, DEPTH)]


def substring(catalogue: Catalogue) -> Search:
    """The engine's own search: the whole query as part of a type, category, display name or description, by name."""
    current = sorted((part for part in catalogue if not part.legacy), key=lambda part: part.type)
    texts = {part.type: (part.type, part.category, part.display_name, part.description) for part in current}

    def search(query: str) -> list[str]:
        wanted = query.lower()
        return [name for name, held in texts.items() if any(wanted in text.lower() for text in held)]

    return search


def many(catalogue: Catalogue, count: int = MANY) -> Catalogue:
    """A catalogue of so many component types: those there are, and variations of them with mixed descriptions."""
    known = list(catalogue)
    parts = {part.type: part for part in known}
    for number in range(count - len(known)):
        first, second = known[number % len(known)], known[number * 7 % len(known)]
        name = f"{first.display_name} {second.display_name.split()[0]} {number}"
        raw = {**first.raw, "display_name": name, "description": f"{first.description} {second.description}"}
        parts[f"Part{number}"] = ComponentType(f"Part{number}", raw)
    return Catalogue(parts, version=catalogue.version)


def milliseconds(catalogue: Catalogue, queries: Sequence[str]) -> tuple[float, float]:
    """The time to make the catalogue's index, and the median time of a query."""
    started = perf_counter()
    catalogue.search("chat")
    built = (perf_counter() - started) * 1000
    times: list[float] = []
    for query in queries:
        started = perf_counter()
        catalogue.search(query)
        times.append((perf_counter() - started) * 1000)
    return built, median(times)


def measure(catalogue: Catalogue) -> str:
    """Judge both searches on each part of the queries, and time ours over few and many components."""
    lines = ["search"]
    parts = labelled()
    for part, queries in parts.items():
        for name, search in (("ours", ours(catalogue)), ("substring", substring(catalogue))):
            lines.append(f"  {part:<12} {name:<10} {judge(search, queries)}")
    every = [query for queries in parts.values() for query in queries]
    for held, target in ((Catalogue({part.type: part for part in catalogue}), 1), (many(catalogue), 10)):
        built, each = milliseconds(held, every)
        lines.append(
            f"  {len(held):>6} components: median {each:.2f} ms (target: under {target}), index {built:.0f} ms"
        )
    return "\n".join(lines)
