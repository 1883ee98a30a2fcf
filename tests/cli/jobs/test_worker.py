"""The command `worker` is refused where it cannot work."""

from tests.cli.conftest import Wirewright


def test_a_worker_is_refused_on_sqlite_with_the_reason(wirewright: Wirewright) -> None:
    done = wirewright("worker", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "cannot_work")
    assert "one process" in done.json["error"]["message"]
    assert wirewright("worker", "--queues", "nothing", "--json").json["error"]["where"] == "--queues"
