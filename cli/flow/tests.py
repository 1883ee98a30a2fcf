"""`wirewright flow test`: the tests that lie beside a flow, on the real engine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage, CommandError
from cli.flow.components import ComponentsFolder, inspect_all
from cli.flow.run import approved_hosts, not_run, result_json, runner_of_settings, written
from cli.options import AllowHost, FlowFile, Json
from cli.output.columns import print_lines
from cli.output.faults import has_errors, note_faults
from cli.output.files import writable, write_text
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.flow.source import LoadedFlow
    from evals.flow_tests.cases import FlowTests, InvalidTest
    from evals.flow_tests.running import PreparedTest, TestedFlow
    from flows.faults import Fault
    from runtime.options import RunOptions
    from runtime.results import RunResult
    from runtime.runner import Runner

_FIX = "See docs/flow-tests.md; --save INPUT writes a test."


def run_tests(
    f: FlowFile,
    tests: Annotated[
        str | None, typer.Option(metavar="FILE", help="The tests; by default NAME.tests.yaml beside the flow.")
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(metavar="INPUT", help="Run the flow with this input, and add what it gives as a test."),
    ] = None,
    junit: Annotated[str | None, typer.Option(metavar="FILE", help="Write the outcome as JUnit XML, too.")] = None,
    allow_host: AllowHost = None,
    components: ComponentsFolder = None,
    *,
    as_json: Json = False,
) -> None:
    """Run the tests that lie beside a flow: inputs, and what each must give. It exits 1 when one fails."""
    if save is not None and junit is not None:
        raise BadUsage("bad_value", "--save runs no tests.", fix="Leave --junit away.", where="--junit")
    report, hosts = writable(junit, "--junit"), approved_hosts(allow_host or [])
    path = _file(f, tests, new=save is not None)
    cases = None if save is not None else _read(path)
    import asyncio

    from cli.flow.source import all_faults, load_flow
    from cli.flow_tests.tester import prepared_tests

    with asyncio.Runner() as loop:  # one engine makes the flow's own components and then runs it
        runner = runner_of_settings()
        try:
            loaded, catalogue = load_flow(
                f, components=components, inspect=lambda texts: loop.run(inspect_all(texts, runner))
            )
            faults = all_faults(loaded, catalogue)
            if cases is not None and cases.models:  # the tests answer in place of the models
                faults = [fault for fault in faults if fault.code != "missing_model"]
            if loaded.flow is None or catalogue is None or has_errors(faults):
                _refuse(faults, as_json=as_json)
                raise typer.Exit(FAILED)
            if cases is None:
                result = written(loaded, loop.run(runner.execute(loaded.flow, save, _options(hosts))))
                _save(path, save, result, as_json=as_json)
                return
            prepared = prepared_tests(cases, loaded, catalogue, _options(hosts))
            tested = loop.run(_play(cases, prepared, loaded, runner, as_json=as_json))
        finally:
            loop.run(runner.aclose())
    if report is not None:
        from evals.flow_tests.junit import as_junit

        write_text(report, as_junit(f, tested), "--junit")
    passed = sum(one.passed for one in tested)
    if as_json:
        from cli.documents.running import Tested

        print_json(Tested(ok=passed == len(tested), tests=tested))
    else:
        print_result(f"{passed} of {len(tested)} {'test' if len(tested) == 1 else 'tests'} passed.")
    if passed < len(tested):
        raise typer.Exit(FAILED)


def _file(flow: str, tests: str | None, *, new: bool) -> Path:
    """The file of the tests.

    Raises:
        BadUsage: it is not there, or cannot be written although a test is to be added.
    """
    from evals.flow_tests.cases import file_of_tests

    if tests is None and flow == "-":
        raise BadUsage("missing", "A flow from standard input has no tests beside it.", fix="Give --tests FILE.")
    path = file_of_tests(Path(flow)) if tests is None else Path(tests)
    if new:
        return writable(str(path), "--tests") or path
    if not path.exists():
        raise BadUsage("unreadable", f"There is no file of tests {path}.", fix=_FIX, where="--tests")
    return path


def _read(path: Path) -> "FlowTests":
    from evals.flow_tests.cases import load_tests
    from evals.scenarios.loader import ScenarioError

    try:
        return load_tests(path)
    except ScenarioError as error:
        raise BadUsage("invalid_tests", f"{error}.", fix="Correct it: docs/flow-tests.md.", where=error.place) from None


def _options(hosts: tuple[str, ...]) -> "RunOptions":
    from cli.files.local import LocalVariables, local_files
    from runtime.options import RunOptions

    return RunOptions(files=local_files(), variables=LocalVariables(), hosts=hosts)


async def _play(
    cases: "FlowTests",
    prepared: "list[PreparedTest | InvalidTest]",
    loaded: "LoadedFlow",
    runner: "Runner",
    *,
    as_json: bool,
) -> "list[TestedFlow]":
    """Run the tests, and say for each what it gave as soon as it is known."""
    from evals.flow_tests import running

    assert loaded.flow is not None  # noqa: S101  (a flow with faults is not played)
    tested: list[TestedFlow] = []
    async for one in running.run_tests(loaded.flow, prepared, cases.models, runner):
        tested.append(one)
        if not as_json:
            state = "passed" if one.passed else "ERROR " if one.invalid else "FAILED"
            print_lines(f"{state}  {one.name}{'' if one.passed else f': {loaded.in_words(one.reason)}'}")
    return tested


def _save(path: Path, text: str | None, result: "RunResult", *, as_json: bool) -> None:
    """Add what a run gave to the tests.

    Raises:
        CommandError: it gave nothing.
        BadUsage: the file of tests cannot take it.
    """
    from evals.flow_tests.cases import load_tests, with_test
    from evals.scenarios.loader import ScenarioError

    if result.error is not None:
        raise CommandError("run_failed", f"Nothing was saved: {result.error.message}", fix=result.error.fix)
    if result.output is None:
        fix = "Write the test yourself, with the node whose output counts: docs/flow-tests.md."
        raise CommandError("no_output", "Nothing was saved: the flow has no chat output.", fix=fix)
    try:
        if path.exists():
            load_tests(path)
        before = path.read_text("utf-8") if path.exists() else ""
        whole = with_test(before, {"input": text, "equals": result.output})
    except ScenarioError as error:
        raise BadUsage("invalid_tests", f"{path}: {error.message}.", fix=_FIX, where=str(path)) from None
    write_text(path, whole, "--tests")
    if as_json:
        print_json(result_json(result))
    else:
        print_result(result.output)
        print_message(f"Saved as a test in {path}.")


def _refuse(faults: "list[Fault]", *, as_json: bool) -> None:
    if as_json:
        document = result_json(not_run(faults))
        document["faults"] = faults
        print_json(document)
    else:
        note_faults(faults)
