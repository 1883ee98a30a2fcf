"""`wirewright flow diff|merge|templates`."""

import json
from pathlib import Path

import pytest

from flows.action_json import action_from_json
from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.diff import same_up_to_order
from flows.document import Flow
from flows.spec import build
from flows.templates import templates
from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import LOUDER

pytestmark = pytest.mark.usefixtures("excerpt")
BROKEN = b"nodes:\n  chat: ChatInputt\n  answer: ChatOutput\n"


@pytest.fixture
def softer(tmp_path: Path) -> Path:
    path = tmp_path / "softer.txt"
    path.write_text(LOUDER.replace("louder", "softer"), encoding="utf-8")
    return path


def test_diff_gives_actions_that_lead_from_one_flow_to_the_other(
    wirewright: Wirewright, louder: Path, softer: Path, catalogue: Catalogue
) -> None:
    done = wirewright("flow", "diff", louder, softer, "--json")
    assert done.code == 0
    assert set(done.json) == {"ok", "same", "same_work", "actions", "faults"}
    assert (done.json["same"], done.json["same_work"]) == (False, False)
    assert [action["kind"] for action in done.json["actions"]] == ["configure"]
    old, new = build(LOUDER, catalogue).flow, build(softer.read_text(), catalogue).flow
    assert old is not None
    assert new is not None
    led = apply_all(old, [action_from_json(action) for action in done.json["actions"]])
    assert same_up_to_order(led, new)


def test_diff_uses_the_node_names_of_the_spec(wirewright: Wirewright, louder: Path, softer: Path) -> None:
    assert wirewright("flow", "diff", louder, softer).out == "~ prompt: template\n"


def test_diff_of_a_flow_and_itself_says_that_they_are_the_same(
    wirewright: Wirewright, louder: Path, louder_json: Path
) -> None:
    assert wirewright("flow", "diff", louder, louder_json).out == "They are the same.\n"
    done = wirewright("flow", "diff", "-", louder_json, "--json", stdin=LOUDER.encode())
    assert (done.code, done.json["same"], done.json["actions"]) == (0, True, [])


def test_diff_counts_what_only_moves(wirewright: Wirewright, louder_json: Path) -> None:
    document = json.loads(louder_json.read_text(encoding="utf-8"))
    for node in document["data"]["nodes"]:
        node["position"]["x"] += 5
    moved = json.dumps(document).encode()
    done = wirewright("flow", "diff", louder_json, "-", stdin=moved)
    assert done.out == "3 layout or display changes.\n"
    assert wirewright("flow", "diff", louder_json, "-", "--json", stdin=moved).json["same_work"] is True


@pytest.mark.parametrize("command", [("diff",), ("merge", "--out", "out.json")])
def test_a_flow_that_does_not_build_is_reported_with_its_faults(
    command: tuple[str, ...],
    wirewright: Wirewright,
    louder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = wirewright("flow", command[0], louder, "-", *command[1:], "--json", stdin=BROKEN)
    assert (done.code, done.json["ok"]) == (1, False)
    assert done.json["faults"][0]["code"] == "unknown_type"
    assert not (tmp_path / "out.json").exists()
    told = wirewright("flow", command[0], louder, "-", *command[1:], stdin=BROKEN)
    assert (told.code, told.out) == (1, "")
    assert "ChatInputt" in told.err
    twice = wirewright("flow", command[0], "-", "-", *command[1:], "--json", stdin=BROKEN)
    assert (twice.code, twice.json["error"]["code"]) == (2, "bad_value")


def test_merge_writes_both_flows_with_ids_of_their_own(
    wirewright: Wirewright, louder: Path, louder_json: Path, tmp_path: Path
) -> None:
    target = tmp_path / "both.json"
    done = wirewright("flow", "merge", louder_json, louder, "--out", target, "--json")
    assert done.code == 0
    flow = Flow.from_json(json.loads(target.read_text(encoding="utf-8")))
    assert done.json["flow"] == flow.to_json()
    assert (len({node.id for node in flow.nodes}), len(flow.edges)) == (6, 4)
    assert {fault["severity"] for fault in done.json["faults"]} == {"warning"}
    assert "Written to" in wirewright("flow", "merge", louder, louder, "--out", target).out


def test_merge_needs_a_file_to_write_to(wirewright: Wirewright, louder: Path, tmp_path: Path) -> None:
    assert wirewright("flow", "merge", louder, louder).code == 2
    assert wirewright("flow", "merge", louder, louder, "--out", tmp_path / "no" / "x.json").code == 2


def test_every_template_is_listed_and_each_is_printed_as_a_spec(wirewright: Wirewright) -> None:
    listed = wirewright("flow", "templates", "--json").json["templates"]
    assert [one["name"] for one in listed] == [one.name for one in templates()]
    assert all(set(one) == {"name", "title", "description", "tags", "needs"} for one in listed)
    names = [line.split()[0] for line in wirewright("flow", "templates").out.splitlines() if not line.startswith(" ")]
    assert names == [one["name"] for one in listed]
    printed = wirewright("flow", "templates", "Echo")
    assert wirewright("flow", "build", "-", stdin=printed.out.encode()).code == 0
    assert wirewright("flow", "templates", "echo", "--json").json["spec"].strip() == printed.out.strip()


def test_an_unknown_template_is_bad_usage_and_named_with_the_nearest(wirewright: Wirewright) -> None:
    done = wirewright("flow", "templates", "ruter", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "unknown_template")
    assert "router" in done.json["error"]["fix"]
