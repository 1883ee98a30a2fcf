"""`python -m scripts.task_set`: assign new scenarios to `dev` or `test`, and write what the set covers into the manual.

The split is stored in each file (`split`). A file without it is new; the others stay as they are, unless `--anew` is
given.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evals.analysis.clusters import clusters
from evals.analysis.statistics import estimate
from evals.analysis.tally import read_verdicts
from evals.scenario import Scenario, Split
from evals.scenarios.coverage import KINDS, LANGUAGES, canvas_uses, kind_of, language_of, types_in_references
from evals.scenarios.loader import FOLDER, load_scenarios
from evals.scenarios.splits import SPLITS, assign
from evals.score import Verdict
from flows.catalogue import Catalogue
from runtime.install.shipped import shipped_catalogue
from scripts.baseline import BASELINE, SCRIPTED
from scripts.checkout import ROOT, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
SHOWN = ("resolved", "honest", "preserved", "nodes", "edges")
"""The scores of each player that are shown on both halves."""
PLAYED = {"demo planner": BASELINE, "scripted model": SCRIPTED}
"""The players whose figures on both halves are shown."""
_SPLIT = re.compile(r"^split: (dev|test)\n", re.MULTILINE)
_TAGS = re.compile(r"^tags: .*\n", re.MULTILINE)


def engine_catalogue() -> Catalogue:
    """The component types of the locked engine, without chosen bundles.

    Raises:
        RuntimeError: the shipped catalogue is not that of the locked engine.
    """
    with tempfile.TemporaryDirectory() as nothing_chosen:
        found = shipped_catalogue(Path(nothing_chosen))
    if found is None:
        raise RuntimeError("the shipped catalogue is of another engine: python -m scripts.shipped_catalogue")
    return found


def stated_splits(folder: Path = FOLDER) -> dict[str, Split]:
    """The splits that the files of a folder state, by the scenario's id."""
    found: dict[str, Split] = {}
    for path in folder.glob("*.yaml"):
        stated = _SPLIT.search(path.read_text(encoding="utf-8"))
        if stated is not None:
            found[path.stem] = "test" if stated[1] == "test" else "dev"
    return found


def write_splits(splits: Mapping[str, Split], folder: Path = FOLDER) -> None:
    """State the splits in the files, below the tags."""
    for name, split in splits.items():
        path = folder / f"{name}.yaml"
        before = path.read_text(encoding="utf-8")
        after = _TAGS.sub(lambda tags, split=split: f"{tags[0]}split: {split}\n", _SPLIT.sub("", before, 1), count=1)
        if after != before:
            path.write_text(after, encoding="utf-8")


def coverage_tables(scenarios: Sequence[Scenario], catalogue: Catalogue, played: Mapping[str, Path] = PLAYED) -> str:
    """What the set covers and how it is split, as the manual shows it.

    Args:
        played: the baselines of the players whose figures are shown.
    """
    types, canvases = types_in_references(scenarios, catalogue), canvas_uses(scenarios)
    summary = (
        f"{len(scenarios)} scenarios; {len(types)} of {len(list(catalogue))} component types occur in reference flows; "
        f"{len(canvases)} canvases, none of them in more than {max(canvases.values())} scenarios.\n"
    )
    by_kind = _counts("kind", KINDS, {one.id: kind_of(one) for one in scenarios}, scenarios)
    spoken = {one.id: LANGUAGES[language_of(one)] for one in scenarios}
    by_language = _counts("language", tuple(LANGUAGES.values()), spoken, scenarios)
    rows = [row for name, path in played.items() for row in played_rows(name, scenarios, list(read_verdicts(path)))]
    head = f"| player | on | played | passed, with its interval | {' | '.join(SHOWN)} |\n"
    table = f"{head}{'| --- ' * (4 + len(SHOWN))}|\n{''.join(rows)}"
    return f"{summary}\n{by_kind}\n{by_language}\n{table}"


def played_rows(player: str, scenarios: Iterable[Scenario], verdicts: Sequence[Verdict]) -> list[str]:
    """A player's figures on both halves; scenarios that its baseline does not have are left out."""
    names = {split: {one.id for one in scenarios if one.split == split} for split in SPLITS}
    together = clusters(verdicts)
    rows: list[str] = []
    for split in SPLITS:
        half = [one for one in verdicts if one.scenario in names[split]]
        passed = estimate({one.scenario: [float(one.passed is True)] for one in half}, together)
        rates = [_mean(half, name) for name in SHOWN]
        share = "-" if passed is None else f"{passed.mean:.0%} ({passed.low:.0%} to {passed.high:.0%})"
        rows.append(f"| {player} | `{split}` | {len(half)} | {share} | {' | '.join(rates)} |\n")
    return rows


def _mean(verdicts: Iterable[Verdict], name: str) -> str:
    values = [float(value) for one in verdicts if (value := one.value(name)) is not None]
    return f"{sum(values) / len(values):.2f}" if values else "-"


def _counts(title: str, rows: Sequence[str], of: Mapping[str, str], scenarios: Iterable[Scenario]) -> str:
    found = Counter((of[one.id], one.split) for one in scenarios)
    lines = [f"| {row} | {' | '.join(str(found[row, split]) for split in SPLITS)} |\n" for row in rows]
    return f"| {title} | {' | '.join(f'`{split}`' for split in SPLITS)} |\n| --- | --- | --- |\n{''.join(lines)}"


def main() -> None:
    """Write the splits and the tables."""
    parser = argparse.ArgumentParser(description="Assign new scenarios to a split, and write what the set covers.")
    parser.add_argument("--anew", action="store_true", help="assign all scenarios, as if none were assigned yet")
    chosen = parser.parse_args()
    write_splits(assign(load_scenarios(), {} if chosen.anew else stated_splits()))
    text = coverage_tables(load_scenarios(), engine_catalogue())
    replace_marked(MANUAL, "task-set", text)
    print(text)


if __name__ == "__main__":
    main()
