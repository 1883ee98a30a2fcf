"""What a turn sends to its model over the OpenAI Chat wire: characters of all request bodies, by trajectory."""

import os
from dataclasses import dataclass

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded
from benchmarks.script import BUILD, DIRECT, EDIT, LONG, MODEL, OFF_TOPIC, SHORT_EDIT, classified
from benchmarks.specs import ECHO, built
from runtime.runner import Runner
from scripts.scripted_provider import Reply, ScriptedProvider, in_order


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A scripted turn and what it may cost.

    Attributes:
        name: what it does.
        text: the user's message.
        replies: what the model says, in order.
        budget: characters of request bodies, at most.
        original: what the original sends for the same.
        canvas: whether the flow is on the canvas already.
    """

    name: str
    text: str
    replies: tuple[Reply, ...]
    budget: int
    original: int
    canvas: bool = False


TRAJECTORIES = (
    Trajectory(name="two-node build, the original's way", text=BUILD, replies=LONG, budget=36_000, original=250_085),
    Trajectory(name="two-node build, the direct way", text=BUILD, replies=DIRECT, budget=14_000, original=250_085),
    Trajectory(name="off-topic", text=OFF_TOPIC, replies=(classified("off_topic"),), budget=6_000, original=17_712),
    Trajectory(name="small edit", text=EDIT, replies=SHORT_EDIT, budget=12_000, original=98_718, canvas=True),
    Trajectory(
        name="run",
        text="Run the flow with hello",
        replies=(
            classified("run_flow"),
            Reply(calls=(("run_flow", {"input": "hello"}),)),
            Reply(text="I ran it; it gave: hello"),
        ),
        budget=25_000,
        original=98_718,
        canvas=True,
    ),
)


async def measure(runner: Runner) -> list[str]:
    """Play every trajectory once and count.

    Args:
        runner: runs the flows.

    Raises:
        AssertionError: a turn did not end well, or did not make the requests of its script.
    """
    lines: list[str] = []
    for trajectory in TRAJECTORIES:
        sent = await characters(trajectory, runner)
        total = sum(sent)
        lines.append(
            f"{trajectory.name}: {total:,} characters in {len(sent)} requests ({', '.join(map(str, sent))}); budget "
            f"{trajectory.budget:,}{'' if total <= trajectory.budget else ' EXCEEDED'}; the original "
            f"{trajectory.original:,} (ratio {total / trajectory.original:.2f})"
        )
    return lines


async def characters(trajectory: Trajectory, runner: Runner) -> list[int]:
    """The characters of each request body of a turn, in order."""
    provider = ScriptedProvider(in_order(*trajectory.replies))
    async with provider.serve() as base_url:
        os.environ.update(OPENAI_API_KEY="sk-scripted", OPENAI_BASE_URL=base_url)
        assistant = Assistant(AssistantSettings(model=MODEL), runner)
        canvas = built(ECHO, await assistant.catalogue()) if trajectory.canvas else None
        async with assistant.turn(TurnRequest(text=trajectory.text, flow=canvas)) as events:
            (result,) = [event.result async for event in events if isinstance(event, TurnEnded)]
    assert result.outcome in {"complete", "refused"}, result.error
    assert provider.requests == len(trajectory.replies), provider.requests
    return provider.sizes
