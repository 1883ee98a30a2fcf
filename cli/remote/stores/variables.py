"""The variables that a server keeps, as `wirewright variables` asks for them."""

from collections.abc import Mapping

from pydantic import BaseModel

from agent.contract.model import Page
from cli.errors import CommandError
from cli.remote.connection import Server, segment

VARIABLES = "/api/v1/variables"
_PAGE = 200
"""Variables that a page has at most."""


class _Name(BaseModel):
    name: str


class _NamePage(Page):
    variables: list[_Name]


class RemoteVariables:
    """The user's variables on a server.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def names(self) -> list[str]:
        """The names of all."""
        found: list[str] = []
        while True:
            page = self._server.read(_NamePage, VARIABLES, {"limit": _PAGE, "offset": len(found)})
            found += [one.name for one in page.variables]
            if page.next is None or not page.variables:
                return found

    def keep(self, values: Mapping[str, str]) -> None:
        """Keep values by name, replacing earlier ones."""
        for name, value in values.items():
            self._server.change(_Name, "PUT", f"{VARIABLES}/{segment(name)}", {"value": value})

    def forget(self, name: str) -> bool:
        """Remove a variable; returns whether there was one."""
        try:
            self._server.send("DELETE", f"{VARIABLES}/{segment(name)}")
        except CommandError as error:
            if error.code == "variable_not_found":
                return False
            raise
        return True
