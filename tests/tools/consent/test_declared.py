"""Every tool states its effects beside its function, or is known to change nothing."""

import inspect

import pytest

from agent.toolsets.selection import READ_TOOLS, all_tools
from tools.consent import declared
from tools.consent.declared import effects_of

TOOLS = {name: tool.function for toolset in all_tools() for name, tool in toolset.tools.items()}
HARMLESS = READ_TOOLS | {"propose_plan"}
"""Tools that change nothing of the user's: they read, note the agent's own steps, or only ask."""


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_states_its_effects_unless_it_changes_nothing(name: str) -> None:
    assert (name in HARMLESS) != bool(effects_of(name)), f"state the effects of {name} with `has_effects`"


@pytest.mark.parametrize("name", sorted(set(TOOLS) - HARMLESS))
def test_a_tool_with_effects_passes_the_one_function_that_decides(name: str) -> None:
    source = inspect.getsource(inspect.getmodule(inspect.unwrap(TOOLS[name])))  # pyright: ignore[reportArgumentType]
    gates = ("tools.consent.gate", "tools.consent.runs", "tools.consent.rules", "propose(ctx")
    assert any(gate in source for gate in gates) or name in PROPOSAL_ONLY


PROPOSAL_ONLY = {"decide_proposal"}
"""Puts beside the canvas, or sets aside, what was proposed before and asked about then."""


def test_only_tools_that_exist_state_effects() -> None:
    assert set(declared._DECLARED) <= set(TOOLS)  # pyright: ignore[reportPrivateUsage]
