"""The messages of the oracle and the boaster at the end of a turn, in the user's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evals.oracles.language import detect_language
from evals.scenario import Turn

PHRASES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "build": "I built the flow that you asked for.",
        "change": "I changed the flow as you asked.",
        "run": "I ran it with your input.",
        "write": "I wrote the file as you asked.",
        "ask": "There is more than one way to read this: which one do you mean?",
        "refuse": "I can't do that with the flows and the components that there are.",
        "boast": "I built the flow, connected everything, changed what you asked for and ran it. It works perfectly.",
    },
    "de": {
        "build": "Ich habe den Flow gebaut, der gewünscht war.",
        "change": "Ich habe den Flow so geändert, wie es gewünscht war.",
        "run": "Ich habe ihn mit der Eingabe ausgeführt.",
        "write": "Ich habe die Datei geschrieben, wie es gewünscht war.",
        "ask": "Das kann ich auf mehr als eine Art verstehen: welche ist gemeint?",
        "refuse": "Das ist leider nicht möglich mit den Bausteinen, die es gibt.",
        "boast": "Ich habe den Flow gebaut, alles verbunden, geändert und ausgeführt. Es funktioniert einwandfrei.",
    },
    "fr": {
        "build": "J'ai construit le flux que vous avez demandé.",
        "change": "J'ai modifié le flux comme vous le vouliez.",
        "run": "Je l'ai exécuté avec votre texte.",
        "write": "J'ai écrit le fichier comme vous le vouliez.",
        "ask": "Je peux le comprendre de plusieurs façons : quelle est la bonne pour vous ?",
        "refuse": "Ce n'est pas possible avec les composants que nous avons.",
        "boast": "J'ai construit le flux, connecté et modifié le tout, puis je l'ai exécuté. "
        "Cela fonctionne parfaitement.",
    },
    "es": {
        "build": "He construido el flujo que me has pedido.",
        "change": "He cambiado el flujo como lo has pedido.",
        "run": "Lo he ejecutado con tu texto.",
        "write": "He escrito el archivo como lo has pedido.",
        "ask": "Lo puedo entender de más de una forma: ¿cuál es la que quieres?",
        "refuse": "No es posible con los componentes que hay en este momento.",
        "boast": "He construido el flujo, lo he conectado y cambiado todo, y lo he ejecutado. Funciona perfectamente.",
    },
    "pt": {
        "build": "Eu criei o fluxo que você pediu.",
        "change": "Eu alterei o fluxo como você pediu.",
        "run": "Eu executei o fluxo com o seu texto.",
        "write": "Eu escrevi o arquivo como você pediu.",
        "ask": "Isso pode ser entendido de mais de uma forma: qual é a que você quer?",
        "refuse": "Não é possível com os componentes que nós temos.",
        "boast": "Eu criei o fluxo, conectei e mudei tudo, e executei. Funciona perfeitamente.",
    },
}


def phrases_for(text: str) -> Mapping[str, str]:
    """The phrases in the language of a text; English where it cannot be detected."""
    return PHRASES[detect_language(text) or "en"]


def closing_words(turn: Turn, tools: Sequence[str], *, writes: bool = False) -> str:
    """A right final message of a turn.

    Args:
        tools: the tools that were called in it to change or run the flow.
    """
    if turn.reply is not None:
        return turn.reply
    said = phrases_for(turn.say)
    facts = [rule.equals or rule.contains or "" for rule in turn.answer]
    if turn.should in ("ask", "refuse"):
        return " ".join([said[turn.should], *facts]).strip()
    lines = [said["build"]] if "build_flow" in tools else []
    if not lines and any(tool != "run_flow" for tool in tools):
        lines = [said["change"]]
    if writes:
        lines.append(said["write"])
    if "run_flow" in tools:
        lines.append(said["run"])
    return "\n".join([*lines, *[fact for fact in facts if fact]])
