"""The documents of `wirewright eval`."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from evals.analysis.comparison import Moved, Turned
from evals.analysis.llm_judge import Opinion
from evals.analysis.significance import Repeated, Significance
from evals.attempt import Attempt
from evals.behaviours.outcomes import Behaviour
from evals.calibration.calibration import Calibration
from evals.calibration.statements import Decided
from evals.exports.experiments import Experiment
from evals.gate import GateResult
from evals.mutate.matrix import Row
from evals.scenario import Scenario
from evals.scenarios.validation import InvalidFlow
from evals.score import Verdict
from flows.faults import Fault


class ScenarioBrief(TypedDict):
    """A scenario as it is listed, with how much of each kind it has."""

    id: str
    about: str
    split: str
    tags: list[str]
    turns: int
    alternatives: int
    wrong: int
    probes: int
    digest: str


class ScenarioList(TypedDict):
    """The scenarios; `faults`, the flows that do not build, is there with --check."""

    scenarios: list[ScenarioBrief]
    faults: NotRequired[list[InvalidFlow]]


class PlayedAttempt(TypedDict):
    """An attempt, and how it was scored."""

    attempt: Attempt
    verdict: Verdict


class ScenarioShown(TypedDict):
    """A scenario, and the attempts at it."""

    scenario: Scenario
    played: list[PlayedAttempt]


class TaggedVerdict(Verdict):
    """A verdict, with the tags of its scenario."""

    tags: tuple[str, ...]


class Summed(TypedDict):
    """A scored play: the share that passed, means of the scores, and every verdict with its scenario's tags.

    `interval` is the 95% interval of the pass rate, over the clusters of scenarios that were scored.
    """

    ok: bool
    player: str
    min_pass: float
    pass_rate: float | None
    interval: list[float] | None
    clusters: int
    passed: int
    scored: int
    harness_errors: int
    rates: dict[str, float | None]
    attempts: list[TaggedVerdict]
    gate: GateResult | None
    repeated: list[Repeated]
    cost: float | None
    not_played: int


class PlaysCompared(TypedDict):
    """What changed from one play to another; not ok when something passed before that does not now."""

    ok: bool
    same: bool
    lost: list[Turned]
    gained: list[Turned]
    moved: list[Moved]
    added: list[str]
    missing: list[str]
    changed: list[str]
    rates: dict[str, tuple[float | None, float | None]]
    significance: Significance


class Reported(TypedDict):
    """The figures and verdicts of a report, without conversations and drawings."""

    format: int
    title: str
    baseline: str | None
    players: list[dict[str, Any]]
    against: list[dict[str, Any]]
    alone: list[str]
    duels: list[dict[str, Any]]
    apart: list[dict[str, Any]]
    spreads: list[dict[str, Any]]
    gate: dict[str, Any] | None
    attempts: list[dict[str, Any]]


class Mutant(TypedDict):
    """A fault that was seeded."""

    id: str
    operator: str
    what: str


class Mutated(TypedDict):
    """Which seeded faults the graders saw; `kill_rate` is null when none was made, and so is `turn_rate`."""

    ok: bool
    kill_rate: float | None
    floor: float
    operators: dict[str, Row]
    survivors: list[Mutant]
    accepted: list[Mutant]
    stale: list[str]
    controls: int
    disturbed: list[Mutant]
    turn_rate: float | None
    near_misses: dict[str, Row]
    missed: list[Mutant]
    not_judged: list[Mutant]


class RubricSum(TypedDict):
    """How often a rubric was met, the mean score, and how often the judge agrees with the deciding scores."""

    rubric: str
    judged: int
    passed: int
    mean: float | None
    agreement: float | None
    failed: int


class Judged(TypedDict):
    """A judge's opinions, their sums by rubric, and what it decided of the scenarios' statements."""

    judge: str
    rubrics: list[RubricSum]
    opinions: list[Opinion]
    decisions: list[Decided]


class Calibrated(TypedDict):
    """How a judge did on labelled answers, and whether it may decide by that; `why_not` is empty if it may."""

    decides: bool
    why_not: str
    calibration: Calibration


class FlowScored(TypedDict):
    """How a flow scores at a scenario; `verdict` is null when the flow does not build, and `faults` say why.

    On `compared` inputs it was compared with the reference; `differences` are those on which it gives something else.
    """

    ok: bool
    scenario: str
    verdict: Verdict | None
    compared: int
    differences: list[Behaviour]
    faults: list[Fault]


class Exported(TypedDict):
    """The experiments that were sent; `content` says whether texts went with them."""

    ok: bool
    content: bool
    experiments: list[Experiment]


class Written(TypedDict):
    """The files that an export wrote: `out` is the folder, or the one file."""

    ok: bool
    to: str
    out: str
    files: list[str]


class PackShown(TypedDict):
    """A pack: its name, version, digest and place, and how many scenarios each kind has in dev and in test.

    `apart` has the ids that `--dev` kept out of it; they count in `kinds`.
    """

    name: str
    version: str
    about: str
    digest: str
    path: str
    scenarios: int
    kinds: dict[str, tuple[int, int]]
    apart: list[str]


class FixObject(TypedDict):
    """The fewest changes that would have made an attempt pass, of how many, and whether fewer were ruled out."""

    scenario: str
    repeat: int
    player: str
    actions: list[dict[str, Any]]
    whole: int
    tries: int
    proven: bool


class Fixed(TypedDict):
    """The fixes that were found."""

    ok: bool
    fixes: list[FixObject]


class ImportedScenario(TypedDict):
    """A scenario that was made, and what was changed in it."""

    id: str
    turns: int
    probes: int
    expected: list[list[str]]
    criteria: int
    files: list[str]
    notes: list[str]


class ScenariosImported(TypedDict):
    """The scenarios that were made, and what was left out."""

    folder: str
    scenarios: list[ImportedScenario]
    left: list[str]


class ConversationPlayed(TypedDict):
    """How a conversation went: faults of its right course, and wrong courses that did not fail."""

    id: str
    passed: bool
    faults: list[str]
    passed_wrongly: list[str]
    seconds: float


class ConversationsPlayed(TypedDict):
    """How the conversations went."""

    ok: bool
    passed: int
    failed: int
    conversations: list[ConversationPlayed]
