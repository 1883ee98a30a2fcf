"""`wirewright flow run --langflow`: one run of a flow on the Langflow server that has it."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, cast

from cli.langflow.servers import asked, connection_named
from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.results import RunError, RunMetrics, RunResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.flow.tweaks import Tweak
    from runtime.langflow.client import LangflowServer
    from runtime.langflow.documents import RunAnswer


def run_there(
    name: str,
    text: str | None,
    *,
    connection: str | None,
    session: str | None,
    tweaks: Sequence[Tweak],
    seconds: float,
) -> RunResult:
    """Run a flow there once.

    Args:
        name: its id or name.
        text: what is typed into its chat.
        connection: the server; None for the only one.
        session: the session that it sees.
        tweaks: values for this run alone.
        seconds: how long it may take.

    Raises:
        CommandError: there is no such flow, or the server cannot be reached.
    """
    from cli.flow.source import LoadedFlow
    from cli.flow.tweaks import placed_tweaks
    from runtime.langflow.errors import LangflowError
    from runtime.langflow.exchange import document_of

    async def work(server: LangflowServer) -> RunResult:
        found = (await server.find(name)).id
        placed: Mapping[str, JsonObject] = {}
        if tweaks:
            flow = document_of(await server.flow(found))
            placed = cast("Mapping[str, JsonObject]", placed_tweaks(tweaks, LoadedFlow(flow=flow)))
        started = perf_counter()
        try:
            answer = await server.run(found, text, session=session, tweaks=placed, seconds=seconds)
        except LangflowError as error:
            if error.code not in {"langflow_failed", "langflow_timeout"}:
                raise
            code = "timeout" if error.code == "langflow_timeout" else "external"
            failed = RunError(code=code, message=error.message, fix=error.fix, node=None)
            return _result({}, perf_counter() - started, failed)
        return _result(outputs_of(answer), perf_counter() - started, None)

    return asked(connection_named(connection), work)


def outputs_of(answer: RunAnswer) -> dict[str, Json]:
    """The value of each output of a run, by the id of its component.

    Args:
        answer: what the server has answered.
    """
    found: dict[str, Json] = {}
    for one in answer.outputs:
        for each in as_list(cast("JsonObject", one).get("outputs")):
            results = object_at(each, "results")
            message = as_object(results.get("message"))
            value: Json = message.get("text", object_at(message, "data").get("text")) if message else results
            found[as_text(as_object(each).get("component_id"))] = value
    return found


def _result(outputs: Mapping[str, Json], seconds: float, error: RunError | None) -> RunResult:
    output = next((value for value in outputs.values() if isinstance(value, str)), None)
    return RunResult(run_id="", output=output, outputs=outputs, metrics=RunMetrics(seconds=seconds), error=error)
