"""Strategies for everything that the contract sends, derived from its models."""

from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel

from agent.contract.events import Event, models_of
from flows import actions
from flows.document import Flow
from flows.faults import Fault
from flows.json_values import MISSING
from runtime.results import ModelUsage, RunError, RunMetrics, RunResult
from tools.events import FileChange, Todo

NUMBERS = st.integers(-(2**53), 2**53)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=3)
FLOWS = st.builds(
    lambda nodes, rest: Flow.from_json({**rest, "data": {"nodes": nodes, "edges": []}}),
    st.lists(st.builds(lambda id_, rest: {**rest, "id": id_, "data": {"id": id_}}, st.text(), OBJECTS), max_size=2),
    st.dictionaries(st.sampled_from(["name", "description", "x"]), st.text()),
)
_SECONDS = st.floats(0, 1e6)
_METRICS = st.builds(RunMetrics, seconds=_SECONDS, input_tokens=NUMBERS, output_tokens=NUMBERS, peak_mb=_SECONDS)
_TEXT = st.text()
_FAULTS = st.builds(Fault, code=_TEXT, message=_TEXT, fix=_TEXT, node=st.none() | _TEXT, line=st.none() | NUMBERS)
RUNS = st.builds(
    RunResult,
    run_id=st.text(),
    output=st.none() | st.text(),
    outputs=OBJECTS,
    nodes=OBJECTS,
    types=OBJECTS,
    metrics=_METRICS,
    usage=st.dictionaries(st.text(), st.builds(ModelUsage, input_tokens=NUMBERS), max_size=2),
    error=st.none() | st.builds(RunError, code=st.just("timeout"), message=st.text()),
    faults=st.just(()) | st.tuples(_FAULTS),
)
_MAYBE = st.just(MISSING) | JSON
_PATHS = st.lists(st.text() | st.integers(0, 9), min_size=1, max_size=3).map(tuple)
_CHANGES = st.lists(st.builds(actions.NodeChange, _PATHS, _MAYBE, _MAYBE), max_size=2).map(tuple)
_EDGES = st.lists(st.tuples(st.integers(0, 9), OBJECTS), max_size=2).map(tuple)
ACTIONS = {
    "add_component": st.builds(actions.AddComponent, OBJECTS, st.none() | st.integers(0, 9), _EDGES),
    "remove_component": st.builds(actions.RemoveComponent, OBJECTS, st.integers(0, 9), _EDGES),
    "connect": st.builds(actions.Connect, OBJECTS, st.none() | st.integers(0, 9)),
    "disconnect": st.builds(actions.Disconnect, OBJECTS, st.integers(0, 9)),
    "configure": st.builds(actions.Configure, _TEXT, _TEXT, _MAYBE, _MAYBE, _CHANGES),
    "arrange": st.builds(actions.Arrange, _TEXT, _TEXT, _MAYBE, _MAYBE),
    "select_output": st.builds(actions.SelectOutput, _TEXT, _MAYBE, _MAYBE, _CHANGES),
    "set_connection_mode": st.builds(actions.SetConnectionMode, _TEXT, _TEXT, _MAYBE, _MAYBE),
    "set_tool_mode": st.builds(actions.SetToolMode, _TEXT, st.booleans(), _CHANGES),
    "amend": st.builds(actions.Amend, _TEXT, _CHANGES),
    "set_detail": st.builds(actions.SetDetail, _PATHS, _MAYBE, _MAYBE),
    "set_flow": st.builds(actions.SetFlow, OBJECTS, OBJECTS),
}
_BY_TYPE: dict[object, st.SearchStrategy[Any]] = {
    str: st.text(),
    int: NUMBERS,
    float: _SECONDS,
    bool: st.booleans(),
    NoneType: st.none(),
    Any: JSON,
    Flow: FLOWS,
    RunResult: RUNS,
    Fault: _FAULTS,
    FileChange: st.builds(
        FileChange, path=_TEXT, size=NUMBERS, change=st.sampled_from(["created", "replaced", "edited", "deleted"])
    ),
    Todo: st.builds(Todo, content=_TEXT, status=st.sampled_from(["pending", "in_progress", "completed"])),
}


def models(annotation: Any = Event) -> list[type[BaseModel]]:
    """Every model of a union."""
    return list(models_of(annotation))


def instances(model: type[BaseModel]) -> st.SearchStrategy[BaseModel]:
    """Every value that a model can have."""
    fields = {name: _values(field.annotation) for name, field in model.model_fields.items()}
    return st.builds(model, **fields)


def _values(annotation: Any) -> st.SearchStrategy[Any]:
    if annotation in _BY_TYPE:
        return _BY_TYPE[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return instances(annotation)
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of([_values(choice) for choice in inner])
    if origin is list:
        return st.lists(_values(inner[0]), max_size=2)
    if origin is tuple:
        return st.lists(_values(inner[0]), max_size=2).map(tuple)
    if origin is dict:
        return OBJECTS
    return _values(inner[0])  # Annotated
