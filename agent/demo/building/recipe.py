"""Recipes: the files of `recipes/`, each with its words in eight languages and a piece of a flow with holes."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent.demo.building.stages import Stage, entry
from agent.demo.words import Words, words
from agent.language.shipped_yaml import load_shipped

_HOLE = re.compile(r"<<(\w+)>>")
FOLDER = Path(__file__).parent.with_name("recipes")


class _Recipe(BaseModel):
    """A recipe as its file has it.

    Attributes:
        title: what a flow is called that is made of it alone.
        words: what asks for it, by language; see `words.yaml` for how they are written.
        task: what a model is told to do, for a recipe that is only that.
        tool: the component type that an agent gets as a tool, for a recipe that is only that.
        rank: for a recipe that gives a flow its shape: of several that a message names, the one with the lowest does.
        step: whether it works on the text that another recipe gives.
        nodes: its nodes with their component types; `@` stands for its own name.
        into: the port that takes the message.
        out: the port that gives the answer.
        edges: the connections within it.
        config: values, with holes: `<<task>>`, `<<request>>`, `<<manner>>`, `<<model>>`, `<<schema>>` and
            `<<database>>`.
        needs: what the user has to do before the first run, by language.
        given: the hole that a message may fill, such as `database`.
        needs_given: what the user has to do when it does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    words: dict[str, str] = {}
    task: str = ""
    tool: str = ""
    rank: int | None = None
    step: bool = False
    nodes: dict[str, str] = {}
    into: str | None = None
    out: str = ""
    edges: list[str] = []
    config: dict[str, str | int | bool] = {}
    needs: dict[str, str] = {}
    given: str = ""
    needs_given: dict[str, str] = {}


class Recipe:
    """A recipe that is ready for use."""

    def __init__(self, name: str, file: _Recipe) -> None:
        self.name = name
        self.title = file.title
        self.words: Words = words(file.words)
        self.task = file.task
        self.tool = file.tool
        self.step = file.step
        self.rank = file.rank
        self.needs = file.needs
        self.given = file.given
        self.needs_given = file.needs_given
        self.out = file.out or ("component_as_tool" if file.tool else "")
        self._file = file

    @property
    def types(self) -> tuple[str, ...]:
        """The component types that it is made of."""
        return (self.tool,) if self.tool else tuple(self._file.nodes.values())

    def is_set_in(self, value: Callable[[str], object]) -> bool:
        """Whether a component has its settings, as far as they have no holes.

        Args:
            value: the component's value of a field.
        """
        said = {key.rpartition(".")[2]: one for key, one in self._file.config.items() if _HOLE.search(str(one)) is None}
        return all(str(one) in str(value(field)) for field, one in said.items())  # a choice may stand in a list

    def stage(self, holes: Mapping[str, str]) -> Stage:
        """Its piece of a flow; a value whose hole is empty is not set.

        Args:
            holes: what fills its holes, by name.
        """
        file = self._file
        config: list[str] = []
        for key, value in file.config.items():
            if not isinstance(value, str):
                config.append(f"  {key}: {json.dumps(value)}")
                continue
            filled = _filled(value, holes)
            if filled.strip():
                config.append(entry(key, filled.strip()))
        return Stage(
            name=self.name.replace("-", "_"),
            nodes=tuple(file.nodes.items()),
            into=file.into,
            out=file.out,
            edges=tuple(file.edges),
            config=tuple(config),
            title=self.title,
        )


def _filled(template: str, holes: Mapping[str, str]) -> str:
    """A value with its holes filled; braces in what fills them are no variables where the value has some."""
    has_variables = re.search(r"\{\w+\}", template) is not None

    def filling(hole: re.Match[str]) -> str:
        text = holes.get(hole[1], "")
        return text.replace("{", "{{").replace("}", "}}") if has_variables else text

    return _HOLE.sub(filling, template)


@cache
def recipes() -> Mapping[str, Recipe]:
    """The recipes by name."""
    files = sorted(FOLDER.glob("*.yaml"))
    return {
        path.stem: Recipe(path.stem, _Recipe.model_validate(load_shipped(path.read_text(encoding="utf-8"))))
        for path in files
    }
