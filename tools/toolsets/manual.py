"""Reading the manual, for questions about the assistant itself."""

from pydantic_ai import RunContext
from pydantic_ai.toolsets import FunctionToolset

from tools.manual import Topic, page
from tools.workbench import Workbench


async def read_manual(ctx: RunContext[Workbench], topic: Topic) -> str:
    """Read a page of Wirewright's manual.

    Args:
        topic: the page.
    """
    return ctx.deps.cached_read(("read_manual", topic), lambda: page(topic))


manual_tools = FunctionToolset[Workbench]([read_manual], max_retries=3, id="manual")
