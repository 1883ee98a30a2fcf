"""A server whose model never answers, as a program of its own: what it says on standard output is for the test."""

from flows.catalogue import Catalogue
from server.serve import serve
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel, assistant


def main() -> None:
    """Serve on the port that the environment says."""
    who = assistant(Catalogue({}), ScriptedModel(blocks_at=0))
    serve(ServerSettings(), assistant=who)


if __name__ == "__main__":
    main()
