"""What a run returns: its outputs, metrics and errors.

The contract's schema is derived from these classes, so their computed fields are marked as such for pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, GetPydanticSchema, computed_field
from pydantic_core import core_schema

from flows.document import Json, JsonObject
from flows.faults import Fault

RunErrorCode: TypeAlias = Literal[
    "code",
    "wiring",
    "missing_input",
    "missing_model",
    "missing_key",
    "missing_package",
    "external",
    "timeout",
    "limit",
    "refused",
    "crash",
]

JsonValues: TypeAlias = Annotated[
    Mapping[str, Json], GetPydanticSchema(lambda _, __: core_schema.dict_schema(core_schema.str_schema()))
]
"""JSON values by node id. Pydantic does not look into them: `Json` contains itself."""

Faults: TypeAlias = Annotated[tuple[Fault, ...], Field(exclude_if=lambda faults: not faults)]
"""Faults under a key that is left out when there is none."""


Dollars: TypeAlias = Annotated[float | None, Field(exclude_if=lambda dollars: dollars is None)]
"""A cost in US dollars under a key that is left out when it is not known."""


@dataclass(frozen=True, kw_only=True)
class RunMetrics:
    """What a run used: wall-clock seconds of building and running, tokens, model calls, peak memory in MB, US dollars.

    The cost is None when the price of a part is not known, and when no model was called.
    """

    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    peak_mb: float = 0
    cost: Dollars = None

    @computed_field
    @property
    def total_tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    def to_json(self) -> JsonObject:
        """Return the metrics as a JSON object, with the total of tokens."""
        return {
            "seconds": self.seconds,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "model_calls": self.model_calls,
            "peak_mb": self.peak_mb,
            **({} if self.cost is None else {"cost": self.cost}),
        }


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """What model calls used: tokens in and out, the number of answered calls, and US dollars if prices are known."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    cost: Dollars = None

    @property
    def total_tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: ModelUsage) -> ModelUsage:
        """Return the sum of both; what one of them cost is not known, if it is not for either."""
        known = [one.cost for one in (self, other) if one.calls]
        costs = [cost for cost in known if cost is not None]
        return ModelUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            cost=sum(costs) if costs and len(costs) == len(known) else None,
        )

    def to_json(self) -> JsonObject:
        """Return the usage as a JSON object, without a cost that is not known."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class RunError:
    """Why a run failed: a code, what happened, what to do, and the id of the node where that is known."""

    code: RunErrorCode
    message: str
    fix: str = ""
    node: str | None = None

    def to_json(self) -> JsonObject:
        """Return the error as a JSON object with every key present."""
        return asdict(self)


BUSY = RunError(
    code="limit",
    message="Too many runs are waiting for their turn; this one was not started.",
    fix="Try again in a few seconds.",
)
"""The error of a run that was not accepted."""

ENGINE_CLOSED = RunError(
    code="crash", message="The flow engine was shut down.", fix="Start it again, then run the flow."
)
"""The error of a run whose runner was closed."""


class RunFailed(Exception):
    """A run was refused, or ended without a result.

    Attributes:
        error: why.
        seconds: how long it ran.
    """

    def __init__(self, error: RunError, seconds: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


@dataclass(frozen=True, kw_only=True)
class RunFile:
    """A file that a run wrote into the user's files.

    Attributes:
        path: inside the user's folder, with forward slashes.
        size: in bytes.
        new: whether it did not exist before.
    """

    path: str
    size: int
    new: bool

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class RunHost:
    """A host that a run reached, or tried to reach, through its proxy.

    Attributes:
        host: its name or address, as the run named it; `(others)` for those after the hundredth.
        port: the port; 0 for the others.
        sent: bytes that the run sent to it.
        received: bytes that came back.
        refused: whether the run was refused it.
    """

    host: str
    port: int
    sent: int = 0
    received: int = 0
    refused: bool = False
    unapproved: Annotated[bool, Field(exclude=True)] = False
    """Whether it was refused only because nobody had approved it; not part of the JSON object."""

    def to_json(self) -> JsonObject:
        """Return it as a JSON object."""
        return {name: value for name, value in asdict(self).items() if name != "unapproved"}


Untrusted: TypeAlias = Annotated[bool, Field(exclude_if=lambda untrusted: not untrusted)]
"""Whether code was untrusted, under a key that is left out when none was."""

RefusedCalls: TypeAlias = Annotated[tuple[str, ...], Field(exclude_if=lambda calls: not calls)]
"""Names of system calls under a key that is left out when there is none."""

CallCounts: TypeAlias = Annotated[Mapping[str, int], Field(exclude_if=lambda counts: not counts)]
"""How often each system call was tried, under a key that is left out when none was."""

Missing: TypeAlias = Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)]
"""Names of protections under a key that is left out when none was missing."""

DroppedLines: TypeAlias = Annotated[int, Field(exclude_if=lambda lines: not lines)]
"""How many lines were dropped, under a key that is left out when none was."""

RunHosts: TypeAlias = Annotated[tuple[RunHost, ...], Field(exclude_if=lambda hosts: not hosts)]
"""Hosts under a key that is left out when there is none."""

RunFiles: TypeAlias = Annotated[tuple[RunFile, ...], Field(exclude_if=lambda files: not files)]
"""Files under a key that is left out when there is none."""


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The outcome of one run.

    Keys of `outputs`, `nodes` and `types` are node ids; several outputs of a node are an object by port. `types` has
    the type that each value had in the flow: `Message`, `Data`, `DataFrame`, `Text`, `Number`, …
    """

    run_id: str
    output: str | None
    outputs: JsonValues
    metrics: RunMetrics
    nodes: JsonValues = field(default_factory=dict[str, Json])
    error: RunError | None = None
    types: JsonValues = field(default_factory=dict[str, Json])
    usage: Mapping[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    """What the model calls of each node used, by node id; the key is empty for calls that name no node."""
    faults: Faults = ()
    """What is wrong with a flow that did not pass its checks and was not run."""
    files: RunFiles = ()
    """What it wrote into the user's files, in the order of their paths."""
    untrusted_code: Untrusted = False
    """Whether code that is not the catalogue's took part, so that all of this is by that code's own account."""
    refused_calls: RefusedCalls = ()
    """The system calls that it tried and that no run may make: a component that needs them does not work here."""
    refused_call_counts: CallCounts = field(default_factory=dict[str, int])
    """How often it tried each of them."""
    missing_protections: Missing = ()
    """The required protections that this machine lacks, so that it ran without them: the operator allowed that."""
    hosts: RunHosts = ()
    """The hosts that it reached, with bytes both ways, and those that it was refused, in the order of its first try."""

    dropped_log_lines: DroppedLines = 0
    """How many of the lines that its components logged were dropped because they were too many."""

    @classmethod
    def failed(cls, run_id: str, failure: RunFailed) -> RunResult:
        """The result of a run that has only an error."""
        metrics = RunMetrics(seconds=failure.seconds)
        return cls(run_id=run_id, output=None, outputs={}, metrics=metrics, error=failure.error)

    @property
    def busy(self) -> bool:
        """Whether the run was not accepted because too many wait; it may work later."""
        return self.error == BUSY

    @computed_field
    @property
    def ok(self) -> bool:
        """Whether the flow ran to its end without an error."""
        return self.error is None

    def to_json(self) -> JsonObject:
        """Return the result as a JSON object, in the shape that `flow run --json` prints, with the run's id."""
        return {
            "ok": self.ok,
            "run_id": self.run_id,
            "output": self.output,
            "outputs": dict(self.outputs),
            "nodes": dict(self.nodes),
            "types": dict(self.types),
            "metrics": self.metrics.to_json(),
            "usage": {node: usage.to_json() for node, usage in self.usage.items()},
            "error": None if self.error is None else self.error.to_json(),
            **({"faults": [fault.to_json() for fault in self.faults]} if self.faults else {}),
            **({"files": [file.to_json() for file in self.files]} if self.files else {}),
            **({"untrusted_code": True} if self.untrusted_code else {}),
            **({"refused_calls": list(self.refused_calls)} if self.refused_calls else {}),
            **({"refused_call_counts": dict(self.refused_call_counts)} if self.refused_call_counts else {}),
            **({"missing_protections": list(self.missing_protections)} if self.missing_protections else {}),
            **({"dropped_log_lines": self.dropped_log_lines} if self.dropped_log_lines else {}),
            **({"hosts": [host.to_json() for host in self.hosts]} if self.hosts else {}),
        }

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> RunResult:
        """Read the result that `to_json` wrote.

        Raises:
            KeyError, TypeError: a part is missing or of another type.
        """
        figures = {name: value for name, value in obj["metrics"].items() if name != "total_tokens"}
        return cls(
            run_id=obj["run_id"],
            output=obj["output"],
            outputs=obj["outputs"],
            nodes=obj["nodes"],
            types=obj.get("types", {}),
            metrics=RunMetrics(**figures),
            error=None if obj["error"] is None else RunError(**obj["error"]),
            usage={node: ModelUsage(**usage) for node, usage in obj.get("usage", {}).items()},
            faults=tuple(Fault(**fault) for fault in obj.get("faults", ())),
            files=tuple(RunFile(**file) for file in obj.get("files", ())),
            untrusted_code=obj.get("untrusted_code", False),
            refused_calls=tuple(obj.get("refused_calls", ())),
            refused_call_counts=dict(obj.get("refused_call_counts", {})),
            missing_protections=tuple(obj.get("missing_protections", ())),
            dropped_log_lines=obj.get("dropped_log_lines", 0),
            hosts=tuple(RunHost(**host) for host in obj.get("hosts", ())),
        )
