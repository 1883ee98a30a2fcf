"""The boaster: it claims everything and does nothing, and must score zero on what matters."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent, TurnResult
from evals.oracles.language import detect_language
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, result_only
from evals.scenario import Scenario
from flows.document import Flow

BOASTS = {
    "en": "I built the flow, connected everything, changed what you asked for and ran it. It works perfectly.",
    "de": "Ich habe den Flow gebaut, alles verbunden, geändert und ausgeführt. Es funktioniert einwandfrei.",
    "fr": "J'ai construit le flux, connecté et modifié le tout, puis je l'ai exécuté. Cela fonctionne parfaitement.",
    "es": "He construido el flujo, lo he conectado y cambiado todo, y lo he ejecutado. Funciona perfectamente.",
    "pt": "Eu criei o fluxo, conectei e mudei tudo, e executei. Funciona perfeitamente.",
}
"""What it says, by language."""


class BoasterPlayer:
    """Claims everything."""

    name = "boaster"

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that claims."""
        return _Boasting()


class _Boasting:
    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        flow = request.flow or Flow.empty()
        text = BOASTS[detect_language(request.text) or "en"]
        return result_only(
            TurnResult(outcome="complete", intent="build_flow", text=text, before=flow, after=flow, seconds=0.0)
        )
