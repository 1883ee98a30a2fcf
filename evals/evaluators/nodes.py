"""Node F1: are the right components there?"""

from evals.case import Case, Grade


def nodes(case: Case) -> Grade:
    """F1 over components, matched by type: 2·matched / (actual + expected), for the nearest reference flow.

    Zero if a change was expected and none was made; not scored if none was expected.
    Source: van Rijsbergen (1979) for F1; matching as in `evals.oracles.matching`.
    """
    return case.ungraded or (case.agreement("node"), f"{len(case.result.nodes)} components were made")
