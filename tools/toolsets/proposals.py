"""Deciding about proposals of earlier turns, as the user asks."""

from typing import Literal

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from tools.consent.declared import has_effects
from tools.replies import outline
from tools.workbench import Workbench


@has_effects("edit")
async def decide_proposal(
    ctx: RunContext[Workbench], decision: Literal["apply", "set_aside", "offer_again"], id: str | None = None
) -> str:
    """Carry out what the user says about a proposal of an earlier turn; edits and runs need no call of this.

    Args:
        decision: `apply`: put the waiting one on the canvas. `set_aside`: go back to the canvas. `offer_again`: show an
            earlier one again.
        id: its id; leave it out for the one that waits.
    """
    bench = ctx.deps
    waits = bench.open_offer
    name = id or waits
    flow = bench.offers.get(name or "")
    if flow is None:
        known = ", ".join(bench.offers)
        raise ModelRetry(f"There is no proposal {name!r}. There are: {known}." if known else "No proposal is left.")
    if decision == "offer_again":
        await bench.propose(ctx.emit, flow)
        return f"Offered {flow.name!r} again.\n{outline(flow)}"
    if name != waits or bench.proposal is None:
        raise ModelRetry(f"{name} does not wait any more. Offer it again; the user can then accept it.")
    if decision == "set_aside":
        bench.proposal = None
        return "Set aside. Edits and runs concern the canvas again."
    await bench.place(ctx.emit)
    return f"It is on the canvas now.\n{outline(bench.flow)}"


proposal_tools = FunctionToolset[Workbench]([decide_proposal], max_retries=3, sequential=True, id="proposals")
