"""Checks of what the bare engine can run: without bundles that are not installed, and without Langflow's services."""

from __future__ import annotations

from collections.abc import Sequence

from flows.catalogue import Catalogue
from flows.document import Node
from flows.faults import Fault, Severity
from flows.jsonvalues import texts

_SERVICES = {
    "RunFlow": "runs another flow that Langflow has stored",
    "SubFlow": "runs another flow that Langflow has stored",
    "FlowTool": "runs another flow that Langflow has stored",
    "Knowledge": "keeps its texts in Langflow's knowledge bases",
    "KnowledgeBase": "keeps its texts in Langflow's knowledge bases",
    "KnowledgeIngestion": "keeps its texts in Langflow's knowledge bases",
    "MemoryBase": "keeps its texts in Langflow's memory bases",
}
_OPTIONAL = frozenset({"boto3", "googleapiclient", "jq", "langflow", "sqlmodel"})
"""Packages that components import for one of several things that they can do."""


def check_engine(nodes: Sequence[Node], catalogue: Catalogue, running: set[str]) -> list[Fault]:
    """Return a fault for every component that the bare engine cannot run; what is not run gets a warning."""
    faults: list[Fault] = []
    for node in nodes:
        severity: Severity = "error" if node.id in running else "warning"
        service = _SERVICES.get(node.type)
        part = catalogue.get(node.type)
        if service is not None and part is not None:
            message = f"{node.id} ({node.type}) {service}, which the bare engine does not have."
            fix = "Put its steps into this flow instead, or run the flow in Langflow."
            faults.append(Fault(code="needs_service", message=message, fix=fix, severity=severity, node=node.id))
        if part is None or not part.lacking:
            continue
        always = texts(part.lacking.get("always"))
        sometimes = [name for name in texts(part.lacking.get("sometimes")) if name not in _OPTIONAL]
        if always or sometimes:
            packages = ", ".join(always or sometimes)
            message = f"{node.id} ({node.type}) needs {packages}, which the engine does not have."
            fix = "Use a component that needs nothing more; searching lists others."
            faults.append(
                Fault(
                    code="needs_package",
                    message=message,
                    fix=fix,
                    severity=severity if always else "warning",
                    node=node.id,
                )
            )
    return faults
