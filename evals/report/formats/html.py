"""The report as one self-contained HTML page: data escaped, one script and one style, both allowed by their hash."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evals.analysis.metrics import DECLARED
from evals.report.clipping import SIZES, Limits
from evals.report.formats.documents import Value, summary
from evals.report.formats.figures import figure
from evals.report.model import Report
from evals.report.svg.charts import cost_against_quality
from evals.score import METRICS

LIMIT = 5_000_000
"""The largest size of a page, in bytes."""

_UNSAFE = {ord("<"): r"\u003c", ord(">"): r"\u003e", ord("&"): r"\u0026", 0x2028: r"\u2028", 0x2029: r"\u2029"}


class TooLarge(ValueError):
    """A report that is too large for a page even without details."""


def page(gather: Callable[[Limits], Report], limit: int = LIMIT) -> str:
    """Render a report as HTML, with as many details of the attempts as fit.

    Args:
        gather: makes the report within limits.

    Raises:
        TooLarge: it does not fit within the smallest limits.
    """
    for limits in SIZES:
        text = render(gather(limits))
        if len(text.encode()) <= limit:
            return text
    raise TooLarge(f"The page would be larger than {limit:,} bytes; report fewer attempts at a time.")


def render(report: Report) -> str:
    """Render a report as HTML of any size."""
    script, style = _asset("report.js"), _asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{content_hash(script)}'; style-src '{content_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            script=Markup(script),  # noqa: S704  (our own file)
            style=Markup(style),  # noqa: S704  (our own file)
            policy=policy,
            data=embedded(summary(report, reasons=False)),
            charts=cost_against_quality(report),
            measures=METRICS,
            gated=DECLARED,
        )
    )
    return text.encode("utf-8", "backslashreplace").decode()


def content_hash(text: str) -> str:
    """The source expression by which a Content-Security-Policy allows an inline script or style of this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def embedded(value: object) -> Markup:
    """JSON that is safe inside a script element: nothing in it can end the element or begin another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True)
    return Markup(text.translate(_UNSAFE))  # noqa: S704  (every character that HTML knows is escaped)


def _asset(name: str) -> str:
    return files("evals.report").joinpath("static", name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evals.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"percent": _percent, "points": _points, "figure": _figure, "money": figure, "took": _took, "mark": _mark}
    environment.filters.update(filters)
    return environment


def _percent(value: float | None) -> str:
    return "–" if value is None else {"100.0%": "100%", "0.0%": "0%"}.get(shown := f"{value:.1%}", shown)


def _points(value: float) -> str:
    return f"{value * 100:+.1f}" if value else "0.0"


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.2f}"


def _took(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _mark(value: Value) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "✓" if value else "✗"
        case _:
            return f"{value:.2f}"
