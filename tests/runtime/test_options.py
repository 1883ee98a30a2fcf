"""The options of a run: declared once, and taken by name."""

from inspect import signature

import pytest

from flows.document import Flow
from runtime.options import RunOptions
from runtime.runner import Runner


@pytest.mark.anyio
async def test_a_run_takes_every_option_by_its_name_and_no_other() -> None:
    own, options = signature(Runner.run).parameters, signature(RunOptions).parameters
    assert list(own) == ["self", "flow", "text", *options]
    assert [own[name] for name in options] == list(options.values())
    with pytest.raises(TypeError, match="colour"):
        await Runner().run(Flow.empty(), colour="red")  # pyright: ignore[reportArgumentType]  # wrong on purpose
