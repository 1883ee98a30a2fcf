"""A turn's changes to its workbench, as JSON, so that another process can resume with a workbench of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from flows.component_type import ComponentType
from flows.json_values import as_list, as_object
from flows.spec.parse import Spec
from runtime.results import ModelUsage
from tools.effects import InstallEffect, PlanEffect, RunEffect
from tools.events import FileChange, Todo
from tools.json_types import ActionJson, FlowJson, JsonForm, RunJson
from tools.mandate import Mandate
from tools.undo_stack import UndoStack
from tools.workbench import Workbench

MADE_ANEW: Final = frozenset(
    {
        *("user", "session", "runner", "has_model", "models", "host_rule", "may_run", "max_attempts", "initial_flow"),
        *("user_files", "user_variables", "user_components", "memory", "install", "index", "run_later"),
        *("cached_reads", "_ready", "_last", "_checked"),
        "catalogue",  # with the components of the snapshot
    }
)
"""The fields of a workbench that whoever goes on makes again: they follow from the request, or are caches."""


def _read_component(given: Any) -> ComponentType:
    found = as_object(given)
    choices = found.get("choices")
    return ComponentType(
        str(found.get("type")),
        as_object(found.get("raw")),
        None if choices is None else as_object(choices),
        as_object(found.get("lacking")),
    )


def _write_component(component: ComponentType) -> dict[str, Any]:
    return {
        "type": component.type,
        "raw": component.raw,
        "choices": component.choices,
        "lacking": component.lacking,
    }


def _read_wanted(given: Any) -> dict[tuple[str, str], str]:
    if isinstance(given, Mapping):
        return dict(given)  # pyright: ignore[reportUnknownArgumentType]  (a workbench's own)
    return {(str(node), str(name)): str(text) for node, name, text in map(as_list, as_list(given))}


ComponentJson = Annotated[ComponentType, JsonForm(_read_component, _write_component)]
WantedJson = Annotated[
    Mapping[tuple[str, str], str],
    PlainValidator(_read_wanted),
    PlainSerializer(lambda wanted: [[*place, text] for place, text in wanted.items()]),
]


class BenchState(BaseModel):
    """The fields of a workbench that a turn changes."""

    model_config = ConfigDict(frozen=True)

    flow: FlowJson
    proposal: FlowJson | None
    actions: list[ActionJson]
    runs: list[RunJson]
    caveats: list[str]
    proposal_caveat: str
    failures: list[str]
    proposal_ran: bool
    flow_usage: ModelUsage
    files: list[FileChange]
    attached: tuple[tuple[str, int], ...]
    todos: list[Todo]
    auto_edit: bool
    auto_plan: bool
    undo_stack: UndoStack
    components: list[ComponentJson]
    component_failures: list[str]
    request_text: str
    mandate: Mandate
    run_asked: bool
    tainted: bool
    foreign_hosts: frozenset[str]
    allowed_hosts: frozenset[str]
    refused_bundles: frozenset[str]
    waits: bool
    refused_in: int | None
    accepted: bool
    wanted: WantedJson
    rewound: int
    proposed: bool
    offers: dict[str, FlowJson] = Field(default_factory=dict[str, Any])
    open_offer: str | None
    own_components: tuple[str, ...]
    draft: tuple[Spec, frozenset[int]] | None
    names: dict[str, str]
    applied: FlowJson | None
    run_log: list[RunEffect]
    plans: list[PlanEffect]
    installs: list[InstallEffect]

    @classmethod
    def of(cls, bench: Workbench) -> BenchState:
        """The state of a workbench."""
        return cls.model_construct(**{name: getattr(bench, name) for name in cls.model_fields})

    def put(self, bench: Workbench) -> None:
        """Give a workbench this state."""
        for name in type(self).model_fields:
            setattr(bench, name, getattr(self, name))
        if self.components:
            bench.catalogue = bench.catalogue.with_components(self.components)


class Snapshots:
    """The states of one workbench from step to step: each is written as what differs from the one before.

    Attributes:
        version: counts the states that were written.
    """

    def __init__(self) -> None:
        self.version = 0
        self._last: dict[str, Any] = {}

    def changes(self, bench: Workbench) -> dict[str, Any]:
        """What has changed since the last state, as JSON."""
        now = BenchState.of(bench).model_dump(mode="json")
        changed = {name: value for name, value in now.items() if name not in self._last or self._last[name] != value}
        self._last = now
        self.version += 1
        return changed

    def put(self, bench: Workbench, changes: Mapping[str, Any]) -> None:
        """Give a workbench the state that differs so from the last one."""
        self._last = {**self._last, **changes}
        BenchState.model_validate(self._last).put(bench)
