"""The command `worker` is refused where it cannot work."""

import pytest

from tests.cli.conftest import Wirewright


def test_a_worker_is_refused_on_sqlite_with_the_reason(wirewright: Wirewright) -> None:
    done = wirewright("worker", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "cannot_work")
    assert "one process" in done.json["error"]["message"]


@pytest.mark.parametrize("queues", ["nothing", "turns,run", "", " , "])
def test_a_worker_takes_no_queues_but_those_that_are_named(queues: str, wirewright: Wirewright) -> None:
    """An empty name, such as of a variable that is not set, does not mean all of them."""
    done = wirewright("worker", "--queues", queues, "--json")
    assert (done.code, done.json["error"]["where"]) == (2, "--queues")
    assert "turns, runs, evals" in done.json["error"]["fix"]
