"""Answers in words: a message that answers what waits is taken as what it means, and nothing is denied silently."""

import json

import pytest
from pydantic_ai import ToolApproved, ToolCallPart

from agent.models.scripted import call, tool_returns
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import configure
from tests.shared.consents import offer_consents
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
PLAN = "1. Read the file\n2. Split it\n3. Answer from it"


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def rename(canvas: Flow, name: str, step: int = 1, **others: object) -> ToolCallPart:
    """A change of the bot's name, a text of the user's."""
    return call(
        "configure_component", step, component_id=node_id(canvas, "ChatOutput"), values={"sender_name": name, **others}
    )


def name_of(flow: Flow) -> object:
    node = flow.node(node_id(flow, "ChatOutput"))
    assert node is not None
    return node.value("sender_name")


def reading(reply: str | None, intent: str = "build_flow", **more: object) -> str:
    """A classifier's answer."""
    return json.dumps({"intent": intent, "english": "", "language": "en", "reply": reply, **more})


def classifications(model: ScriptedModel) -> list[str]:
    """What the classifier was told in each of its requests."""
    asked = zip(model.requests, model.request_settings, strict=True)
    return [f"{messages[-1]}" for messages, settings in asked if "max_tokens" in settings]


@pytest.mark.parametrize(
    "text", ["yes", "ja, mach", "sí, adelante", "はい", "好的", "Oui, vas-y !", "sim", "va bene", "👍"]
)
async def test_a_plain_yes_approves_without_asking_a_model(catalogue: Catalogue, canvas: Flow, text: str) -> None:
    who, model = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"), "She is called Ada.")
    await play(who, "Call the bot Ada", canvas)
    result = await play(who, text, canvas)
    assert (result.outcome, result.text, name_of(result.after)) == ("complete", "She is called Ada.", "Ada")
    assert len(classifications(model)) == 1, "only the request was classified"


@pytest.mark.parametrize("text", ["no", "nein danke", "いいえ", "不用了", "non merci"])
async def test_a_plain_no_denies_and_nothing_is_changed(catalogue: Catalogue, canvas: Flow, text: str) -> None:
    who, model = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"), "I left the name.")
    await play(who, "Call the bot Ada", canvas)
    result = await play(who, text, canvas)
    assert (result.outcome, result.text, result.after) == ("complete", "I left the name.", canvas)
    assert "The user said no. Nothing was changed" in model.tool_answers(-1)[-1]
    assert len(classifications(model)) == 1


async def test_other_words_are_read_by_the_classifier_which_is_told_the_kind_only(
    catalogue: Catalogue, canvas: Flow
) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Mallory"), reading("approve"), "She is called Mallory."
    )
    await play(who, "Give the bot a name", canvas)
    result = await play(who, "no problem, go ahead", canvas)
    assert name_of(result.after) == "Mallory"
    first, second = classifications(model)
    assert "a text to be replaced" not in first
    assert "a text to be replaced" in second
    assert "Mallory" not in second, "the text of the question could steer the classifier"


async def test_a_reason_reaches_the_model_with_the_denial(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), reading("deny"), "I left it for your colleague."
    )
    await play(who, "Call the bot Ada", canvas)
    result = await play(who, "lieber nicht, der Bot gehört meinem Kollegen", canvas)
    assert (result.outcome, result.after) == ("complete", canvas)
    assert "der Bot gehört meinem Kollegen" in model.tool_answers(-1)[-1]


async def test_a_change_that_the_user_spells_out_is_made_without_asking_again(
    catalogue: Catalogue, canvas: Flow
) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Bobby"), reading("change"), rename(canvas, "Bob", 2), "It is Bob."
    )
    await play(who, "Give the bot a name", canvas)
    result = await play(who, "ok but call it Bob", canvas)
    assert (result.outcome, name_of(result.after), result.approvals) == ("complete", "Bob", {})
    told = str(tool_returns(model.requests[3])[-1].content)
    assert "The user wants it done differently: ok but call it Bob. Nothing was changed" in told


async def test_a_change_in_words_of_the_model_s_own_is_asked_again(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Robert the Great"), reading("change"), rename(canvas, "Rob", 2)
    )
    await play(who, "Give the bot a name", canvas)
    result = await play(who, "no, shorter please", canvas)
    assert (result.outcome, name_of(result.after)) == ("pending", "AI")
    [approval] = result.approvals.values()
    assert approval.kind == "edit"
    assert approval.edit.new == "Rob"


async def test_a_plan_is_proposed_anew_when_the_user_wants_it_differently(catalogue: Catalogue) -> None:
    plan, shorter = call("propose_plan", 1, markdown=PLAN), call("propose_plan", 2, markdown="1. Answer")
    who, model = scripted_assistant(catalogue, "build_flow", plan, reading("change"), shorter, [], "Built.")
    await play(who, "Build something large")
    again = await play(who, "no, shorter please")
    assert [one.markdown for one in again.approvals.values() if one.kind == "plan"] == ["1. Answer"]
    assert "If not, propose the changed plan." in str(tool_returns(model.requests[3])[-1].content)


async def test_an_unclear_reply_leaves_the_question_open(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"), reading("unclear"), "Done.")
    waiting = await play(who, "Call the bot Ada", canvas)
    result = await play(who, "hmm maybe", canvas)
    assert (result.outcome, result.approvals, result.after) == ("pending", waiting.approvals, canvas)
    assert "whether that is a yes or a no" in result.text
    assert name_of((await play(who, "yes", canvas)).after) == "Ada"


async def test_a_question_beside_the_point_is_answered_and_the_approval_goes_on_waiting(
    catalogue: Catalogue, canvas: Flow
) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), reading("other", "question"), "It costs nothing.", "Done."
    )
    waiting = await play(who, "Call the bot Ada", canvas)
    result = await play(who, "ok what does it cost?", canvas)
    assert (result.outcome, result.approvals, result.after) == ("pending", waiting.approvals, canvas)
    assert result.text.startswith("It costs nothing.\n\n")
    assert "still waiting for an answer" in model.prompts[3]
    assert name_of((await play(who, "yes", canvas)).after) == "Ada"


async def test_an_off_topic_message_leaves_the_question_open(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), reading("other", "off_topic"), "She is called Ada."
    )
    waiting = await play(who, "Call the bot Ada", canvas)
    result = await play(who, "Tell me a joke", canvas)
    assert (result.outcome, result.approvals) == ("pending", waiting.approvals)
    assert name_of((await play(who, "yes", canvas)).after) == "Ada"


async def test_an_empty_message_asks_again(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"), "She is called Ada.")
    waiting = await play(who, "Call the bot Ada", canvas)
    result = await play(who, "  ", canvas)
    assert (result.outcome, result.approvals) == ("pending", waiting.approvals)
    assert name_of((await play(who, "yes", canvas)).after) == "Ada"


async def test_another_request_is_served_and_the_history_says_what_was_left_unanswered(
    catalogue: Catalogue, canvas: Flow
) -> None:
    add = call("add_component", 2, type="TextInput")
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), reading("other"), add, "I added it.", "question", "I asked."
    )
    waiting = await play(who, "Call the bot Ada", canvas)
    result = await play(who, "Add a text input instead", canvas)
    assert (result.outcome, name_of(result.after), result.withdrawn) == ("complete", "AI", waiting.approvals)
    assert result.text.startswith("I added it.\n\nNot done, because you did not answer it (edit): ")
    assert await who.pending("local", "default") == {}
    assert "sender_name: 'AI' -> 'Ada'" in model.prompts[3]
    assert "went on to something else without answering" in model.prompts[3]
    later = await play(who, "What about the name?", result.after)
    assert later.withdrawn == {}
    assert "went on to something else without answering" in model.prompts[-1]


async def test_the_history_keeps_what_was_approved_and_what_was_denied(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), "Renamed.", "build_flow", rename(canvas, "Eve", 3),
        reading("deny"), "I left it.", "question", "Ada.",
    )  # fmt: skip
    await play(who, "Call the bot Ada", canvas)
    renamed = await play(who, "yes", canvas)
    await play(who, "Now Eve", renamed.after)
    await play(who, "rather keep it, Ada is nicer", renamed.after)
    await play(who, "What is it called?", renamed.after)
    assert "'AI' -> 'Ada'" in model.prompts[-1]
    assert "the user approved it" in model.prompts[-1]
    assert "the user said no: rather keep it, Ada is nicer" in model.prompts[-1]


async def test_an_edit_that_a_client_has_applied_itself_counts_as_accepted(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), "She is called Ada.", reading(None, "question"), "Ada."
    )
    waiting = await play(who, "Call the bot Ada", canvas)
    applied = configure(canvas, catalogue, node_id(canvas, "ChatOutput"), {"sender_name": "Ada"}).flow
    result = await play(who, "", applied, answers=dict.fromkeys(waiting.approvals, ToolApproved()))
    assert (result.outcome, name_of(result.after)) == ("complete", "Ada")
    assert "The user accepted it" in model.tool_answers(-1)[-1]


async def test_such_an_edit_is_not_denied_by_the_next_message(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", rename(canvas, "Ada"), reading(None), call("add_component", 2, type="TextInput"), "Ok."
    )
    await play(who, "Call the bot Ada", canvas)
    applied = configure(canvas, catalogue, node_id(canvas, "ChatOutput"), {"sender_name": "Ada"}).flow
    result = await play(who, "Add a text input", applied)
    assert (result.outcome, result.withdrawn) == ("complete", {})
    assert "the user approved it" in model.prompts[3]


async def test_what_was_set_before_the_question_is_told_with_the_denial(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada", clean_data=False), "The name stays.")
    waiting = await play(who, "Call the bot Ada and do not clean", canvas)
    assert "clean_data" in waiting.text, "a turn that waits says what it has done"
    await play(who, "no", waiting.after)
    told = model.tool_answers(-1)[-1]
    assert "sender_name was not changed; clean_data of ChatOutput" in told
    assert "had been set before the question" in told


@pytest.mark.parametrize("reply", ["no", "yes"])
async def test_what_was_done_before_the_question_may_be_said_after_it(
    catalogue: Catalogue, canvas: Flow, reply: str
) -> None:
    add = call("add_component", 1, type="TextInput")
    who, model = scripted_assistant(catalogue, "build_flow", add, rename(canvas, "Ada", 2), "I added a text input.")
    waiting = await play(who, "Add a text input and call the bot Ada", canvas)
    result = await play(who, reply, waiting.after)
    assert (result.text, result.record.disagrees, model.replies) == ("I added a text input.", False, [])


async def test_arguments_that_the_user_changed_are_told(catalogue: Catalogue, canvas: Flow) -> None:
    who, model = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"), "She is called Eve.")
    waiting = await play(who, "Call the bot Ada", canvas)
    node = node_id(canvas, "ChatOutput")
    other = ToolApproved(override_args={"component_id": node, "values": {"sender_name": "Eve"}})
    result = await play(who, "", canvas, answers=dict.fromkeys(waiting.approvals, other))
    assert name_of(result.after) == "Eve"
    told = model.tool_answers(-1)[-1]
    assert "with other arguments than yours" in told
    assert '{"values": {"sender_name": "Eve"}}' in told


async def test_a_call_after_one_that_waits_waits_too_and_follows_the_approval(
    catalogue: Catalogue, canvas: Flow
) -> None:
    add = call("add_component", 2, type="TextInput")
    who, model = scripted_assistant(catalogue, "build_flow", [rename(canvas, "Ada"), add], "Both are done.")
    waiting = await play(who, "Call the bot Ada, add a text input", canvas)
    assert (waiting.outcome, waiting.actions, len(waiting.approvals), waiting.deferred) == ("pending", [], 1, True)
    result = await play(who, "yes", canvas)
    assert [action.kind for action in result.actions] == ["configure", "add_component"]
    assert len(model.tool_answers(-1)) == 2


async def test_a_call_after_one_that_is_denied_is_not_made(catalogue: Catalogue, canvas: Flow) -> None:
    add = call("add_component", 2, type="TextInput")
    who, model = scripted_assistant(catalogue, "build_flow", [rename(canvas, "Ada"), add], "I did nothing.")
    await play(who, "Call the bot Ada, add a text input", canvas)
    result = await play(who, "no", canvas)
    assert (result.actions, result.after) == ([], canvas)
    assert "Not done: it waited for an earlier call" in model.tool_answers(-1)[-1]


async def test_a_held_call_that_needs_an_approval_asks_when_its_turn_comes(
    catalogue: Catalogue, canvas: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer_consents(monkeypatch)
    send = call("do_with_consent", 2, kind="outbound")
    who, model = scripted_assistant(catalogue, "build_flow", [rename(canvas, "Ada"), send], "Both are done.")
    first = await play(who, "Call the bot Ada and send it", canvas)
    assert [one.kind for one in first.approvals.values()] == ["edit"]
    second = await play(who, "yes", canvas)
    assert [one.kind for one in second.approvals.values()] == ["outbound"]
    assert "May I send data to api.example.com?" in second.text
    assert name_of(second.after) == "Ada"
    assert (await play(who, "yes", second.after)).outcome == "complete"
    assert "Done: outbound it." in model.tool_answers(-1)


async def test_a_run_does_not_overtake_the_edit_that_it_should_test(catalogue: Catalogue, canvas: Flow) -> None:
    runner = StandInRunner(results=[ran("hi")])
    run = call("run_flow", 2, input="hi")
    who, _ = scripted_assistant(catalogue, "build_flow", [rename(canvas, "Ada"), run], "Done.", "Done.", runner=runner)
    waiting = await play(who, "Call the bot Ada", canvas)
    assert (waiting.outcome, waiting.runs) == ("pending", [])
    result = await play(who, "yes", canvas)
    assert len(result.runs) == 1
    assert name_of(result.after) == "Ada"


@pytest.mark.parametrize(
    ("language", "asked"),
    [("it", "Posso inviare dati a api.example.com?"), ("ja", "api.example.com にデータを送信"), ("zh", "发送数据")],
)
async def test_a_consent_is_asked_in_the_language_of_the_message(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, language: str, asked: str
) -> None:
    offer_consents(monkeypatch)
    read = json.dumps({"intent": "build_flow", "language": language, "english": "Do it"})
    who, _ = scripted_assistant(catalogue, read, call("do_with_consent", 1, kind="outbound"))
    assert asked in (await play(who, "...")).text


async def test_searches_do_not_wait(catalogue: Catalogue, canvas: Flow) -> None:
    look = call("search_components", 2, query="text input")
    who, model = scripted_assistant(catalogue, "build_flow", [rename(canvas, "Ada"), look], "Done.")
    await play(who, "Call the bot Ada", canvas)
    result = await play(who, "yes", canvas)
    assert result.outcome == "complete"
    assert any("TextInput" in answer for answer in model.tool_answers(-1))


async def test_the_demo_planner_takes_plain_words_too(catalogue: Catalogue, canvas: Flow) -> None:
    who = assistant(catalogue)
    waiting = await play(who, "Set the sender name of Chat Output to 'Ada'", canvas)
    assert waiting.outcome == "pending", waiting.text
    result = await play(who, "sí, adelante", canvas)
    assert (result.outcome, name_of(result.after)) == ("complete", "Ada")


@pytest.mark.parametrize("text", ["yes please", "ja, mach", "好的"])
async def test_a_plain_yes_puts_the_flow_that_was_just_offered_on_the_canvas(catalogue: Catalogue, text: str) -> None:
    who, model = scripted_assistant(catalogue, "build_flow", call("build_flow", 1, spec=ECHO), "I built an echo.")
    assert (await play(who, "Build an echo")).proposal is not None
    result = await play(who, text)
    assert [node.type for node in result.after.nodes] == ["ChatInput", "ChatOutput"]
    assert len(classifications(model)) == 1


async def test_a_no_in_other_words_sets_the_offered_flow_aside(catalogue: Catalogue) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", call("build_flow", 1, spec=ECHO), "I built an echo.", reading("deny")
    )
    await play(who, "Build an echo")
    result = await play(who, "rather not today")
    assert (result.outcome, result.after.nodes) == ("complete", ())
    assert "a flow to be put on the canvas" in classifications(model)[-1]


@pytest.mark.parametrize("answer", ["I built an echo. Shall I run it?", "回声已建好。要运行吗？"])
async def test_a_yes_to_another_question_is_left_to_the_model(catalogue: Catalogue, answer: str) -> None:
    who, model = scripted_assistant(
        catalogue, "build_flow", call("build_flow", 1, spec=ECHO), answer, "question", "It echoes."
    )
    await play(who, "Build an echo")
    assert (await play(who, "yes")).after.is_empty
    assert len(classifications(model)) == 2


async def test_a_yes_that_also_asks_for_a_run_is_run_and_not_lost(catalogue: Catalogue) -> None:
    yes_and_run = '{"intent": "run_flow", "language": "en", "mandate": {"run": ["Ada"]}, "reply": "approve"}'
    run = call("run_flow", 2, input="My name is Ada")
    who, _ = scripted_assistant(
        catalogue, "build_flow", call("build_flow", 1, spec=ECHO), "Built.", yes_and_run, run, "It ran."
    )
    await play(who, "Build an echo")
    result = await play(who, "put it on the canvas and tell it that my name is Ada")
    assert [run.input for run in result.record.runs if run.by == "user"] == ["My name is Ada"]
    assert len(result.after.nodes) == 2
    assert result.record.proposal is not None
    assert result.record.proposal.status == "applied"


async def test_the_record_of_a_turn_that_waits_says_so(catalogue: Catalogue, canvas: Flow) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", rename(canvas, "Ada"))
    waiting = await play(who, "Call the bot Ada", canvas)
    assert waiting.record.waiting
    assert waiting.record.text == "I am waiting for your answer. Nothing was changed. Nothing was run."
