"""The forms that a report can be written in, by the ending of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evals.fix.records import Fix
from evals.gate import Gate
from evals.report.clipping import Limits
from evals.report.formats.documents import as_csv, as_json, as_junit
from evals.report.formats.html import page
from evals.report.formats.markdown import as_markdown
from evals.report.model import Report, report
from evals.report.play import Play
from evals.score import Verdict
from flows.catalogue import Catalogue

Form = Literal["html", "md", "json", "csv", "xml"]

FORMS: Mapping[str, Form] = MappingProxyType(
    {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".csv": "csv", ".xml": "xml"}
)
"""The form of a file by its ending."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a report is made of.

    Attributes:
        play: what was played, scored.
        catalogue: the component types.
        baseline: the verdicts of an earlier play; empty without one.
        baseline_name: what it is called.
        baseline_player: which of its players every player stands beside; empty for the one of the same name.
        fixes: the smallest fixes that were found, those of other attempts left aside.
        gate: the gate that judges every player, and the verdicts that it compares with; None for none.
        gate_name: what it is called.
        title: what the report is called.
    """

    play: Play
    catalogue: Catalogue
    baseline: Sequence[Verdict] = ()
    baseline_name: str = ""
    baseline_player: str = ""
    fixes: Sequence[Fix] = ()
    gate: tuple[Gate, tuple[Verdict, ...]] | None = None
    gate_name: str = ""
    title: str = "Evaluation report"


def gather(material: Material, limits: Limits | None) -> Report:
    """The view model of a report.

    Args:
        material: what it is made of.
        limits: how much of each attempt is shown; None leaves the details out.
    """
    return report(
        material.play,
        material.catalogue,
        baseline=material.baseline,
        baseline_name=material.baseline_name,
        baseline_player=material.baseline_player,
        fixes={fix.key: fix for fix in material.fixes},
        gate=material.gate,
        gate_name=material.gate_name,
        title=material.title,
        limits=limits,
    )


def render_report(form: Form, material: Material) -> str:
    """The report as text; the same material gives the same text.

    Args:
        form: which form.
        material: what it is made of.

    Raises:
        TooLarge: when a page would be larger than it may be.
    """
    if form == "html":
        return page(lambda limits: gather(material, limits))
    plain = gather(material, None)
    match form:
        case "md":
            return as_markdown(plain)
        case "json":
            return as_json(plain)
        case "csv":
            return as_csv(plain)
        case "xml":
            return as_junit(plain)
