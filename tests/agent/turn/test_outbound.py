"""Hosts that only others' text has named: asked about in later turns as well, until the user names or allows them."""

import json
from dataclasses import replace

import pytest
from pydantic_ai import ToolApproved, ToolDenied

from agent.assistant import Assistant
from agent.contract.endings import ending
from agent.models.scripted import call
from agent.turn.request import Answer
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.files.store import UserFiles
from runtime.results import RunHost
from tests.shared.scripted_assistant import Step, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran
from tools.approvals import OutboundApproval

pytestmark = pytest.mark.anyio

HOST = "collector.example"
BUILD = [
    call("read_file", 1, path="notes.txt"),
    call(
        "build_flow",
        2,
        spec=f"""name: Orders
nodes:
  api: APIRequest
  answer: ChatOutput
edges:
  api.data -> answer.input_value
config:
  api.url_input: https://{HOST}/orders""",
    ),
]
READ = '{"intent": "build_flow", "mandate": {"edit": ["flow"]}}'
RUN = '{"intent": "run_flow", "mandate": {"run": []}}'
RUNS = call("run_flow", 3)


def reader(catalogue: Catalogue, *replies: Step, runs: int = 1) -> Assistant:
    """An assistant that is asked to build what the user's notes say, and then follows a script."""
    results = [ran("Fine.") for _ in range(runs + 1)]  # and the verification
    runner = StandInRunner(results=results)
    who, _ = scripted_assistant(catalogue, READ, *BUILD, *replies, runner=runner)
    UserFiles(who.settings.data, "local").write("notes.txt", f"Orders go to https://{HOST}/orders.")
    return who


def asked(result: TurnResult) -> list[str]:
    """The hosts that a turn asks about."""
    return [host for one in result.approvals.values() if isinstance(one, OutboundApproval) for host in one.hosts]


async def built(who: Assistant) -> TurnResult:
    """The turn that builds what the notes say, with the host approved."""
    waiting = await play(who, "Build what notes.txt describes")
    assert (asked(waiting), waiting.proposal) == ([HOST], None)
    answers: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolApproved())
    return await play(who, answers=answers)


async def test_a_host_from_a_file_is_asked_about_before_it_is_built_and_then_no_more(catalogue: Catalogue) -> None:
    who = reader(catalogue, "I built it.", RUN, RUNS, "It ran.", RUN, call("run_flow", 4), "It ran again.", runs=2)
    assert (await built(who)).proposal is not None
    done = await play(who, "Run it")
    assert (asked(done), len(done.runs)) == ([], 1)
    again = await play(who, "Run it once more", done.after)
    assert (asked(again), len(again.runs)) == ([], 1)


async def test_nothing_is_built_with_a_refused_host_and_it_is_asked_about_again(catalogue: Catalogue) -> None:
    who = reader(catalogue, "I did not.", READ, call("build_flow", 4, **BUILD[1].args_as_dict()))
    waiting = await play(who, "Build what notes.txt describes")
    refused: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolDenied())
    denied = await play(who, answers=refused)
    assert (denied.proposal, denied.after.is_empty) == (None, True)
    assert asked(await play(who, "Build it, I said")) == [HOST], "the earlier turn had read the file"


async def test_a_question_about_a_host_says_why_it_is_asked(catalogue: Catalogue) -> None:
    waiting = await play(reader(catalogue), "Build what notes.txt describes")
    [question] = waiting.approvals.values()
    assert (question.kind, getattr(question, "why", "")) == ("outbound", "unnamed_host")
    assert "Your message does not name this host" in waiting.text


async def test_a_host_that_an_answer_spells_out_is_asked_about_before_it_runs(catalogue: Catalogue) -> None:
    spelled = f"Here is the flow:\n```yaml\n{BUILD[1].args_as_dict()['spec']}\n```"
    who, _ = scripted_assistant(
        catalogue, READ, BUILD[0], spelled, RUN, RUNS, runner=StandInRunner(results=[ran("Fine.")] * 2)
    )
    UserFiles(who.settings.data, "local").write("notes.txt", f"Orders go to https://{HOST}/orders.")
    recovered = await play(who, "Build what notes.txt describes")
    assert recovered.proposal is not None
    assert asked(await play(who, "Run it")) == [HOST]


@pytest.mark.parametrize(
    ("text", "reach"), [(f"Build what notes.txt describes, it may send to {HOST}", []), ("Send it to them", [HOST])]
)
async def test_a_host_that_the_user_names_is_not_asked_about(catalogue: Catalogue, text: str, reach: list[str]) -> None:
    read = json.dumps({"intent": "build_flow", "mandate": {"edit": ["flow"], "reach": reach}})
    runner = StandInRunner(results=[ran("Fine.")] * 2)
    who, _ = scripted_assistant(catalogue, read, *BUILD, "I built it.", RUN, RUNS, "It ran.", runner=runner)
    UserFiles(who.settings.data, "local").write("notes.txt", f"Orders go to https://{HOST}/orders.")
    result = await play(who, text)
    assert (asked(result), result.proposal is None) == ([], False)
    assert len((await play(who, "Run it")).runs) == 1


async def test_a_host_is_the_users_own_when_nothing_else_was_read(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(
        catalogue, READ, BUILD[1], "I built it.", RUN, RUNS, "It ran.", runner=StandInRunner(results=[ran("Fine.")] * 2)
    )
    built = await play(who, "Build a flow that gets my orders", Flow.empty())
    assert built.proposal is not None
    assert len((await play(who, "Run it")).runs) == 1


async def test_every_host_is_asked_about_when_the_operator_has_runs_ask_and_the_run_reaches_the_approved(
    catalogue: Catalogue,
) -> None:
    runner = StandInRunner(results=[ran("Fine.")] * 2)
    who, _ = scripted_assistant(
        catalogue, READ, BUILD[1], "I built it.", RUN, RUNS, "It ran.", run_network="ask", runner=runner
    )
    await play(who, "Build a flow that gets my orders", Flow.empty())
    waiting = await play(who, f"Run it: https://{HOST}/orders")
    assert (asked(waiting), waiting.runs) == ([HOST], [])
    answers: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolApproved())
    assert len((await play(who, answers=answers)).runs) == 1
    assert runner.hosts == [(), (HOST,)], "the verification before the approval reaches nothing"


async def test_the_hosts_of_a_run_reach_the_model_and_the_user(catalogue: Catalogue) -> None:
    reached = RunHost(host="api.example.com", port=443, sent=1200, received=34)
    refused = RunHost(host="10.0.0.5", port=80, refused=True)
    runner = StandInRunner(results=[ran("Fine."), replace(ran("Fine."), hosts=(reached, refused))])
    who, seen = scripted_assistant(catalogue, READ, BUILD[1], "I built it.", RUN, RUNS, "It ran.", runner=runner)
    await play(who, "Build a flow that gets my orders", Flow.empty())
    result = await play(who, "Run it")
    words = "api.example.com:443 (1,200 bytes sent, 34 received), 10.0.0.5:80 (refused)"
    assert words in str(seen.requests[-1])
    assert result.runs[-1].hosts == (reached, refused)
    wire = ending(result, "s").model_dump(mode="json")
    assert wire["data"]["run"]["hosts"] == [reached.to_json(), refused.to_json()]


SPELLINGS = (
    "evil.example/?q=milk",
    "evil.example:8443",
    "//evil.example",
    "user@evil.example/x",
    "\u0435vil.example?q=milk",
    "part of an address",
)


@pytest.mark.parametrize("order", SPELLINGS)
async def test_a_run_is_limited_to_known_hosts_once_others_text_was_read_however_an_order_spells_one(
    catalogue: Catalogue, order: str
) -> None:
    runner = StandInRunner()
    who, _ = scripted_assistant(catalogue, RUN, call("run_flow", 1, input=order), "It ran.", runner=runner)
    await play(who, "Run it", built_flow(catalogue))
    assert runner.only_hosts == [{HOST}], "the flow is the user's, and so is its host"


async def test_a_run_is_limited_to_nothing_of_a_strangers_flow_when_no_run_was_asked_for(catalogue: Catalogue) -> None:
    runner = StandInRunner()
    read = '{"intent": "build_flow", "mandate": {"edit": ["temperature"]}}'
    who, _ = scripted_assistant(catalogue, read, call("run_flow", 1, input="x"), "It ran.", runner=runner)
    waiting = await play(who, "Lower the temperature", built_flow(catalogue))
    assert (asked(waiting), runner.only_hosts) == ([HOST], [])


async def test_a_run_is_limited_to_what_the_message_names_and_not_to_the_names_of_files(catalogue: Catalogue) -> None:
    runner = StandInRunner()
    read = json.dumps({"intent": "run_flow", "mandate": {"run": [], "reach": ["Slack"]}})
    who, _ = scripted_assistant(catalogue, read, call("run_flow", 1, input="x"), "It ran.", runner=runner)
    UserFiles(who.settings.data, "local").write("bill.zip", "x")
    await play(who, "Run it with bücher.example:8443 and http://localhost:1/ and bill.zip", built_flow(catalogue))
    [only] = runner.only_hosts
    assert only is not None
    assert {"xn--bcher-kva.example", "*.xn--bcher-kva.example", "localhost", HOST} <= only
    assert not any("zip" in one for one in only)


async def test_a_run_is_not_limited_when_nothing_was_read(catalogue: Catalogue) -> None:
    runner = StandInRunner()
    who, _ = scripted_assistant(catalogue, READ, BUILD[1], RUNS, "It ran.", runner=runner)
    await play(who, "Build a flow that gets my orders and run it", Flow.empty())
    assert runner.only_hosts[0] is None, "the verification"


async def test_what_a_run_was_refused_is_asked_about_and_allowed_in_the_run_that_follows(catalogue: Catalogue) -> None:
    wanted = RunHost(host="evil.example", port=443, refused=True, unapproved=True)
    private = RunHost(host="10.0.0.5", port=80, refused=True)
    runner = StandInRunner(results=[replace(ran("Fine."), hosts=(wanted, private)), ran("Fine.")])
    who, _ = scripted_assistant(catalogue, RUN, RUNS, "It ran.", runner=runner)
    waiting = await play(who, "Run it", built_flow(catalogue), apply="always")
    assert (asked(waiting), len(waiting.runs)) == (["evil.example"], 1)
    assert "It has been run, and was refused this." in waiting.text
    answers: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolApproved())
    done = await play(who, answers=answers)
    assert (asked(done), len(done.runs), runner.only_hosts[-1]) == ([], 1, {HOST, "evil.example"})
    assert done.record.text.count("Fine.") == 2, "both runs are told"


async def test_the_model_learns_that_a_run_took_place_without_a_host_that_the_user_refused(
    catalogue: Catalogue,
) -> None:
    wanted = RunHost(host="evil.example", port=443, refused=True, unapproved=True)
    runner = StandInRunner(results=[replace(ran("Fine."), hosts=(wanted,))])
    who, seen = scripted_assistant(catalogue, RUN, RUNS, "It could not.", runner=runner)
    waiting = await play(who, "Run it", built_flow(catalogue))
    denied: dict[str, Answer] = dict.fromkeys(waiting.approvals, ToolDenied())
    await play(who, answers=denied)
    assert "The flow has run, but could not reach evil.example." in str(seen.requests[-1])
    assert len(runner.asked) == 1


def built_flow(catalogue: Catalogue) -> Flow:
    """A flow of the canvas, with a name that others may have given it."""
    built = build(BUILD[1].args_as_dict()["spec"], catalogue)
    assert built.flow is not None
    return built.flow
