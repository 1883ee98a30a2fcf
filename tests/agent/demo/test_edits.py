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
from runtime.install.environment import RunnerEnvironment
from tests.agent.demo.first_messages import canvas
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
    "message",
    ["add a step that makes the answer upper case", "füge einen Schritt hinzu: Großbuchstaben",
     "ajoute une étape en majuscules",
     "añade un paso que lo pase a mayúsculas", "adiciona um passo para maiúsculas", "aggiungi un passo in maiuscolo",
     "大文字にするステップを追加して", "加一步，变成大写"],
)  # fmt: skip
async def test_a_step_is_put_before_the_answer(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    [step] = [node for node in result.flow.nodes if node.type == "Operations"]
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
