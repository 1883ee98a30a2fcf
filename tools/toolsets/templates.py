"""Starter flows: listing them, and proposing one."""

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.spec import build
from flows.templates import Template, UnknownTemplate, template, templates
from tools.consent.declared import has_effects
from tools.events import Progress
from tools.replies import bullets, errors, fault_lines
from tools.toolsets.build import BY_OWN_ACCOUNT, VERIFIED, propose
from tools.verify import verify
from tools.workbench import Workbench


async def list_templates(ctx: RunContext[Workbench]) -> str:
    """List the starter flows that use_template can put forward."""
    del ctx
    return bullets([f"{one.name}: {one.description}{_needs(one)}" for one in templates()])


@has_effects("edit")
async def use_template(ctx: RunContext[Workbench], name: str) -> str:
    """Propose a starter flow; change it afterwards with the edit tools.

    Args:
        name: a name that list_templates gives.
    """
    bench = ctx.deps
    try:
        chosen = template(name)
    except UnknownTemplate as unknown:
        raise ModelRetry(str(unknown)) from unknown
    await ctx.emit(Progress(step="building_flow", message=f"Taking the template {chosen.title!r}..."))
    result = build(chosen.spec, bench.catalogue)
    if result.flow is None:
        remedy = (
            f"Install first: wirewright runner install --with {' '.join(chosen.packages)}\n" if chosen.packages else ""
        )
        return f"Not built: the installed components do not fit it.\n{remedy}{fault_lines(errors(result.faults))}"
    verdict = VERIFIED
    if chosen.needs:
        caveat = f"It was checked but not run, because a run needs: {', '.join(chosen.needs)}."
    else:
        found = await verify(ctx.emit, bench, result.flow)
        verdict = BY_OWN_ACCOUNT if found.ran_untrusted_code else VERIFIED
        caveat = (
            found.caveat
            or found.disappointment
            or (f"It does not run here: {found.to_correct}" if found.to_correct else None)
        )
    return await propose(ctx, result.flow, caveat, verdict)


def _needs(chosen: Template) -> str:
    return f" (needs: {', '.join(chosen.needs)})" if chosen.needs else ""


template_list = FunctionToolset[Workbench]([list_templates], max_retries=5, id="template_list")
template_use = FunctionToolset[Workbench]([use_template], max_retries=5, sequential=True, id="template_use")
