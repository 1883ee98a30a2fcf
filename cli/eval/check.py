"""`wirewright eval check`: a flow file scored against a scenario, with the inputs on which it differs."""

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.errors import FAILED, BadUsage
from cli.eval.play.options import PackName
from cli.eval.play.selection import select, use_pack
from cli.flow.components import ComponentsFolder, ComponentSources, inspect_all, read_sources, with_user_components
from cli.options import FlowFile, Json
from cli.output.columns import print_lines, print_rows
from cli.output.faults import has_errors, note_faults
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.flow.source import LoadedFlow
    from cli.input.texts import Source
    from evals.play.environment import PlayEnvironment
    from evals.play.flow_check import FlowCheck
    from evals.scenario import Scenario
    from flows.faults import Fault
    from runtime.components.inspection import DescribesComponents


def check(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario's id.")],
    f: FlowFile,
    components: ComponentsFolder = None,
    differences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Show up to N inputs on which it differs from the reference.")
    ] = 5,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Score a flow as if a player had left it in answer to a scenario; exits 1 when it does not pass."""
    use_pack(pack)
    from cli.flow.source import flow_of
    from cli.input.texts import read
    from evals.play.flow_check import asks_for_flow

    (wanted,) = select([scenario], [])
    if not asks_for_flow(wanted):
        message = f"The scenario {scenario} asks for no flow."
        raise BadUsage("no_flow_asked", message, fix="`wirewright eval list` has others.", where=scenario)
    source = read(f)
    if source.is_json:
        flow_of(source)  # what is unreadable is said before the engine starts
    given = _Given(scenario=wanted, source=source, sources=read_sources(components), differences=differences)
    faults, checked = asyncio.run(given.checked())
    if as_json:
        from cli.documents.evals import FlowScored

        print_json(
            FlowScored(
                ok=checked is not None and checked.ok,
                scenario=wanted.id,
                verdict=None if checked is None else checked.verdict,
                compared=0 if checked is None else checked.compared,
                differences=[] if checked is None else [*checked.differences],
                faults=[*faults],
            )
        )
    else:
        note_faults(faults)
        if checked is not None:
            _show(checked, differences)
    if checked is None or not checked.ok:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, kw_only=True)
class _Given:
    scenario: "Scenario"
    source: "Source"
    sources: ComponentSources
    differences: int

    async def checked(self) -> "tuple[Sequence[Fault], FlowCheck | None]":
        """The faults of reading the flow and, if it builds, what its check found."""
        from cli.eval.play.environment import play_environment
        from evals.play.flow_check import check_flow

        async with play_environment(1) as environment:
            loaded, sources = await self._loaded(environment)
            if loaded.flow is None:
                return loaded.faults, None
            checked = await check_flow(
                self.scenario,
                self.source.text,
                environment,
                components=sources,
                differences=self.differences,
            )
            return loaded.faults, checked

    async def _loaded(self, environment: "PlayEnvironment") -> "tuple[LoadedFlow, tuple[str, ...]]":
        """The flow, read with the scenario's component types and its own; and the sources of its own."""
        from cli.flow.source import LoadedFlow, built, flow_of
        from evals.play.user_components import make_user_components
        from evals.play.user_components import with_user_components as with_types

        made = await make_user_components(self.scenario.components, environment.runner)
        catalogue = with_types(environment.catalogue, made.types)
        sources = self.sources
        if not self.source.is_json:
            sources = await asyncio.to_thread(with_user_components, sources, self.source.text, catalogue)
        runner = cast("DescribesComponents", environment.runner)
        inspections = await inspect_all(sources.texts.values(), runner) if sources.texts else []
        own = sources.components(inspections, environment.catalogue)
        if has_errors(own.faults):
            return LoadedFlow(flow=None, faults=own.faults), ()
        if self.source.is_json:
            return LoadedFlow(flow=flow_of(self.source), faults=own.faults), own.sources
        loaded = await asyncio.to_thread(built, self.source, own.added_to(catalogue))
        return replace(loaded, faults=(*own.faults, *loaded.faults)), own.sources


def _show(checked: "FlowCheck", limit: int) -> None:
    from evals.play.flow_check import FLOW_SCORES
    from evals.report.summary import mark

    verdict, found = checked.verdict, checked.differences
    if verdict.harness_error is not None:
        print_lines(f"Not judged: {verdict.why}")
        return
    shown = [score for score in verdict.scores if score.name in FLOW_SCORES]
    print_rows((score.name, mark(score.value).plain, score.reason) for score in shown)
    if found:
        first = "the first " if len(found) == limit else ""
        print_result(f"It differs from the reference on {len(found)} of {first}{checked.compared} inputs:")
        for one in found:
            print_lines(f"  {one}")
    failed = ", ".join(score.name for score in verdict.failures)
    print_result(f"{verdict.scenario}: passed" if checked.ok else f"{verdict.scenario}: failed ({failed})")
