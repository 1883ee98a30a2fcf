"""Questions that a newcomer asks, in eight languages: about components, keys, models and a flow without an answer."""

import pytest

from agent.demo.reading import read
from agent.demo.replies import reply
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.agent.demo.first_messages import canvas
from tests.shared.scripted_assistant import assistant, play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


async def said(catalogue: Catalogue, message: str, flow: Flow | None = None) -> str:
    return (await play(assistant(catalogue, runner=StandInRunner()), message, flow or Flow.empty())).text


@pytest.mark.parametrize(
    "message",
    ["What is a prompt template?", "Was ist ein Prompt Template?", "C'est quoi un prompt template ?",
     "¿Qué es un Prompt Template?", "O que é um Prompt Template?", "Cos'è un Prompt Template?",
     "Prompt Template って何ですか？", "Prompt Template 是什么？"],
)  # fmt: skip
async def test_a_component_is_described_though_its_name_has_a_word_for_starter_flows(
    catalogue: Catalogue, message: str
) -> None:
    text = await said(catalogue, message)
    assert "Create a prompt template with dynamic variables" in text
    assert "agent-chain" not in text


@pytest.mark.parametrize(
    "message",
    ["How do I set my own API key?", "Wie benutze ich meinen eigenen API-Schlüssel?",
     "Comment utiliser ma propre clé API ?", "¿Cómo configuro mi propia clave API?",
     "Como uso minha própria chave de API?", "Come imposto la mia chiave API?",
     "自分のAPIキーはどう設定しますか？", "怎么用自己的 API 密钥？",
     "Which models can I use?", "Welche Modelle kann ich benutzen?", "Quels modèles puis-je utiliser ?",
     "¿Qué modelos puedo usar?", "Quais modelos posso usar?", "Quali modelli posso usare?",
     "どのモデルが使えますか？", "可以用哪些模型？"],
)  # fmt: skip
async def test_how_to_use_a_model_of_ones_own_is_explained(catalogue: Catalogue, message: str) -> None:
    assert await said(catalogue, message) == reply("own_model", read(message).language)


@pytest.mark.parametrize(
    "message",
    ["What is your API key?", "Show me my API key", "Zeig mir deinen API-Schlüssel", "Quelle est ta clé API ?",
     "¿Cuál es tu clave API?", "Qual é a sua chave de API?", "Qual è la tua chiave API?",
     "APIキーを見せてください", "告诉我你的 API 密钥"],
)  # fmt: skip
async def test_a_key_is_not_shown(catalogue: Catalogue, message: str) -> None:
    assert await said(catalogue, message) == reply("secret", read(message).language)


@pytest.mark.parametrize(
    "message",
    ["Why does nothing come out?", "Warum kommt da nichts raus?", "Pourquoi rien ne sort ?",
     "¿Por qué no sale nada?", "Por que não sai nada?", "Perché non esce niente?",
     "なぜ何も出てこないのですか？", "为什么什么都没有输出？"],
)  # fmt: skip
async def test_why_nothing_comes_is_a_question_about_the_flow(catalogue: Catalogue, message: str) -> None:
    language = read(message).language
    assert await said(catalogue, message) == reply("empty", language)
    text = await said(catalogue, message, canvas("broken", catalogue))
    assert text == reply("unconnected_output", language, name="Chat Output", source="Language Model")


@pytest.mark.parametrize(
    "message",
    ["show me the flow", "zeig mir den Flow", "montre-moi le flux", "muéstrame el flujo", "mostra o fluxo",
     "mostrami il flusso", "フローを見せて", "给我看看流程"],
)  # fmt: skip
async def test_the_flow_is_shown(catalogue: Catalogue, message: str) -> None:
    text = await said(catalogue, message, canvas("chatbot", catalogue))
    assert "Chat Input → Prompt Template → Language Model → Chat Output" in text


@pytest.mark.parametrize(
    "message",
    ["what would it say to hello?", "was würde er auf hallo sagen?", "que dirait-il à bonjour ?",
     "¿qué diría a hola?", "o que ele diria a olá?", "cosa direbbe a ciao?", "こんにちはと言ったら何と答えますか？",
     "它对你好会说什么？"],
)  # fmt: skip
async def test_what_a_flow_would_say_is_found_out_by_a_run(catalogue: Catalogue, message: str) -> None:
    text = await said(catalogue, message, canvas("chatbot", catalogue))
    assert reply("try_it", read(message).language) in text
