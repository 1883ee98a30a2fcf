"""A server whose model builds nothing but runs what is on the canvas, as a program of its own."""

from pathlib import Path

from agent.models.scripted import call
from flows.catalogue import Catalogue
from server.serve import serve
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

WORDS = "a pelican on the pier"


def main() -> None:
    """Serve on the port that the environment says."""
    catalogue = Catalogue.load(Path(__file__).parents[2] / "flows" / "data" / "catalogue.json")
    model = ScriptedModel("run_flow", [call("run_flow", 1, input=WORDS)], f"It gave: {WORDS}")
    serve(ServerSettings(), assistant=assistant(catalogue, model, StandInRunner(results=[ran(f"{WORDS} came out")])))


if __name__ == "__main__":
    main()
