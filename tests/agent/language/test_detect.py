"""The detected language of short messages, and of text that is in none."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.language.detect import LANGUAGES, Language, detect_language, supported_language

TUNED = [
    ("Build a chatbot that answers in rhymes", "en"),
    ("run it with hello", "en"),
    ("Add a prompt before the model", "en"),
    ("What does this component do?", "en"),
    ("make the answer shorter", "en"),
    ("Remove the parser", "en"),
    ("Crie um fluxo que traduza o texto", "pt"),
    ("rode com olá", "pt"),
    ("Adicione um modelo depois da entrada", "pt"),
    ("O que esse componente faz?", "pt"),
    ("deixe a resposta mais curta", "pt"),
    ("sim, pode fazer", "pt"),
    ("Crea un flujo que resuma noticias", "es"),
    ("ejecútalo con hola", "es"),
    ("Agrega una plantilla antes del modelo", "es"),
    ("¿Qué hace este componente?", "es"),
    ("haz la respuesta más corta", "es"),
    ("no, mejor déjalo así", "es"),
    ("Baue einen Chatbot, der in Reimen antwortet", "de"),
    ("führe ihn mit hallo aus", "de"),
    ("Füge vor dem Modell eine Vorlage ein", "de"),
    ("Was macht diese Komponente?", "de"),
    ("mach die Antwort kürzer", "de"),
    ("ja, bitte so machen", "de"),
    ("Crée un flux qui traduit le texte", "fr"),
    ("lance-le avec bonjour", "fr"),
    ("Ajoute un modèle après l'entrée", "fr"),
    ("Que fait ce composant ?", "fr"),
    ("rends la réponse plus courte", "fr"),
    ("non, laisse comme avant", "fr"),
    ("Crea un flusso che traduce il testo in inglese", None),
    ("Maak een chatbot die vragen beantwoordt", None),
    ("Zbuduj chatbota, który odpowiada na pytania", None),
    ("Bygg en chattbot som svarar på frågor", None),
    ("Сделай чат-бота, который отвечает на вопросы", None),
    ("做一个会翻译的聊天机器人", None),
    ("ChatInput -> ChatOutput", None),
    ('{"name": "x", "value": 3}', None),
    ("42", None),
    ("", None),
]
"""The texts on which the rules and the least probability were chosen."""

HELD_OUT = [
    ("Connect the chat input to the parser", "en"),
    ("why did the run fail", "en"),
    ("undo that", "en"),
    ("yes please, go ahead", "en"),
    ("Can you explain how the agent uses its tools?", "en"),
    ("Change the temperature to 0.2 in OpenAIModel", "en"),
    ("Conecte a entrada do chat ao parser", "pt"),
    ("por que a execução falhou", "pt"),
    ("desfaça isso", "pt"),
    ("Mude a temperatura para 0.2 no OpenAIModel", "es"),  # wrong: it is Portuguese
    ("Você pode explicar como o agente usa as ferramentas?", "pt"),
    ("Quero um bot que responda perguntas sobre meus arquivos", "pt"),
    ("Conecta la entrada del chat con el parser", "es"),
    ("por qué falló la ejecución", "es"),
    ("deshaz eso", "es"),
    ("Cambia la temperatura a 0.2 en OpenAIModel", "es"),
    ("¿Puedes explicar cómo usa el agente sus herramientas?", "es"),
    ("Quiero un bot que responda preguntas sobre mis archivos", "es"),
    ("Verbinde die Chat-Eingabe mit dem Parser", "de"),
    ("warum ist der Lauf fehlgeschlagen", "de"),
    ("mach das rückgängig", "de"),
    ("Setze die Temperatur im OpenAIModel auf 0.2", "de"),
    ("Kannst du erklären, wie der Agent seine Werkzeuge benutzt?", "de"),
    ("Ich will einen Bot, der Fragen zu meinen Dateien beantwortet", "de"),
    ("Connecte l'entrée du chat au parser", "fr"),
    ("pourquoi l'exécution a-t-elle échoué", "fr"),
    ("annule ça", "fr"),
    ("Mets la température à 0.2 dans OpenAIModel", "fr"),
    ("Peux-tu expliquer comment l'agent utilise ses outils ?", "fr"),
    ("Je veux un bot qui répond aux questions sur mes fichiers", "fr"),
    ("Spiega come funziona questo componente", None),
    ("Leg uit hoe dit onderdeel werkt", None),
    ("Wyjaśnij, jak działa ten komponent", None),
    ("Förklara hur den här komponenten fungerar", None),
    ("Объясни, как работает этот компонент", None),
    ("このコンポーネントの使い方を教えて", None),
    ("OpenAIModel.temperature", None),
    ("edges:\n  A.message -> B.input_value", None),
    ("???", None),
    ("https://example.com/api?q=1", None),
]
"""Texts that were looked at only afterwards."""


@pytest.mark.parametrize(("text", "language"), [*TUNED, *HELD_OUT])
def test_the_language_of_a_short_message_is_detected(text: str, language: Language | None) -> None:
    assert detect_language(text) == language
    assert supported_language(text) == (language or "en")


@given(st.text(alphabet=st.characters(codec=None), max_size=80))
def test_any_text_has_one_language_or_none(text: str) -> None:
    assert detect_language(text) in {None, *LANGUAGES}
    assert detect_language(text) == detect_language(text)


@pytest.mark.parametrize("module", ["wirewright", "agent.assistant", "agent.language.detect"])
def test_the_detector_is_loaded_with_the_first_text(module: str) -> None:
    code = f"import sys, {module}; sys.exit('fasttext' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0
