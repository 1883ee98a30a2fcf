"""A round that runs without a network: scripted models, files and services that stand in, and checks of what they show.

Every input has a mark. The scripted models echo the marks that reach them, so an output shows whether a model was
given the document, the question and the page that the task speaks of. A page, a search, a picture and a voice come
from services on loopback, which answer the right request only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from evals.expectation import Expectation, Probe
from evals.imports.chat2workflow.details import NO_TEST, RoundDetails, TestDetails
from evals.imports.chat2workflow.files import kind_of, stand_in_for
from evals.imports.chat2workflow.format import BenchmarkCase, BenchmarkCheck, Value
from evals.imports.chat2workflow.marks import (
    answered,
    answers_at_least,
    echo_pattern,
    expects,
    made_mark,
    mark_of,
    together,
    unanswered,
    word,
)
from evals.scenario import ModelRule
from evals.service import Route, Service

MODEL_KINDS: Final = frozenset({"llm", "parameter-extractor", "echarts", "mermaid-converter"})
"""Kinds of nodes in which a model works."""
MAKERS: Final = {"text2image": "picture", "tts": "voice", "mermaid-converter": "diagram"}
"""Kinds of nodes that a service stands in for, and what it makes where no output is a picture or a voice."""
MEDIA: Final = frozenset({".png", ".jpg", ".svg", ".wav", ".mp3"})
"""Endings of what a service makes, as no component does."""
WRITTEN: Final = {".md": "markdown", ".html": "html", ".txt": "txt", ".csv": "csv"}
"""Endings that can be written, with the ending that the file then has."""
LISTS: Final = ("_list", "_files")
"""How the names of variables end that hold several files, even where a test has one."""
_URL: Final = re.compile(r"https?://[^/\s]+(\S*)")
_WEB, _SEARCH, _STUDIO = "web", "search", "studio"


@dataclass(frozen=True, kw_only=True)
class Offline:
    """What a round needs to be played without a network.

    Attributes:
        hint: what the user says about it in the last message.
        notes: what was adapted, a sentence each.
    """

    probes: tuple[Probe, ...] = ()
    models: tuple[ModelRule, ...] = ()
    services: tuple[Service, ...] = ()
    hint: str = ""
    notes: tuple[str, ...] = ()


def offline(
    check: BenchmarkCheck, details: RoundDetails, kinds: Mapping[str, str], files: Path | None = None
) -> Offline:
    """Make a round playable without a network.

    Args:
        details: what Wirewright knows of the round.
        kinds: the endings of the stand-ins for files, by the variables of the round's task.
        files: the folder of the benchmark's files; None makes stand-ins of all.
    """
    maker = _Maker(check, details, kinds, files)
    cases = [case for case in check.cases if case.inputs]
    if not cases:
        return Offline()
    return Offline(
        probes=tuple(maker.probe(case) for case in cases),
        models=maker.models(cases),
        services=maker.services(cases),
        hint=maker.hint,
        notes=tuple(maker.notes),
    )


@dataclass
class _Maker:
    """What is made of one round."""

    check: BenchmarkCheck
    details: RoundDetails
    endings: Mapping[str, str]
    folder: Path | None
    notes: list[str] = field(default_factory=list[str])

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.check.kinds)

    @cached_property
    def file_variables(self) -> dict[str, bool]:
        """The variables that hold files, and whether a list of them."""
        found = {name: name.endswith(LISTS) for name in self.check.inputs if name in self.endings}
        for case in self.check.cases:
            for name, value in case.inputs.items():
                found |= {name: True} if not isinstance(value, str) and len(value) > 1 else {}
        return found

    @cached_property
    def typed(self) -> tuple[str, ...]:
        """The variables that are typed into the chat."""
        return tuple(name for name in self.check.inputs if name not in self.file_variables)

    @cached_property
    def has_model(self) -> bool:
        return bool(self.kinds & MODEL_KINDS)

    @property
    def hint(self) -> str:
        parts = list(self._hints())
        return " ".join(parts)

    def probe(self, case: BenchmarkCase) -> Probe:
        """The run of one test, and what must come of it."""
        told = self.details.tests.get(case.name, NO_TEST)
        message, files = self._message(case), dict(self._files(case))
        if told.equals is not None:
            return Probe(input=message, files=files, equals=told.equals)
        outputs = self._outputs(told)
        rules = tuple(self._text_rules(case, told, outputs))
        writes = {
            f"{name}.{self._ending(name)}": Expectation(regex=together(self._patterns(case, told)))
            for name in outputs
            if self._is_file(name)
        }
        if not rules and writes:
            return Probe(input=message, files=files, writes=writes)
        first, *others = rules or (Expectation(regex=r"\S"),)
        return Probe(
            input=message,
            files=files,
            regex=first.regex,
            contains=first.contains,
            also=tuple(others),
            writes=writes,
        )

    def models(self, cases: list[BenchmarkCase]) -> tuple[ModelRule, ...]:
        """What the models in the flow answer: the marks that reach them."""
        told = [self.details.tests.get(case.name, NO_TEST) for case in cases]
        words = [
            word(text) for text in (*self.details.must, *(one for test in told for one in (*test.must, *test.lacks)))
        ]
        echo = echo_pattern([*(mark for case in cases for mark in self._all_marks(case)), *words])
        chosen = tuple(
            ModelRule(
                when=rf'(?s)Text to classify: "(?=.*(?:{pattern}))',
                say="NONE",
                quote=rf'- "([^"\n]*(?i:{re.escape(name)})[^"\n]*)"',
            )
            for name, pattern in self.details.classes.items()
        )
        forms = ()
        if keys := self.details.json_keys:
            body = ", ".join(f'"{key}": "{{echo}}"' for key in keys)
            forms = (ModelRule(when=together(word(key) for key in keys), say=f"{{{body}}}", echo=echo),)
        own = tuple(rule.model_copy(update={"echo": echo}) for rule in self.details.rules)
        return (*chosen, *own, *forms, ModelRule(say="Done.", echo=echo))

    def services(self, cases: list[BenchmarkCase]) -> tuple[Service, ...]:
        """The services that stand in for pages, searches, and makers of pictures and voices."""
        pages = [route for case in cases for route in self._pages(case)]
        found = [] if not pages else [Service(name=_WEB, routes=tuple(dict.fromkeys(pages)))]
        if "google-search" in self.kinds:
            found.append(Service(name=_SEARCH, routes=tuple(self._search(case) for case in cases)))
        routes = [
            Route(
                path=f"/{name}",
                method=method,
                asked=together(self._asked(name, case)),
                json={"url": self._medium(name, case)},
            )
            for name in self._media
            for case in cases
            for method in ("GET", "POST")
        ]
        if routes:
            found.append(Service(name=_STUDIO, routes=tuple(routes)))
        return tuple(found)

    def _hints(self) -> Iterator[str]:
        if len(self.typed) > 1:
            lines = ", ".join(f"'{name}: …'" for name in self.typed)
            yield f"When I try it, I type everything into the chat, a line each: {lines}."
            self.notes.append("several inputs are typed as one message, a line each; the last message says so")
        for name, several in self.file_variables.items():
            place = f"The files of {name} are in the folder {name}" if several else f"{name} is {self._path(name)}"
            yield f"{place} in my files; their content changes from run to run."
        for name in (*self._hidden_media, *self._all_outputs):
            if name in self._media:
                address = f"{{{{service:{_STUDIO}}}}}/{name}?prompt=…"
                yield f"A service makes {name}: GET {address} answers with JSON, whose url is {name}."
                self.notes.append(f"{name} is made by a service on loopback, which the last message names")
            elif self._is_file(name):
                ending = self.check.endings[name]
                written = WRITTEN.get(ending)
                form = "Markdown, HTML or plain text will do" if written is None else f"as {written}"
                yield f"Write {name} as a file called {name}; {form}."
                if written is None:
                    self.notes.append(f"{name} may be Markdown, HTML or text: no component writes {ending}")
        if "google-search" in self.kinds:
            yield f"Search with {{{{service:{_SEARCH}}}}}/search?q=…, which answers with JSON."
            self.notes.append("searches go to a service on loopback, which the last message names")
        if self.details.hint is not None:
            yield self.details.hint

    def _message(self, case: BenchmarkCase) -> str:
        texts = {name: self._typed_text(case.inputs.get(name, "")) for name in self.typed}
        if len(texts) == 1:
            return next(iter(texts.values()))
        return "\n".join(f"{name}: {text}" for name, text in texts.items()) or "go"

    def _typed_text(self, value: Value) -> str:
        """A text as it is typed: addresses are those of the stand-in."""
        return (
            "" if not isinstance(value, str) else _URL.sub(lambda url: f"{{{{service:{_WEB}}}}}{url.group(1)}", value)
        )

    def _files(self, case: BenchmarkCase) -> Iterator[tuple[str, str]]:
        for name, several in self.file_variables.items():
            value = case.inputs.get(name, "")
            if isinstance(value, str):
                yield self._path(name), "\n"  # left empty
                continue
            for number, file in enumerate(value, start=1):
                path = f"{name}/{number}.{kind_of(file)}" if several else self._path(name)
                stand_in = stand_in_for(file, number, self.details.contents.get(name, ()), self.folder)
                yield path, stand_in.text
                if stand_in.note:
                    self.notes.append(stand_in.note)

    def _pages(self, case: BenchmarkCase) -> Iterator[Route]:
        page = "<html><head><title>A page</title></head><body><p>It tells of {mark}.</p></body></html>"
        for value in case.inputs.values():
            for url in _URL.finditer(value) if isinstance(value, str) else ():
                for ending, text in (self.details.pages or {"": page}).items():
                    mark = made_mark("page", f"{url.group()}{ending}")
                    yield Route(path=f"{url.group(1) or '/'}{ending}", text=text.replace("{mark}", mark))

    def _search(self, case: BenchmarkCase) -> Route:
        """The answer to a search for what a test is about."""
        results: JsonValue = {"results": [{"title": "A source", "content": f"It says {self._source(case)}."}]}
        asked = together(mark for value in case.inputs.values() for mark in self._marks(value))
        return Route(path="/search", asked=asked, json=results)

    def _source(self, case: BenchmarkCase) -> str:
        return made_mark("source", case.name)

    def _all_marks(self, case: BenchmarkCase) -> Iterator[str]:
        """The marks of all inputs of a test."""
        for value in case.inputs.values():
            yield from self._marks(value)
        if "google-search" in self.kinds:
            yield self._source(case)
        yield from (re.escape(self._medium(name, case)) for name in self._hidden_media)

    def _marks(self, value: Value) -> Iterator[str]:
        if not isinstance(value, str):
            yield from (made_mark("subject", file.value) for file in value)
        elif _URL.search(value):
            endings = self.details.pages or {"": ""}
            yield from (made_mark("page", f"{url.group()}{one}") for url in _URL.finditer(value) for one in endings)
        elif (mark := mark_of(value)) is not None:
            yield mark

    def _patterns(self, case: BenchmarkCase, told: TestDetails = NO_TEST) -> list[str]:
        """What must be found in what a test gives."""
        if "google-search" in self.kinds:
            wanted = [self._source(case)]  # it answers who asked for the inputs
        else:
            texts = (value for name, value in case.inputs.items() if name not in self.details.choosing)
            wanted = [mark for value in texts for mark in self._marks(value)]
        if not self.has_model:
            return wanted
        told = told if told is not NO_TEST else self.details.tests.get(case.name, NO_TEST)
        words = [word(text) for text in (*self.details.must, *told.must)]
        return [answered(mark) for mark in (*wanted, *words)]

    def _asked(self, name: str, case: BenchmarkCase) -> list[str]:
        """What a service must be asked for: what is only on the way to an output shows the inputs alone."""
        if name not in self._hidden_media:
            return self._patterns(case)
        return [answered(mark) for value in case.inputs.values() for mark in self._marks(value)]

    def _text_rules(self, case: BenchmarkCase, told: TestDetails, outputs: tuple[str, ...]) -> Iterator[Expectation]:
        texts = [name for name in outputs if not self._is_file(name) and not self._is_medium(name)]
        if texts:
            yield from expects(*self._patterns(case, told))
            yield from expects(*(answered(re.escape(self._medium(name, case))) for name in self._hidden_media))
            marks = [
                mark for value in case.inputs.values() if not isinstance(value, str) for mark in self._marks(value)
            ]
            yield from expects(*(_filled(pattern, marks) for pattern in told.matches))
        if texts and self.has_model:
            yield from expects(*(unanswered(word(text)) for text in told.lacks))
            if len(texts) > 1:
                yield from expects(answers_at_least(len(texts)))
        if texts and "iteration" in self.kinds and self.has_model:
            for name, several in self.file_variables.items():
                each = several and name not in self.details.choosing
                marks = list(self._marks(case.inputs[name])) if each else []
                yield from expects(*(answered(mark, [one for one in marks if one != mark]) for mark in marks))
        if texts:
            yield from expects(*(rf"{re.escape(key)}\W*:" for key in self.details.json_keys))
        for name in outputs:
            if self._is_medium(name):
                yield Expectation(contains=self._medium(name, case))

    def _outputs(self, told: TestDetails) -> tuple[str, ...]:
        """The outputs of a test: of its branch, or what all branches give."""
        sets = self.check.outputs
        if told.branch is not None and told.branch < len(sets):
            return sets[told.branch]
        return tuple(name for name in (sets[0] if sets else ()) if all(name in one for one in sets))

    @property
    def _all_outputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for names in self.check.outputs for name in names))

    @cached_property
    def _hidden_media(self) -> tuple[str, ...]:
        """What services make on the way to other outputs."""
        if any(self._is_medium(name) for name in self._all_outputs):
            return ()
        return tuple(made for kind, made in MAKERS.items() if kind in self.kinds)

    @property
    def _media(self) -> tuple[str, ...]:
        return (*self._hidden_media, *(name for name in self._all_outputs if self._is_medium(name)))

    def _is_medium(self, name: str) -> bool:
        return self.check.endings.get(name, "") in MEDIA

    def _is_file(self, name: str) -> bool:
        return name in self.check.endings and not self._is_medium(name) and name not in self.details.texts

    def _medium(self, name: str, case: BenchmarkCase) -> str:
        return f"https://studio.example/{name}-{case.name}{self.check.endings.get(name, '.png')}"

    def _ending(self, name: str) -> str:
        return WRITTEN.get(self.check.endings[name], "*")

    def _path(self, name: str) -> str:
        return f"{name}.{self.endings[name]}"


def _filled(pattern: str, marks: Sequence[str]) -> str:
    """A pattern with the marks of a test's files in place of their numbers."""
    for number, mark in enumerate(marks, start=1):
        pattern = pattern.replace(f"{{{number}}}", mark)
    return pattern
