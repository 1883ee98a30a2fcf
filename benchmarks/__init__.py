"""Benchmarks: ratios to what Wirewright builds on or to another commit, and absolute figures for this machine.

They measure processes that send no traces, as a server is by default.
"""

import os

from runtime.tracing import disable_logfire

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # as the command does
disable_logfire()  # before anything imports the agent
