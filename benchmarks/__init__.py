"""Benchmarks: ratios to what Wirewright builds on or to another commit, and absolute figures for this machine.

They measure processes that send no traces, as a server is by default.
"""

from runtime.tracing import disable_logfire

disable_logfire()  # before anything imports the agent
