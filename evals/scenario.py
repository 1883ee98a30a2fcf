"""A scenario: what someone asks for in their own words, and how to tell whether they got it."""

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, model_validator

FOLDER = Path(__file__).parent / "scenarios"
"""Where the scenarios live that come with Wirewright."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]


class ScenarioError(ValueError):
    """A scenario file that cannot be used; `place` names the file and the spot in it."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Expectation(_Strict):
    """What an output must be; exactly one of the three.

    Attributes:
        equals: the whole text.
        contains: a part of it.
        regex: a pattern that is found in it.
    """

    equals: str | None = None
    contains: Text | None = None
    regex: Text | None = None

    @model_validator(mode="after")
    def _one_of_three(self) -> "Expectation":
        given = [rule for rule in (self.equals, self.contains, self.regex) if rule is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of equals, contains and regex")
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"regex is no regular expression: {error}") from None
        return self

    def met_by(self, output: str | None) -> bool:
        """Whether an output is as expected; no output never is."""
        if output is None:
            return False
        if self.equals is not None:
            return output == self.equals
        if self.contains is not None:
            return self.contains in output
        return re.search(self.regex or "", output) is not None

    def __str__(self) -> str:
        rule, value = next(
            (name, value) for name, value in self.model_dump(include=_RULES).items() if value is not None
        )
        return f"{rule} {value!r}"


_RULES = {"equals", "contains", "regex"}


class Probe(Expectation):
    """One run of the resulting flow: what is typed into the chat, and what must come out.

    Attributes:
        input: the chat's text; None runs the flow with what it holds.
    """

    input: str | None = None


class ScriptStep(_Strict):
    """One answer of a scripted model: a tool call, or the closing words.

    Attributes:
        tool: the tool to call.
        arguments: its arguments. A text `$name` stands for a node: the one that the starting canvas, or the spec of an
            earlier `build_flow` step, calls `name`, or that an earlier step added under this `name`.
        name: how later steps call the component that this step adds.
        say: closing words, in place of a call.
    """

    tool: Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")] | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]\w*$")] | None = None
    say: str | None = None

    @model_validator(mode="after")
    def _call_or_words(self) -> "ScriptStep":
        if (self.tool is None) == (self.say is None):
            raise ValueError("give either tool or say")
        if self.say is not None and (self.arguments or self.name):
            raise ValueError("say takes neither arguments nor name")
        return self


class Scenario(_Strict):
    """One scenario.

    Attributes:
        id: the file's name without its ending.
        about: what it is there to find out, in one sentence.
        prompts: the user's messages, one a turn.
        canvas: the flow at the start, as spec text; None is an empty canvas.
        run: what the last run of the last turn must give, when the user asked for one.
        probes: runs of the resulting flow.
        script: for the `script` player, the answers of each turn.
        tags: for choosing scenarios.
    """

    id: Slug
    about: Text
    prompts: Annotated[tuple[Text, ...], Field(min_length=1)]
    canvas: Text | None = None
    run: Expectation | None = None
    probes: Annotated[tuple[Probe, ...], Field(min_length=1)]
    script: tuple[tuple[ScriptStep, ...], ...] | None = None
    tags: tuple[Slug, ...] = ()

    @model_validator(mode="after")
    def _script_for_every_turn(self) -> "Scenario":
        if self.script is not None and len(self.script) != len(self.prompts):
            raise ValueError(f"script has {len(self.script)} turns, prompts has {len(self.prompts)}")
        return self

    @property
    def digest(self) -> str:
        """A short hash of everything that the scenario says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


def load_scenario(path: Path) -> Scenario:
    """Read one scenario.

    Raises:
        ScenarioError: naming the place of every fault.
    """
    try:
        text = path.read_text(encoding="utf-8")
        found: object = yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader that also refuses repeated keys)
    except (OSError, UnicodeDecodeError):
        raise ScenarioError(path.name, "cannot be read as UTF-8 text") from None
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ScenarioError(f"{path.name}{line}", error.problem or "is not YAML") from None
    except yaml.YAMLError:
        raise ScenarioError(path.name, "is not YAML") from None
    try:
        scenario = Scenario.model_validate_json(_as_json(found, path))
    except ValidationError as error:
        raise ScenarioError(path.name, "; ".join(_fault(item) for item in error.errors(include_url=False))) from None
    if scenario.id != path.stem:
        raise ScenarioError(path.name, f"id is {scenario.id!r}; it must be the file's name, {path.stem!r}")
    return scenario


def load_scenarios(folder: Path = FOLDER) -> tuple[Scenario, ...]:
    """Read every scenario of a folder, by id.

    Raises:
        ScenarioError: when one of them cannot be used, or there are none.
    """
    scenarios = tuple(load_scenario(path) for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem))
    if not scenarios:
        raise ScenarioError(folder.name, "holds no scenarios (*.yaml)")
    return scenarios


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys, the second of which would otherwise win silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  (PyYAML's signature)
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(cast("yaml.Node", key).value)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} is given twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _as_json(found: object, path: Path) -> str:
    import json

    try:
        return json.dumps(found)
    except (TypeError, ValueError):
        raise ScenarioError(path.name, "holds a value that JSON cannot say, such as a bare date; quote it") from None


def _fault(item: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
    return f"{place}: {item['msg']}" if place else str(item["msg"])
