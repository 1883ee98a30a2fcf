"""Parts of a flow that a message names by what they do: removed, and a prompt put between them, in eight languages."""

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


def types(flow: Flow) -> list[str]:
    return sorted(node.type for node in flow.nodes)


@pytest.mark.parametrize(
    "message",
    ["add a prompt between the input and the model", "Füge zwischen Eingabe und Modell noch einen Prompt ein",
     "ajoute un prompt entre l'entrée et le modèle", "añade un prompt entre la entrada y el modelo",
     "coloca um prompt entre a entrada e o modelo", "aggiungi un prompt tra l'ingresso e il modello",
     "入力とモデルの間にプロンプトを追加して", "在输入和模型之间加一个提示词"],
)  # fmt: skip
async def test_a_prompt_is_put_on_the_way_between_two_parts(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    after = (await ask(whole, message, before)).flow
    assert types(after) == sorted([*types(before), "Prompt Template"])
    [new] = [node for node in after.nodes if before.node(node.id) is None]
    [model] = [node for node in after.nodes if node.type == "LanguageModelComponent"]
    assert [edge.target for edge in after.edges if edge.source == new.id] == [model.id]
    assert new.value("template") == "{text}"


@pytest.mark.parametrize(
    "message",
    ["remove the model", "lösch bitte das Modell", "enlève le modèle", "quita el modelo", "tira o modelo",
     "togli il modello", "モデルを削除して", "删除模型"],
)  # fmt: skip
async def test_a_part_is_removed_by_its_role(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert types(result.flow) == ["ChatInput", "ChatOutput", "Prompt Template"]


@pytest.mark.parametrize(
    "message",
    ["remove the emojis from the model", "lösch die Smileys aus der Ausgabe", "モデルの絵文字を削除して"],
)
async def test_a_part_stays_when_something_in_it_is_to_be_removed(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    assert types((await ask(whole, message, before)).flow) == types(before)


@pytest.mark.parametrize("message", ["quita el prompt y añade memoria", "add memory and remove memory"])
async def test_half_of_an_addition_and_a_removal_is_not_done_in_silence(whole: Catalogue, message: str) -> None:
    before = canvas("chatbot", whole)
    result = await ask(whole, message, before)
    assert result.flow == before
    assert result.text == reply("which_change", read(message).language, said=message)


@pytest.mark.parametrize(
    "message", ["füge einen Prompt zwischen Ausgabe und Eingabe ein", "add a prompt between the input and the output"]
)
async def test_the_order_in_which_the_ends_are_named_does_not_count(whole: Catalogue, message: str) -> None:
    after = (await ask(whole, message, canvas("chatbot", whole))).flow
    [answer] = [node for node in after.nodes if node.type == "ChatOutput"]
    [source] = [after.node(edge.source) for edge in after.edges if edge.target == answer.id]
    assert source is not None
    assert source.type == "Prompt Template"


async def test_a_way_that_is_not_there_is_asked_for(whole: Catalogue) -> None:
    before = canvas("broken", whole)
    result = await ask(whole, "añade un prompt entre el modelo y la salida", before)
    assert (result.flow, result.text) == (before, reply("no_place", "es", why="modelo, salida"))
