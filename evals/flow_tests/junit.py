"""What became of the tests of a flow, as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Tree

from evals.flow_tests.running import TestedFlow
from evals.report.formats.xml_text import xml_text


def as_junit(flow: str, tested: Sequence[TestedFlow]) -> str:
    """One suite with a case for each test.

    Args:
        flow: what the suite is called.
        tested: what became of each.
    """
    root = Tree.Element("testsuites", name="wirewright flow test")
    errors = sum(one.invalid for one in tested)
    failures = sum(not one.passed for one in tested) - errors
    seconds = sum(one.seconds for one in tested)
    counts = {"tests": str(len(tested)), "failures": str(failures), "errors": str(errors), "time": f"{seconds:.3f}"}
    suite = Tree.SubElement(root, "testsuite", {"name": xml_text(flow), **counts})
    for one in tested:
        name = {"classname": xml_text(flow), "name": xml_text(one.name), "time": f"{one.seconds:.3f}"}
        case = Tree.SubElement(suite, "testcase", name)
        if not one.passed:
            kind = "error" if one.invalid else "failure"
            failure = Tree.SubElement(case, kind, type=one.error or "output", message=xml_text(one.reason[:500]))
            failure.text = xml_text(one.reason)
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"
