"""What commands print, for people and as JSON, and how they end."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from tests.surfaces.captures.cli_capture import Case, capture_cli
from tests.surfaces.captures.cli_cases import ASKS, EVAL_FILES, EVALS, FILES, FLOWS, RUNS
from tests.surfaces.subject import Workplace


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
@pytest.mark.parametrize("subject", ["wheel"], indirect=True)  # commands of the checkout run in tests/cli
@pytest.mark.parametrize(
    ("group", "cases", "files"),
    [
        ("flows", FLOWS, FILES),
        ("asks", ASKS, FILES),
        ("runs", RUNS, FILES),
        ("evals", EVALS, EVAL_FILES),
    ],
    ids=["flows", "asks", "runs", "evals"],
)
def test_commands_print_what_is_committed(
    group: str,
    cases: Sequence[Case],
    files: Mapping[str, str],
    place: Workplace,
    matches: Callable[[str, Mapping[str, str]], None],
) -> None:
    matches(f"cli-{group}", capture_cli(place, cases, files))
