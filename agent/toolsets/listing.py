"""Which of a run's tools its model is shown: definitions are sent with every request, so that fewer cost less."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from tools.workbench import Workbench


@dataclass
class UnlistedTools(AbstractCapability[Workbench]):
    """Keeps the definitions of some tools out of the model's requests; a call of one of them is answered.

    Args:
        names: the tools.
    """

    names: Collection[str]

    async def before_model_request(
        self, ctx: RunContext[Workbench], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Take the definitions out."""
        del ctx
        if not self.names:
            return request_context
        sent = request_context.model_request_parameters
        listed = [tool for tool in sent.function_tools if tool.name not in self.names]
        request_context.model_request_parameters = replace(sent, function_tools=listed)
        return request_context
