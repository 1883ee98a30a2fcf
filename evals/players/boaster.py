"""The boaster: it claims everything and does nothing, and must score zero on what matters."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from agent.turn.result import TurnEvent, TurnRequest, TurnResult
from evals.players import Stage, Turns, ending
from evals.scenario import Scenario
from evals.transcript.language import tongue
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
    """Talks."""

    name = "boaster"

    def seat(self, _: Scenario, __: Stage, /) -> Turns:
        """A seat that claims."""
        return _Boasting()


class _Boasting:
    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        flow = request.flow or Flow.empty()
        text = BOASTS[tongue(request.text) or "en"]
        return ending(
            TurnResult(outcome="complete", intent="build_flow", text=text, before=flow, after=flow, seconds=0.0)
        )
