"""The allow list: what components may use, read from `rules/*.yaml` and the operator's own file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, cast, get_args

import yaml

from runtime.files.private import OthersMayWriteError, read_unshared
from runtime.guard.violations import Rule

ALLOW: Final = "WIREWRIGHT_GUARD_ALLOW"
"""The environment variable that names the operator's own file."""
UNLISTED: Final = "unlisted"
_FOLDER = Path(__file__).parent / "rules"
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TELLING = frozenset({"__name__", "__qualname__", "__doc__", "__version__"})
_SAME = {"langflow": "lfx", "posixpath": "os.path", "ntpath": "os.path"}


class RulesError(ValueError):
    """A file of rules that cannot be used; the message says where and why."""


@dataclass(frozen=True)
class Rules:
    """What components may use.

    Attributes:
        modules: the public names of each module, with the check that a call of each has to pass ("" for none).
        packages: the modules, and the packages that they are in.
        by_name: modules of which a name may be made at run time, since nothing in them is judged.
        refused: rules by dotted path: why something is refused, or an exception from what is listed.
        attributes: rules by attribute name: what is refused on whatever object.
        methods: checks by method name, on whatever object.
        private: names with underscores that may be read.
        fixes: what to use instead, by dotted path.
    """

    modules: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    packages: frozenset[str] = frozenset()
    by_name: frozenset[str] = frozenset()
    refused: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    attributes: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    methods: Mapping[str, str] = field(default_factory=dict[str, str])
    private: frozenset[str] = frozenset()
    fixes: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def of_instances(self) -> Mapping[str, list[str]]:
        """By the name of a method, the paths of those that are judged or refused for instances of one class."""
        found: dict[str, list[str]] = {}
        judged = (
            f"{module}.{name}" for module, names in self.modules.items() for name, check in names.items() if check
        )
        for path in [*judged, *self.refused]:
            if "()" in path:
                found.setdefault(path.rpartition(".")[2], []).append(path)
        return found

    def is_module(self, path: str) -> bool:
        """Whether the path names a module, or a package of modules, that may be imported."""
        return path in self.packages

    def names(self, module: str) -> Mapping[str, str]:
        """The public names of a module with their checks."""
        return self.modules.get(module, {})

    def check(self, path: str) -> str:
        """The check that a call of what the path names has to pass; empty when there is none."""
        module, _, name = path.rpartition(".")
        if path.startswith("@"):
            return self.names("builtins").get(path[1:], "")
        return self.names(module).get(name, "")

    def refusal(self, path: str) -> Rule | None:
        """The rule that using what a dotted path names breaks; None when it is listed."""
        if path.startswith("@"):
            name = path[1:].partition(".")[0]
            return None if name in self.names("builtins") else self.refused.get(f"builtins.{name}", "escape")
        parts = path.split(".")
        if parts[-1] in _TELLING and len(parts) > 1:
            return self.refusal(".".join(parts[:-1]))
        for size in range(len(parts), 0, -1):
            prefix = ".".join(parts[:size])
            if size == len(parts) and prefix in self.packages and prefix != "builtins":
                return None
            if prefix in self.refused:
                return self.refused[prefix]
            if parts[size - 1] in self.names(".".join(parts[: size - 1])):
                return None
        return "unlisted"

    def fix(self, path: str) -> str | None:
        """What to use instead of what a path names, when the rules say so."""
        parts = path.split(".")
        found = (self.fixes.get(".".join(parts[:size])) for size in range(len(parts), 0, -1))
        near = get_close_matches(parts[-1], self.names(".".join(parts[:-1])), 1)
        near_fix = f"Did you mean `{near[0]}`?" if near and self.refusal(path) == UNLISTED else None
        return near_fix or next((fix for fix in found if fix), None)


def canonical(path: str) -> str:
    """A module's path by the name that the rules have: the engine reads `langflow` as `lfx`."""
    top, dot, rest = path.partition(".")
    return _SAME.get(top, top) + dot + rest


def rules() -> Rules:
    """The rules in force: those of `rules/*.yaml`, and those of the operator's file if one is named.

    Raises:
        RulesError: the operator's file cannot be used.
    """
    place = os.environ.get(ALLOW, "").strip()
    if not place:
        return _own()
    try:
        return _with(read_unshared(Path(place), follow=True))
    except OSError:
        raise RulesError(f"The file that {ALLOW} names cannot be read.") from None
    except OthersMayWriteError as error:
        raise RulesError(
            f"The file that {ALLOW} names is not used: {error.why}. Look at it, then: {error.remedy}"
        ) from None
    except UnicodeDecodeError:
        raise RulesError(f"The file that {ALLOW} names is not YAML.") from None


@lru_cache(maxsize=1)
def _own() -> Rules:
    modules: dict[str, dict[str, str]] = {}
    by_name: set[str] = set()
    for path in sorted((_FOLDER / "allowed").glob("*.yaml")):
        list(_add(modules, by_name, _mapping(_read(path), path.name)))
    words = _mapping(_read(_FOLDER / "attributes.yaml"), "attributes.yaml")
    refused = _mapping(_read(_FOLDER / "refused.yaml"), "refused.yaml")
    return Rules(
        modules,
        _packages(modules),
        frozenset(by_name),
        _by_word(refused, leave="instead"),
        _by_word(_mapping(words["refused"], "attributes.yaml")),
        {name: check for name, _, check in (word.partition(":") for word in str(words["judged"]).split())},
        frozenset(str(words["private"]).split()),
        {path: str(text) for path, text in _mapping(refused["instead"], "refused.yaml").items()},
    )


@lru_cache(maxsize=4)
def _with(text: str) -> Rules:
    own = _own()
    modules, by_name = {module: dict(names) for module, names in own.modules.items()}, set(own.by_name)
    try:
        more = _mapping(_parsed(text), ALLOW)
    except yaml.YAMLError:
        raise RulesError(f"The file that {ALLOW} names is not YAML.") from None
    allowed = set(_add(modules, by_name, more))
    refused: dict[str, Rule] = {path: rule for path, rule in own.refused.items() if path not in allowed}
    return replace(own, modules=modules, packages=_packages(modules), by_name=frozenset(by_name), refused=refused)


def _add(modules: dict[str, dict[str, str]], by_name: set[str], more: Mapping[str, object]) -> Iterator[str]:
    """Add the entries of a file; the dotted paths of what they name."""
    for key, entry in more.items():
        fields = _mapping(entry, key)
        if not str(fields.get("why", "")).strip() or fields.keys() - {"why", "names", "by_name"}:
            raise RulesError(f"The entry {key!r} needs a reason under `why`, and its names under `names`.")
        for module in key.split():
            inside = module
            names = modules.setdefault(module, {})
            for word in str(fields.get("names") or "").split():
                if word.endswith("."):
                    inside = f"{module}.{word[:-1]}"
                    names = modules.setdefault(inside, {})
                else:
                    name, _, names[name] = word.partition(":")
                    yield f"{inside}.{name}"
            if fields.get("by_name") is True:
                by_name.add(module)


def _by_word(table: Mapping[str, object], leave: str = "") -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule, words in table.items():
        if rule != leave:
            found.update(dict.fromkeys(str(words).split(), _rule(rule)))
    return found


def _packages(modules: Mapping[str, object]) -> frozenset[str]:
    split = [module.split(".") for module in modules]
    return frozenset(".".join(parts[:size]) for parts in split for size in range(1, len(parts) + 1))


def _read(path: Path) -> object:
    return _parsed(path.read_text(encoding="utf-8"))


def _parsed(text: str) -> object:
    return cast("object", yaml.load(text, Loader=_LOADER))  # noqa: S506  (a safe loader)


def _mapping(found: object, where: str) -> Mapping[str, object]:
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in cast("dict[object, object]", found)):
        raise RulesError(f"{where!r} is not a mapping of names.")
    return cast("dict[str, object]", found)


def _rule(name: str) -> Rule:
    if name not in get_args(Rule):
        raise RulesError(f"There is no rule {name!r}.")
    return cast("Rule", name)
