"""What a Langflow server answers, as far as it is used; other keys are ignored, as versions differ."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from flows.document import Flow


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)


class Version(_Answer):
    """Which Langflow it is.

    Attributes:
        version: such as `1.13.0`.
        package: its name.
    """

    version: str = Field(max_length=100)
    package: str = Field(default="", max_length=100)


class Project(_Answer):
    """A project, which earlier versions call a folder.

    Attributes:
        id: a UUID.
        name: its name.
    """

    id: str
    name: str


class FlowHead(_Answer):
    """A flow there, as lists show it.

    Attributes:
        id: a UUID.
        name: its name.
        description: its description, if it has one.
        folder_id: the project that it is in.
        updated_at: when it was last changed, ISO 8601.
        is_component: whether it is a component that a user has saved, not a flow.
    """

    id: str
    name: str
    description: str | None = None
    folder_id: str | None = None
    updated_at: str | None = None
    is_component: bool | None = False


class RemoteFlow(FlowHead):
    """A flow there.

    Attributes:
        data: its nodes and edges.
        locked: whether it may not be changed.
        version_token: changes with every change of its nodes and edges; earlier versions have none.
        endpoint_name: the name that its runs may be addressed by, if it has one.
        user_id: whose it is.
    """

    data: dict[str, object] | None = None
    locked: bool | None = False
    version_token: str | None = None
    endpoint_name: str | None = None
    user_id: str | None = None

    @property
    def flow(self) -> Flow:
        """The flow as the document that we work on: what belongs to the server's own housekeeping is left out.

        Raises:
            FlowFormatError: it is none.
        """
        return Flow.from_json(
            {
                "id": self.id,
                "name": self.name,
                "description": self.description or "",
                "updated_at": self.updated_at,
                "data": self.data or {"nodes": [], "edges": []},
            }
        )


class Variable(_Answer):
    """A variable there; its value is not read.

    Attributes:
        name: its name.
    """

    name: str


class Model(_Answer):
    """A model of a provider.

    Attributes:
        model_name: its name.
    """

    model_name: str


class ProviderModels(_Answer):
    """The models of a provider.

    Attributes:
        provider: the provider's name in flows.
        models: its models.
        is_enabled: whether there is a key for it there; None where the version does not say.
    """

    provider: str
    models: list[Model] = Field(default_factory=list[Model])
    is_enabled: bool | None = None


class RunAnswer(_Answer):
    """How a run there ended.

    Attributes:
        outputs: what its outputs gave.
        session_id: the session of the run.
    """

    outputs: list[dict[str, object]] = Field(default_factory=list[dict[str, object]])
    session_id: str | None = None
