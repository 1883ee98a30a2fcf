"""The formats of reports, by the ending of the file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from evals.report.formats.documents import as_csv, as_json
from evals.report.formats.html import page
from evals.report.formats.junit import as_junit
from evals.report.formats.markdown import as_markdown
from evals.report.model import Material, gather

Form = Literal["html", "md", "json", "csv", "xml"]

FORMS: Mapping[str, Form] = MappingProxyType(
    {".html": "html", ".htm": "html", ".md": "md", ".json": "json", ".csv": "csv", ".xml": "xml"}
)
"""The format of a file by its ending."""


def render_report(form: Form, material: Material) -> str:
    """The report as text; the same material gives the same text.

    Raises:
        TooLarge: a page would be too large.
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
