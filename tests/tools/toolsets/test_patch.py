"""Several changes in one call: what `edit_flow` answers, asks and refuses."""

import pytest
from pydantic_ai import ToolApproved, ToolDenied

from agent.models.scripted import call, tool_returns
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import rename
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import play, play_all, scripted_assistant
from tests.shared.stand_ins import ASKED_FOR, StandInRunner
from tests.tools.toolsets.test_toolsets import use
from tools.approvals import EditApproval
from tools.events import FlowUpdate
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio

INSERT = """nodes:
  shouter: Prompt Template
edges:
  Chat Input.message -> shouter.text
  shouter.prompt -> Chat Output.input_value
config:
  shouter.template: Shout {text}
  Chat Output.clean_data: false
"""


def bench_of(flow: Flow, catalogue: Catalogue, *, auto_edit: bool = False) -> Workbench:
    return Workbench(
        mandate=ASKED_FOR,
        user="local",
        session="s",
        catalogue=catalogue,
        runner=StandInRunner(),
        flow=flow,
        auto_edit=auto_edit,
    )


HOLDS_TEXT = """nodes:
  chat: ChatInput
  agent: Agent
  answer: ChatOutput
  other: ChatOutput
edges:
  agent.response -> answer.input_value
  chat.message -> other.input_value
config:
  agent.input_value: What is new in bikes?
"""


async def test_one_call_makes_several_changes_each_with_its_own_action(catalogue: Catalogue) -> None:
    assistant, script = scripted_assistant(catalogue, "build_flow", call("edit_flow", 1, changes=INSERT), "Inserted.")
    events, result = await play_all(assistant, "Put a prompt that shouts in between", flow_of(ECHO, catalogue))
    kinds = [action.kind for action in result.actions]
    assert kinds == ["add_component", "configure", "connect", "disconnect", "connect", "arrange"]
    assert [event.action.kind for event in events if isinstance(event, FlowUpdate)] == kinds
    assert result.proposal is None
    [answer] = script.tool_answers(2)
    assert f"shouter is {node_id(result.after, 'Prompt Template')}" in answer
    assert "Gone with it: ChatInput" in answer


async def test_a_wrong_line_changes_nothing_and_every_fault_is_named(catalogue: Catalogue) -> None:
    bench = bench_of(flow_of(ECHO, catalogue), catalogue)
    before = bench.flow
    (answer,) = await use(bench, call("edit_flow", 1, changes=f"{INSERT}  shouter.nonsense: 1\nremove:\n  Nobody\n"))
    assert answer.outcome == "retried"
    assert "Nothing was changed" in str(answer.content)
    assert "nonsense" in str(answer.content)
    assert "Nobody" in str(answer.content)
    assert (bench.flow, bench.actions) == (before, [])


async def test_names_given_to_new_components_are_understood_by_later_calls(catalogue: Catalogue) -> None:
    bench = bench_of(flow_of(ECHO, catalogue), catalogue)
    await use(
        bench,
        call("edit_flow", 1, changes="nodes:\n  n1: CombineText\nedges:\n  ChatInput.message -> n1.text1"),
        call("edit_flow", 2, changes="config:\n  n1.delimiter: '-'\nremove:\n  ChatInput -> ChatOutput"),
    )
    assert bench.flow.node(node_id(bench.flow, "CombineText")).value("delimiter") == "-"
    assert len(bench.flow.edges) == 1


async def test_faults_that_the_changes_cause_are_answered(catalogue: Catalogue) -> None:
    bench = bench_of(flow_of(ECHO, catalogue), catalogue)
    (answer,) = await use(bench, call("edit_flow", 1, changes="nodes:\n  alone: CombineText\n"))
    assert "The flow now has these warnings:" in str(answer.content)
    assert "CombineText" in str(answer.content).partition("warnings:")[2]


async def test_replacing_the_user_s_texts_waits_and_the_rest_is_done_at_once(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    prompt, answer = node_id(canvas, "Prompt Template"), node_id(canvas, "ChatOutput")
    changes = f'config:\n  {prompt}.template: "Whisper: {{text}}"\n  {answer}.clean_data: false\n'
    edit = call("edit_flow", 1, changes=changes)
    assistant, _ = scripted_assistant(catalogue, "build_flow", edit, "I changed both.")
    waiting = await play(assistant, "Make it whisper and do not clean the data", canvas)
    assert (waiting.outcome, len(waiting.actions)) == ("pending", 1)
    assert waiting.after.node(answer).value("clean_data") is False
    [(question, approval)] = waiting.approvals.items()
    assert isinstance(approval, EditApproval)
    assert (approval.edit.old, approval.edit.new) == ("Say it louder: {text}", "Whisper: {text}")
    assert approval.done == [f"{answer}.clean_data: false"]
    result = await play(assistant, "", waiting.after, answers={question: ToolApproved()})
    assert [action.kind for action in result.actions] == ["configure"]
    assert result.after.node(prompt).value("template") == "Whisper: {text}"


async def test_what_was_added_before_the_question_is_not_added_again(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER.replace("Say it louder", "Say it much louder than you ever did"), catalogue)
    changes = (
        "nodes:\n  P: Prompt Template\nconfig:\n  P.template: |\n    Hi {name}\n    edges:\nremove:\n  Chat Output\n"
        "edges:\n  Chat Input.message -> P.name\n"
    )
    read = '{"intent": "build_flow", "mandate": {"edit": ["greeting"]}}'
    assistant, script = scripted_assistant(catalogue, read, call("edit_flow", 1, changes=changes), "Done.", "Done.")
    waiting = await play(assistant, "Add a greeting, please do it now and do it well", canvas)
    [approval] = waiting.approvals.values()
    assert approval.model_dump()["done"] == ["P: Prompt Template", "P.template: |", "Chat Input.message -> P.name"]
    assert len(waiting.after.components) == 4
    result = await play(assistant, "yes", waiting.after)
    assert sorted(node.type for node in result.after.components) == ["ChatInput", "Prompt Template", "Prompt Template"]
    assert "Done before the question: P: Prompt Template" in script.tool_answers(-1)[-1]


async def test_a_question_names_all_that_its_approval_does_and_nothing_else_is_done(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    canvas = rename(canvas, node_id(canvas, "Prompt Template"), "Loud").flow
    prompt, last = node_id(canvas, "Prompt Template"), node_id(canvas, "ChatOutput")
    changes = (
        'config:\n  Loud.template: "Whisper: {text}"\n  Chat Input.input_value: preset\n'
        "names:\n  Loud: Whisperer\nremove:\n  Chat Output\n"
    )
    read = '{"intent": "build_flow", "mandate": {"edit": ["prompt"], "replace_text": ["prompt"]}}'
    assistant, _ = scripted_assistant(catalogue, read, call("edit_flow", 1, changes=changes), "Done.", "Done.")
    waiting = await play(assistant, "Change the prompt", canvas)
    [(question, approval)] = waiting.approvals.items()
    assert isinstance(approval, EditApproval)
    assert [edit.field for edit in approval.edits] == ["template"]
    assert approval.done == ["Chat Input.input_value: preset"]
    assert approval.along == ["Rename Loud to Whisperer"]
    assert waiting.after.node(prompt).display_name == "Loud"
    again = await play(assistant, "", waiting.after, answers={question: ToolApproved()})
    assert again.after.node(prompt).display_name == "Whisperer"
    assert again.after.node(last) is not None
    [removal] = again.approvals.values()
    assert (removal.kind, removal.model_dump()["along"]) == ("removal", [])
    assert "May I remove or overwrite Chat Output, " in again.text
    assert last not in again.text


@pytest.mark.parametrize("tool", ["edit_flow", "configure_component"])
async def test_a_question_about_a_template_names_the_connection_that_ends_with_it(
    catalogue: Catalogue, tool: str
) -> None:
    canvas = flow_of(LOUDER, catalogue)
    prompt = node_id(canvas, "Prompt Template")
    change = call(tool, 1, component_id=prompt, values={"template": "Whisper: {name}"})
    if tool == "edit_flow":
        change = call(tool, 1, changes=f'config:\n  {prompt}.template: "Whisper: {{name}}"\n')
    assistant, _ = scripted_assistant(catalogue, "build_flow", change)
    waiting = await play(assistant, "Make it whisper", canvas)
    [approval] = waiting.approvals.values()
    assert isinstance(approval, EditApproval)
    ended = next(edge.text for edge in canvas.edges if edge.target == prompt)
    assert approval.along == [f"Disconnect {ended}"]


@pytest.mark.parametrize("tool", ["edit_flow", "connect_components"])
async def test_a_connection_into_a_text_of_the_user_s_asks(catalogue: Catalogue, tool: str) -> None:
    canvas = flow_of(HOLDS_TEXT, catalogue)
    source, agent = node_id(canvas, "ChatInput"), node_id(canvas, "Agent")
    ends = {"source_id": source, "source_output": "message", "target_id": agent, "target_input": "input_value"}
    connect = call("connect_components", 1, **ends)
    if tool != "connect_components":
        connect = call("edit_flow", 1, changes=f"edges:\n  {source}.message -> {agent}.input_value\n")
    assistant, _ = scripted_assistant(catalogue, "build_flow", connect, "Connected.", "Connected.")
    waiting = await play(assistant, "Connect the chat to the agent", canvas)
    [approval] = waiting.approvals.values()
    assert (approval.kind, waiting.after) == ("removal", canvas)
    assert approval.model_dump()["targets"] == [f"{agent}.input_value"]
    assert "What is new in bikes?" in waiting.text, "the question shows the text"
    result = await play(assistant, "yes", canvas)
    assert len(result.after.edges) == 3


async def test_several_texts_are_one_question(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER.replace('"Say it louder: {text}"', '"Louder: {text}"\n  answer.sender_name: Bo'), catalogue)
    changes = 'config:\n  Prompt Template.template: "Whisper: {text}"\n  Chat Output.sender_name: Ada\n'
    edit = call("edit_flow", 1, changes=changes)
    assistant, script = scripted_assistant(catalogue, "build_flow", edit, "I left it.")
    waiting = await play(assistant, "Make Ada whisper", canvas)
    [(question, approval)] = waiting.approvals.items()
    assert isinstance(approval, EditApproval)
    assert [one.field for one in (approval.edit, *approval.also)] == ["template", "sender_name"]
    result = await play(assistant, "", canvas, answers={question: ToolDenied("I like it loud")})
    assert (result.outcome, result.after) == ("complete", canvas)
    assert "I like it loud" in str(tool_returns(script.requests[-1])[-1].content)


@pytest.mark.parametrize(
    "changes",
    [
        "remove:\n  Prompt Template",
        "remove:\n  Chat Input -> Prompt Template",
        "nodes:\n  {prompt}: CombineText",
        "edges:\n  Chat Input.message -> Chat Output.input_value",
    ],
)
async def test_what_nobody_asked_to_remove_is_asked_about(catalogue: Catalogue, changes: str) -> None:
    canvas = flow_of(LOUDER.replace("Say it louder", "Say it much louder than you ever did"), catalogue)
    edit = call("edit_flow", 1, changes=changes.format(prompt=node_id(canvas, "Prompt Template")))
    read = '{"intent": "build_flow", "mandate": {"edit": ["calculator"]}}'
    assistant, _ = scripted_assistant(catalogue, read, edit)
    waiting = await play(assistant, "Add a calculator", canvas)
    assert [one.kind for one in waiting.approvals.values()] == ["removal"]
    assert (waiting.after, waiting.actions) == (canvas, [])


async def test_a_proposal_is_changed_without_asking(catalogue: Catalogue) -> None:
    bench = bench_of(Flow.empty(), catalogue)
    await use(
        bench, call("build_flow", 1, spec=LOUDER), call("edit_flow", 2, changes="config:\n  prompt.template: Hi {text}")
    )
    assert bench.proposal is not None
    assert bench.proposal.node(node_id(bench.proposal, "Prompt Template")).value("template") == "Hi {text}"
    assert bench.flow.is_empty
