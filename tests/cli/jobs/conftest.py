"""What the tests of jobs share: a server, and a small flow."""

from tests.cli.remote.conftest import echo, serve

__all__ = ["echo", "serve"]
