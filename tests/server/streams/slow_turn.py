"""A server whose model says something and then hangs, as a program of its own."""

from flows.catalogue import Catalogue
from server.serve import serve
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, assistant

WAITS = "Waiting for the message before this one..."


def main() -> None:
    """Serve on the port that the environment says."""
    serve(ServerSettings(), assistant=assistant(Catalogue({}), ScriptedModel("question", "Never said.", blocks_at=1)))


if __name__ == "__main__":
    main()
