"""The demo planner: what it builds, changes, runs and answers, and what it says it cannot do."""

import re

import pytest

from agent.assistant import Assistant
from agent.demo.planner import ABILITIES, demo_intent
from agent.demo.reading import read
from agent.demo.replies import reply
from agent.demo.words import LANGUAGES
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import Intent, TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from runtime.results import RunError
from tests.shared.flow_texts import LOUDER
from tests.shared.stand_ins import ComponentRunner, StandInRunner, ran

SPLITTING = """name: Splitter
nodes:
  chat: ChatInput
  pieces: SplitText
  listed: ParserComponent
  answer: ChatOutput
edges:
  chat.message -> pieces.data_inputs
  pieces.dataframe -> listed.input_data
  listed.parsed_text -> answer.input_value
"""


@pytest.fixture
def louder(catalogue: Catalogue) -> Flow:
    flow = build(LOUDER, catalogue).flow
    assert flow is not None
    return flow


async def ask(
    catalogue: Catalogue, text: str, flow: Flow | None = None, runner: StandInRunner | None = None
) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), runner or StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=text, flow=flow, apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def types(flow: Flow | None) -> list[str]:
    assert flow is not None
    return sorted(node.type for node in flow.nodes)


def wires(flow: Flow) -> set[tuple[str, str, str, str]]:
    kinds = {node.id: node.type for node in flow.nodes}
    return {(kinds[e.source], e.source_port, kinds[e.target], e.target_port) for e in flow.edges}


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("Build an echo flow", "build_flow"),
        ("can you build an echo flow?", "build_flow"),
        ("run it with hello", "run_flow"),
        ("what does the Chat Input do?", "question"),
        ("Which component reads a file?", "question"),
        ("tell me a joke", "off_topic"),
        ("what's the weather like?", "off_topic"),
        ("Build a flow that tells a joke", "build_flow"),
        ("", "question"),
    ],
)
def test_a_message_is_taken_for_what_it_is(message: str, intent: Intent) -> None:
    assert demo_intent(message) == intent


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    [
        "Build a flow that echoes what I say",
        "Create a chatbot that repeats the message",
        "make a flow from chat input to chat output",
        "I want a bot that answers with the same text",
    ],
)
async def test_an_echo_is_built_however_it_is_asked_for(catalogue: Catalogue, message: str) -> None:
    result = await ask(catalogue, message)
    assert types(result.proposal) == ["ChatInput", "ChatOutput"]
    assert result.faults == []
    assert "I built" in result.text


@pytest.mark.anyio
async def test_a_prompt_is_built_and_run_with_what_was_said(catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("probe"), ran("Say it louder: hello")])
    result = await ask(
        catalogue,
        "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it, "
        "then run it with hello",
        runner=runner,
    )
    assert types(result.after) == ["ChatInput", "ChatOutput", "Prompt Template"]
    assert ("ChatInput", "message", "Prompt Template", "text") in wires(result.after)
    assert [text for _, text in runner.asked] == ["hello", "hello"]
    assert result.runs[-1].output == "Say it louder: hello"
    assert "Say it louder: hello" in result.text
    assert result.models == ["demo"]
    assert result.usage == {}, "rules use no tokens"


@pytest.mark.anyio
async def test_other_variables_become_text_inputs_or_take_the_value_that_was_said(catalogue: Catalogue) -> None:
    result = await ask(catalogue, 'Build a bot with the prompt "{style} for {reader}: {text}" where style is formal')
    assert result.proposal is not None
    assert types(result.proposal) == ["ChatInput", "ChatOutput", "Prompt Template", "TextInput"]
    prompt = next(node for node in result.proposal.nodes if node.type == "Prompt Template")
    assert prompt.value("style") == "formal"
    assert ("TextInput", "text", "Prompt Template", "reader") in wires(result.proposal)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("Build a flow that extracts all email addresses from the chat", "@"),
        ("make a flow that finds the numbers in a message", r"\d+"),
        (r"create a flow that extracts text matching the pattern 'AB-\d{4}'", r"AB-\d{4}"),
    ],
)
async def test_an_extraction_gets_its_pattern(catalogue: Catalogue, message: str, pattern: str) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    extract = next(node for node in result.proposal.nodes if node.type == "RegexExtractorComponent")
    assert pattern in str(extract.value("pattern"))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "fixed", "wired"),
    [
        ("Build a flow that puts 'Dear customer,' before the chat input", "text1", "text2"),
        ("Build a flow that appends 'Kind regards' to the message", "text2", "text1"),
    ],
)
async def test_a_combination_keeps_the_order_that_was_said(
    catalogue: Catalogue, message: str, fixed: str, wired: str
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    combine = next(node for node in result.proposal.nodes if node.type == "CombineText")
    assert combine.value(fixed) in {"Dear customer,", "Kind regards"}
    assert ("ChatInput", "message", "CombineText", wired) in wires(result.proposal)


@pytest.mark.anyio
async def test_spec_text_is_built_as_it_is(catalogue: Catalogue) -> None:
    result = await ask(catalogue, f"Build this flow:\n{LOUDER}")
    assert types(result.proposal) == ["ChatInput", "ChatOutput", "Prompt Template"]


@pytest.mark.anyio
async def test_changes_apply_in_order_and_then_it_runs(catalogue: Catalogue, louder: Flow) -> None:
    result = await ask(catalogue, "Change the prompt to 'Whisper: {text}' and run it with 'be quiet'", louder)
    assert [action.kind for action in result.actions] == ["configure"]
    prompt = next(node for node in result.after.nodes if node.type == "Prompt Template")
    assert prompt.value("template") == "Whisper: {text}"
    assert len(result.after.edges) == 2, "the variable stayed, so did its edge"
    assert len(result.runs) == 1


@pytest.mark.anyio
async def test_a_component_is_added_and_connected_to_what_was_named(catalogue: Catalogue) -> None:
    alone = build("name: One\nnodes:\n  a: ChatInput\n", catalogue).flow
    result = await ask(catalogue, "Add a Chat Output and connect the chat input to it", alone)
    assert [action.kind for action in result.actions] == ["add_component", "connect"]
    assert wires(result.after) == {("ChatInput", "message", "ChatOutput", "input_value")}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "words",
    ["remove the prompt template", "delete the prompt", "entferne den Prompt", "remove the step 'Prompt Template'"],
)
async def test_the_neighbours_of_a_removed_component_are_connected(
    catalogue: Catalogue, louder: Flow, words: str
) -> None:
    removed = await ask(catalogue, words, louder)
    assert types(removed.after) == ["ChatInput", "ChatOutput"]
    assert wires(removed.after) == {("ChatInput", "message", "ChatOutput", "input_value")}


@pytest.mark.anyio
async def test_a_message_that_connects_the_neighbours_itself_is_done_as_it_says(
    catalogue: Catalogue, louder: Flow
) -> None:
    text = "Remove the prompt template and connect the chat input to the chat output"
    result = await ask(catalogue, text, louder)
    assert wires(result.after) == {("ChatInput", "message", "ChatOutput", "input_value")}
    assert "could not finish" not in result.text


@pytest.mark.anyio
async def test_a_connection_is_removed_without_its_ends_and_neighbours_that_do_not_fit_stay_apart(
    catalogue: Catalogue, louder: Flow
) -> None:
    splitting = build(SPLITTING, catalogue).flow
    assert splitting is not None
    removed = await ask(catalogue, "remove the split text", splitting)
    assert types(removed.after) == ["ChatInput", "ChatOutput", "ParserComponent"]
    assert wires(removed.after) == {("ParserComponent", "parsed_text", "ChatOutput", "input_value")}
    cut = await ask(catalogue, "disconnect the chat input from the prompt template", louder)
    assert len(cut.after.nodes) == 3
    assert len(cut.after.edges) == 1


@pytest.mark.anyio
async def test_a_field_is_set_by_its_label(catalogue: Catalogue, louder: Flow) -> None:
    result = await ask(catalogue, "set the sender name of the chat output to 'Ada'", louder)
    output = next(node for node in result.after.nodes if node.type == "ChatOutput")
    assert output.value("sender_name") == "Ada"


@pytest.mark.anyio
async def test_what_is_not_on_the_canvas_is_said_and_nothing_changes(catalogue: Catalogue, louder: Flow) -> None:
    result = await ask(catalogue, "remove the agent", louder)
    assert result.after == louder
    assert result.actions == []
    assert "not on the canvas" in result.text


@pytest.mark.anyio
async def test_questions_are_answered_from_the_catalogue_and_the_canvas(catalogue: Catalogue, louder: Flow) -> None:
    component = await ask(catalogue, "What does the Regex Extractor do?")
    assert "RegexExtractorComponent" in component.text
    search = await ask(catalogue, "which component splits text into chunks?")
    assert "SplitText" in search.text
    value = await ask(catalogue, "what is the template of the prompt template?", louder)
    assert "Say it louder: {text}" in value.text
    flow = await ask(catalogue, "what does this flow do?", louder)
    assert "Chat" in flow.text
    for result in (component, search, value, flow):
        assert (result.intent, result.actions, result.runs) == ("question", [], [])


@pytest.mark.anyio
async def test_what_it_cannot_do_it_says_with_what_it_can(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "Build a flow that books flights and pays for them")
    assert result.proposal is None
    assert result.actions == []
    assert ABILITIES in result.text


@pytest.mark.anyio
async def test_a_failed_run_is_reported_as_failed(catalogue: Catalogue, louder: Flow) -> None:
    runner = StandInRunner(results=[ran(error=RunError(code="timeout", message="It took too long."))])
    result = await ask(catalogue, "run it with hello", louder, runner)
    assert result.runs[-1].error is not None
    assert "It took too long." in result.text
    assert "it answered" not in result.text


@pytest.mark.anyio
async def test_running_an_empty_canvas_is_refused_in_words(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "run it")
    assert result.runs == []
    assert "no flow" in result.text


FOR_A_MODEL = re.compile(
    r"tell the user|ask the user|build one first|do not (?:ask|call)|\b[a-z]+_(?:flow|component)s?\b", re.IGNORECASE
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    ["run it", "run it with hello", "undo", "undo that", "remove the parser", "connect a to b",
     "use the template nothing",
     "read the file nothing.txt", "führe ihn aus", "実行して", "set the temperature of the model to hot"],
)  # fmt: skip
async def test_nothing_that_is_meant_for_a_model_reaches_the_user(
    catalogue: Catalogue, louder: Flow, message: str
) -> None:
    for flow in (None, louder):
        result = await ask(catalogue, message, flow)
        assert result.text.strip()
        assert FOR_A_MODEL.search(result.text) is None, result.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    "text",
    [
        'Ändere den Prompt auf "Tschüss {name}"',
        'nein, lieber "Servus {name}"',
        'führe ihn aus mit "hallo"',
        "execute com olá",
        'remplace "Merci" par "Bonjour {nom}"',
    ],
)
async def test_words_to_put_into_a_flow_are_taken_for_no_greeting_and_no_thanks(
    catalogue: Catalogue, louder: Flow, text: str
) -> None:
    result = await ask(catalogue, text, louder)
    assert result.text not in {reply(key, code) for key in ("greeting", "thanks") for code in LANGUAGES}


@pytest.mark.anyio
async def test_a_flow_that_says_thanks_is_not_answered_with_a_courtesy(catalogue: Catalogue) -> None:
    result = await ask(catalogue, 'Crée un flux qui répond "Merci" à chaque message')
    assert result.text == reply("unable", "fr")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "key", "language"),
    [
        ("hi", "greeting", "en"),
        ("oh hello there!", "greeting", "en"),
        ("guten Morgen", "greeting", "de"),
        ("你好", "greeting", "zh"),
        ("thanks a lot, that helped", "thanks", "en"),
        ("das war super, danke!", "thanks", "de"),
    ],
)
async def test_a_courtesy_is_still_answered_with_one(catalogue: Catalogue, text: str, key: str, language: str) -> None:
    assert (await ask(catalogue, text)).text == reply(key, language)


@pytest.mark.anyio
async def test_a_component_that_was_written_is_not_said_to_be_nothing(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "create a custom component that reverses text", runner=ComponentRunner())
    assert "TextReverser" in result.text
    assert result.text != reply("unchanged", "en")


@pytest.mark.anyio
async def test_a_run_that_failed_is_told_with_its_remedy(catalogue: Catalogue, louder: Flow) -> None:
    failed = ran(error=RunError(code="missing_model", message="No model is set.", fix="Set OPENAI_API_KEY."))
    result = await ask(catalogue, "run it with hello", louder, StandInRunner(results=[failed]))
    assert "No model is set. Set OPENAI_API_KEY." in result.text


@pytest.mark.anyio
async def test_a_missing_provider_is_said_in_the_language_of_the_message(catalogue: Catalogue) -> None:
    missing = RunError(code="missing_model", message="Provider 'openai' is not configured.", fix="Set OPENAI_API_KEY.")
    result = await ask(catalogue, "Baue mir einen Chatbot", runner=StandInRunner(results=[ran(error=missing)]))
    assert reply("key_needed", "de") in result.text


@pytest.mark.anyio
async def test_a_run_whose_input_is_not_understood_is_said_to_be_left_out(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "Baue einen Echo-Flow und lass den neuen Flow gleich mit Ada laufen")
    assert types(result.flow) == ["ChatInput", "ChatOutput"]
    assert reply("run_unread", "de") in result.text


@pytest.mark.anyio
async def test_a_build_whose_trial_run_failed_is_told_with_the_remedy(catalogue: Catalogue) -> None:
    missing = RunError(code="missing_key", message="The key is refused.", fix="Set another OPENAI_API_KEY.")
    result = await ask(catalogue, "Build a chatbot", runner=StandInRunner(results=[ran(error=missing)]))
    assert result.proposal is not None or not result.flow.is_empty
    [note] = [line for line in result.text.splitlines() if line.startswith("Note: ")]
    assert "The key is refused. Set another OPENAI_API_KEY." in note


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    [
        "how do I use my own component?", "how do I write a custom component?", "can I use my own component in a flow?",
        "Wie benutze ich meine eigene Komponente?", "Comment utiliser mon propre composant ?",
        "¿Cómo uso mi propio componente?", "Como uso meu próprio componente?", "Come uso il mio componente?",
        "自分のコンポーネントはどう使いますか？", "我怎么使用自己的组件？",
    ],
)  # fmt: skip
async def test_how_to_use_a_component_of_ones_own_is_told(catalogue: Catalogue, louder: Flow, message: str) -> None:
    for canvas in (None, louder):
        result = await ask(catalogue, message, canvas)
        assert (result.intent, result.outcome) == ("question", "complete")
        assert result.text == reply("own_component", read(message).language)


@pytest.mark.anyio
async def test_what_was_changed_before_a_plan_stopped_is_said_in_the_users_language(
    catalogue: Catalogue, louder: Flow
) -> None:
    result = await ask(catalogue, "Ajoute 'Text Input' et connecte 'Text Input' avec 'Nowhere'", louder)
    assert len(result.flow.nodes) == len(louder.nodes) + 1
    assert result.text.endswith(reply("stand", "fr", count=1))
