"""What a run of a flow used."""

from decimal import Decimal

from runtime.results import RunResult
from runtime.usage.entry import FLOW_MODELS, Usage


def usage_of_run(result: RunResult) -> dict[str, Usage]:
    """What a run used, whose models' names are not known here.

    Args:
        result: what came of it.
    """
    figures = result.metrics
    used = Usage.of(
        input_tokens=figures.input_tokens,
        output_tokens=figures.output_tokens,
        requests=figures.model_calls,
        runs=1,
        cost=None if figures.cost is None else Decimal(str(figures.cost)),
    )
    return {FLOW_MODELS: used}
