"""Changes in plain words, in eight languages: what they do to the canvas, and what is asked back."""

import pytest

from agent.assistant import Assistant
from agent.demo.reading import read
from agent.demo.replies import reply
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.new_nodes import with_display_name
from runtime.install.environment import RunnerEnvironment
from tests.agent.demo.first_messages import canvas
from tests.shared.flow_texts import LOUDER, flow_of
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.engine, pytest.mark.anyio]


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


async def ask(whole: Catalogue, text: str, flow: Flow) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=whole)
    async with who.turn(TurnRequest(text=text, flow=flow, apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def types(flow: Flow) -> set[str]:
    return {node.type for node in flow.nodes}


@pytest.mark.parametrize(
    "message",
    ["clear the canvas", "leere die Fläche, alles löschen", "vide tout", "borra todo", "apaga tudo", "cancella tutto",
     "全部消して", "清空画布"],
)  # fmt: skip
async def test_the_canvas_is_cleared(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert result.flow.is_empty


@pytest.mark.parametrize(
    "message",
    ["make it polite", "mach es höflicher", "rends-le plus poli", "que sea más amable", "deixa mais educado",
     "rendilo più gentile", "もっと丁寧に答えて", "回答要礼貌一点"],
)  # fmt: skip
async def test_a_wish_for_the_manner_becomes_an_instruction_of_the_model(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    [model] = [node for node in result.flow.nodes if node.type == "LanguageModelComponent"]
    assert message in str(model.value("system_message"))


@pytest.mark.parametrize(
    "message",
    ["use another model", "nimm ein anderes Modell", "utilise un autre modèle", "usa otro modelo", "usa outro modelo",
     "usa un altro modello", "別のモデルにして", "换个模型"],
)  # fmt: skip
async def test_which_other_model_is_asked_back(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert result.flow == before
    assert "openai:gpt-4o" in result.text


@pytest.mark.parametrize(
    ("message", "name"),
    [("add a step that makes the answer upper case", "Step"), ("füge einen Schritt hinzu: Großbuchstaben", "Schritt"),
     ("ajoute une étape en majuscules", "Étape"), ("añade un paso que lo pase a mayúsculas", "Paso"),
     ("adiciona um passo para maiúsculas", "Etapa"), ("aggiungi un passo in maiuscolo", "Passaggio"),
     ("大文字にするステップを追加して", "ステップ"), ("加一步，变成大写", "步骤")],
)  # fmt: skip
async def test_a_step_is_put_before_the_answer_and_named_in_the_language_of_the_message(
    whole: Catalogue, message: str, name: str
) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    [step] = [node for node in result.flow.nodes if node.type == "Operations"]
    assert step.display_name == name
    [output] = [node for node in result.flow.nodes if node.type == "ChatOutput"]
    assert [edge.source for edge in result.flow.edges if edge.target == output.id] == [step.id]
    assert len(result.flow.edges) == 4


@pytest.mark.parametrize(
    ("message", "name"),
    [("rename Prompt Template to Answer", "Answer"), ("benenne Prompt Template in Antwort um", "Antwort"),
     ("renomme Prompt Template en Réponse", "Réponse"), ("renombra Prompt Template a Respuesta", "Respuesta"),
     ("benenne Prompt Template in Vorlage um", "Vorlage")],
)  # fmt: skip
async def test_a_component_gets_the_name_that_is_asked_for(whole: Catalogue, message: str, name: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert name in {node.display_name for node in result.flow.nodes}


@pytest.mark.parametrize(
    ("message", "language"),
    [("benenne Answer in Antwort um", "de"), ("rinomina Answer in Risposta", "it"),
     ("renomme Answer en Réponse", "fr")],
)  # fmt: skip
async def test_names_of_components_do_not_change_the_language(whole: Catalogue, message: str, language: str) -> None:
    assert read(message).language == language
    assert reply("empty", language) in (await ask(whole, message, Flow.empty())).text


@pytest.mark.parametrize("message", ["give it web search", "häng eine Websuche dran", "加上网络搜索"])
async def test_a_model_that_gets_a_tool_becomes_an_agent_in_its_place(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert types(result.flow) == {"ChatInput", "Prompt Template", "Agent", "UnifiedWebSearch", "ChatOutput"}
    assert len(result.flow.edges) == 4


@pytest.mark.parametrize(
    "message", ["fix it", "reparier es", "répare", "arréglalo", "conserta", "riparalo", "直して", "修复"]
)
async def test_a_loose_output_is_connected(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("broken", whole))
    [output] = [node for node in result.flow.nodes if node.type == "ChatOutput"]
    assert any(edge.target == output.id for edge in result.flow.edges)


@pytest.mark.parametrize(
    "message",
    ["make it polite. Also put the temperature down to 0.1.", "My boss likes apples. The ladder is green.",
     "wire the frobnicator", "mach die Temperatur höher"],
)  # fmt: skip
async def test_half_of_a_message_is_not_done_in_silence(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert result.flow == before
    assert "?" in result.text


@pytest.mark.parametrize("message", ["add memory", "füge ein Gedächtnis hinzu", "añade memoria", "记忆加上"])
async def test_memory_is_connected_with_the_prompt(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    [memory] = [node for node in result.flow.nodes if node.type == "Memory"]
    assert [edge.target_port for edge in result.flow.edges if edge.source == memory.id] == ["history"]


@pytest.mark.parametrize(
    "message",
    ["remove everything except the chat input and the chat output",
     "clear everything except Chat Input and Chat Output, please", "lösche alles außer Chat Input und Chat Output",
     "entferne bitte alle Komponenten bis auf Chat Input und Chat Output",
     "supprime tout sauf Chat Input et Chat Output", "borra todo excepto Chat Input y Chat Output",
     "elimina todos los componentes menos Chat Input y Chat Output", "apague tudo exceto Chat Input e Chat Output",
     "cancella tutto tranne Chat Input e Chat Output", "Chat Input と Chat Output 以外をすべて削除して",
     "除了 Chat Input 和 Chat Output 以外全部删除", "删除除了 Chat Input 和 Chat Output 之外的所有组件"],
)  # fmt: skip
async def test_what_is_named_stays_when_everything_else_is_removed(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert sorted(node.type for node in result.flow.nodes) == ["ChatInput", "ChatOutput"]
    assert len(result.flow.edges) == 1


@pytest.mark.parametrize(
    "message",
    ["remove everything except the Frobnicator", "remove everything except Chat Input and the Frobnicator",
     "lösche alles außer dem Frobnicator", "supprime tout sauf le Frobnicator", "borra todo excepto el Frobnicator",
     "apague tudo exceto o Frobnicator", "cancella tutto tranne il Frobnicator", "Frobnicator 以外をすべて削除して",
     "除了 Frobnicator 以外全部删除"],
)  # fmt: skip
async def test_nothing_is_removed_when_what_should_stay_is_not_there(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert result.flow == before
    assert "Frobnicator" in result.text
    assert reply("stopped", read(message).language, reason="§").partition("§")[0] in result.text


async def test_a_removal_of_everything_else_is_asked_about_as_any_other_removal(whole: Catalogue) -> None:
    before = canvas("chatbot", whole)
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=whole)
    outcomes: list[str] = []
    for message in ("clear the canvas", "remove Language Model", "remove everything except Chat Input"):
        async with who.turn(TurnRequest(text=message, flow=before, session=message)) as stream:
            events = [event async for event in stream]
        assert isinstance(events[-1], TurnEnded)
        outcomes.append(events[-1].result.outcome)
    await who.aclose()
    assert len(set(outcomes)) == 1


@pytest.mark.parametrize(
    "message",
    ["remove the last step", "lösche den letzten Schritt", "supprime la dernière étape", "quita el último paso",
     "remove a última etapa", "togli l'ultimo passaggio", "最後のステップを削除して", "删除最后一步"],
)  # fmt: skip
async def test_the_last_step_is_removed_and_its_neighbours_are_joined(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert [node.type for node in result.flow.nodes] == ["ChatInput", "Prompt Template", "ChatOutput"]
    assert [(edge.source_port, edge.target_port) for edge in result.flow.edges] == [
        ("message", "text"), ("prompt", "input_value"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "message",
    ["remove the summary step", "entferne den Schritt mit der Zusammenfassung", "supprime l'étape du résumé",
     "quita el paso del resumen", "remove a etapa do resumo", "togli il passaggio del riassunto",
     "要約のステップを削除して", "删除总结步骤"],
)  # fmt: skip
async def test_a_step_is_removed_that_is_named_by_what_it_does(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("summary", whole))
    assert [node.type for node in result.flow.nodes] == ["ChatInput", "ChatOutput"]
    assert len(result.flow.edges) == 1


@pytest.mark.parametrize(
    "message",
    ["remove the uppercase step", "entferne den Schritt mit den Großbuchstaben", "supprime l'étape des majuscules",
     "quita el paso de las mayúsculas", "remove a etapa das maiúsculas", "togli il passaggio delle maiuscole",
     "大文字のステップを削除して", "删除大写步骤"],
)  # fmt: skip
async def test_a_step_that_is_not_there_is_not_added_when_it_is_to_be_removed(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert result.flow == before
    built = await ask(whole, "Now add a step that makes it upper case", before)
    assert len(built.flow.nodes) == len(before.nodes) + 1
    removed = await ask(whole, message, built.flow)
    assert {node.id for node in removed.flow.nodes} == {node.id for node in before.nodes}
    assert {edge.text for edge in removed.flow.edges} == {edge.text for edge in before.edges}


@pytest.mark.parametrize(
    "message",
    ["remove the translation step", "Entferne den Schritt mit der Übersetzung", "Supprime l'étape de traduction",
     "Quita el paso de la traducción", "Remove a etapa da tradução", "Togli il passaggio della traduzione",
     "翻訳のステップを削除して", "删除翻译步骤"],
)  # fmt: skip
async def test_nothing_is_built_where_nothing_is_to_be_removed(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, Flow.empty())
    assert (result.proposal, result.text) == (None, reply("empty", read(message).language))


@pytest.mark.parametrize(
    "message",
    ["add a frobnicator", "füge Frobnicator hinzu", "ajoute un composant Frobnicator",
     "añade el componente Frobnicator", "adiciona o componente Frobnicator", "aggiungi un Frobnicator",
     "Frobnicatorを追加して", "添加 Frobnicator 组件"],
)  # fmt: skip
async def test_a_component_that_does_not_exist_is_named_with_what_comes_near(whole: Catalogue, message: str) -> None:
    for before in (canvas("chatbot", whole), Flow.empty()):
        result = await ask(whole, message, before)
        assert result.flow == before
        assert "frobnicator'" in result.text.lower()
        assert "Calculator" in result.text


@pytest.mark.parametrize(
    "message",
    ["add a Webhook", "füge einen Webhook hinzu", "ajoute un Webhook", "añade un Webhook", "adicione um Webhook",
     "aggiungi un Webhook", "Webhookを追加して", "添加 Webhook"],
)  # fmt: skip
async def test_a_component_is_added_by_its_name(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert types(result.flow) - types(before) == {"Webhook"}


@pytest.mark.parametrize(
    "message",
    ["add a second prompt 'Whisper: {text}' between Prompt and Answer", "add a prompt 'Whisper: {text}' before Answer",
     'insert another prompt template "Whisper: {text}" after Prompt',
     "add a prompt that says 'Whisper: {text}' between Prompt and Answer",
     "Add a prompt between the prompt and the answer with the text 'Whisper: {text}'"],
)  # fmt: skip
async def test_one_more_prompt_is_added_with_its_words_and_the_other_keeps_its_own(
    whole: Catalogue, message: str
) -> None:
    flow = flow_of(LOUDER, whole)
    named = map(with_display_name, flow.components, ("Chat", "Prompt", "Answer"))
    flow = flow.with_views(named, flow.edges)
    result = await ask(whole, message, flow)
    first, second = (node for node in result.flow.nodes if node.type == "Prompt Template")
    assert (first.value("template"), second.value("template")) == ("Say it louder: {text}", "Whisper: {text}")
    assert {(first.id, second.id)} < {(edge.source, edge.target) for edge in result.flow.edges}
