"""Reading a message: its language, its parts, and those that no flow can do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.demo.intent import demo_intent
from agent.demo.reading import Reading, read
from agent.demo.words import LANGUAGES, fold


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("make a bot that summarizes mail and then cooks dinner", "and then cooks dinner"),
        ("Baue einen Chatbot, der Fragen beantwortet, und dann auch den Rasen mäht", "dann auch den Rasen mäht"),
        ("Crée un chatbot puis imprime tout", "puis imprime tout"),
        ("Crea un bot que traduzca y luego compre el pan", "luego compre el pan"),
        ("Cria um chatbot e depois lava a louça", "e depois lava a louça"),
        ("Crea un chatbot e poi cucina la cena", "e poi cucina la cena"),
        ("要約するボットを作って、ついでに掃除もして", "ついでに掃除もして"),
        ("做个聊天机器人，顺便帮我买菜", "顺便帮我买菜"),
        ("A flow that sums up the news every morning", "every morning"),
        ("Telegram bot bauen", "Telegram"),
        ("做个微信机器人", "微信"),
        ("build a flow that extracts the total from a photo of a receipt", "from a photo"),
        ("レシートの画像から合計金額を抜き出すフローを作って", "画像から"),
        ("um chatbot que descreve imagens", "descreve imagens"),
    ],
)
def test_what_no_flow_can_do_is_named_in_the_users_words(message: str, left_out: str) -> None:
    reading = read(message)
    assert left_out in " ".join([*reading.impossible_parts, *reading.unrecognised_parts])
    assert reading.recipes


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("hello there", "en"), ("chatbot bauen", "de"), ("salut toi", "fr"), ("hazme un bot", "es"),
        ("faz um robô", "pt"), ("fammi un bot", "it"), ("ボット作って", "ja"), ("做个机器人", "zh"),
        ("翻訳", "ja"), ("翻译", "zh"), ("renomeie Prompt para Boas-vindas", "pt"),
        ("renomeie Chat Input para Entrada", "pt"), ("renombra Chat Input a Entrada", "es"),
        ("renomme Chat Input en Entrée", "fr"), ("benenne Chat Input in Eingang um", "de"),
        ("quanto custa o Langflow?", "pt"), ("a support bot for my photo studio", "en"),
        ("A greeting for visitors", "en"),
        ("Tira a saída de chat", "pt"), ("Set the pattern of the Regex Extractor to '#\\w+'", "en"),
    ],
)  # fmt: skip
def test_the_language_of_a_short_message_is_known(message: str, language: str) -> None:
    assert read(message).language == language


def test_a_part_of_a_message_is_in_the_language_of_the_whole() -> None:
    assert read("Set the sender", "Set the sender, and run it with olá mundo").language == "en"
    assert read("Regex Extractor", "Defina o padrão do Regex Extractor e execute com 12").language == "pt"


def test_quoted_words_name_no_recipe() -> None:
    assert "summary" not in [recipe.name for recipe in read("Build a bot that answers 'a summary' to all").recipes]


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text(max_size=120))
@settings(max_examples=100)
def test_every_part_stands_in_the_message(message: str) -> None:
    reading = Reading(message)
    assert reading.language in LANGUAGES
    assert all(part.text in message for part in reading.parts)
    assert all(one in message for one in reading.unrecognised_parts)


@pytest.mark.parametrize(
    "message", ["O que faz o componente Split Text?", "Que fait le composant Split Text ?", "O que faz o Split Text?"]
)
def test_what_a_component_does_is_asked_and_nothing_is_built(message: str) -> None:
    assert not read(message).has("build")
    assert demo_intent(message) == "question"
