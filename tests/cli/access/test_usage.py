"""`wirewright usage`: what was used, as a table and as JSON."""

import pytest

from tests.cli.conftest import Wirewright


def test_what_was_used_is_shown_and_nothing_is_no_failure(wirewright: Wirewright) -> None:
    nothing = wirewright("usage")
    assert (nothing.code, nothing.out) == (0, "")
    assert wirewright("ask", "Hello", "--model", "demo").code == 0
    table = wirewright("usage", "--by", "model").out.splitlines()
    assert [row.split()[0] for row in table] == ["model", "demo", "total"]
    document = wirewright("usage", "--json", "--all", "--by", "user").json
    assert [(row["user"], row["turns"], row["cost"]) for row in document["usage"]] == [("local", 1, 0.0)]


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["--from", "soon"], 2, "bad_value"),
        (["--by", "hour"], 2, "bad_value"),
        (["--user", "nobody"], 1, "user_not_found"),
        (["--user", "local", "--all"], 2, "usage"),
    ],
)
def test_what_cannot_be_shown_is_a_typed_error(
    arguments: list[str], code: int, error: str, wirewright: Wirewright
) -> None:
    done = wirewright("usage", *arguments, "--json")
    assert (done.code, done.json["error"]["code"]) == (code, error)
