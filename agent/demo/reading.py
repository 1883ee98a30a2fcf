"""Reading a message: its language, its concepts, the recipes that it names, and the parts that no flow can do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from agent.demo.building.recipe import Recipe, recipes
from agent.demo.words import fold, found, message_language, vocabulary

RULES_LIMIT = 4_000
"""Characters of the longest message that rules read: their time grows with the square of its length."""

_QUOTED = re.compile(
    r"\"([^\"]*)\"|“([^”]*)”|„([^“”]*)[“”]|«\s*([^»]*?)\s*»|「([^」]*)」|『([^』]*)』|`([^`]*)`"
    r"|(?<![A-Za-zÀ-ɏ\d_'])'([^'\n]+)'(?=[\s.,;:!?)、。，ぁ-ヿ一-鿿]|$)|‘([^’]*)’"
)
_SIGNS = " ,.;:!?。，、；！？()（）\n"
_LEAST_UNSPACED, _LEAST_SPACED = 6, 14
"""How many characters a part has at least that is named as only told to the model."""
_ENDS = re.compile(r"[.;!?。；！？\n]+\s*|[,，、:：(（]\s*")
_SENTENCES = re.compile(r"(?:(?<!\b\w)\.|[;!?。；！？\n])+\s*")
"""The full stop of "z.b." and "e.g." ends no sentence."""

_ORDER = ("build", "flow", "filler", "greeting")
"""The concepts whose words order a flow and say nothing of what it does."""
_WORD = re.compile(r"[^\W_]+")
_PARTICLES = "をがにはで的吧"
_SHORT_WORD = 3


def _is_order(word: re.Match[str], order: Sequence[tuple[int, int]]) -> bool:
    """Whether a word only orders a flow, or joins such words: "me", "un", "der"."""
    inside = any(start <= word.start() and word.end() <= end for start, end in order)
    return inside or (len(word[0]) <= _SHORT_WORD and word[0].islower())


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a piece is a part of another that is longer."""
    return other[0] <= span[0] and span[1] <= other[1] and span != other


@dataclass(frozen=True)
class Part:
    """A piece of a message between two signs or joining words.

    Attributes:
        text: as it was written.
        folded: in the form that words are looked for in.
        joined: whether a word such as "and also" or "then" begins it.
    """

    text: str
    folded: str
    joined: bool


@dataclass(frozen=True)
class Reading:
    """A message, read once.

    Attributes:
        message: what is read.
        whole: the message that it is a part of, whose language it has; empty when it is the whole one.
    """

    message: str
    whole: str = ""

    @cached_property
    def folded(self) -> str:
        """The message in the form that words are looked for in."""
        return fold(self.message)

    @cached_property
    def language(self) -> str:
        """The code of its language."""
        return message_language(self.whole or self.message, [recipe.words for recipe in recipes().values()])

    def has(self, *concepts: str) -> bool:
        """Whether it has one of some concepts of the vocabulary."""
        return any(self.spans(concept) for concept in concepts)

    def spans(self, concept: str) -> list[re.Match[str]]:
        """Where the words of a concept stand; the "faz" of "o que faz" asks what something does, and builds nothing."""
        spans = found(vocabulary()[concept], self.folded, self.language)
        if concept != "build" or not spans:
            return spans
        asked = [match.span() for match in found(vocabulary()["explain"], self.folded, self.language)]
        return [match for match in spans if not any(_within(match.span(), one) for one in asked)]

    @cached_property
    def quotes(self) -> list[re.Match[str]]:
        """Its quoted texts."""
        return list(_QUOTED.finditer(self.message))

    @property
    def routes(self) -> bool:
        """Whether it gives texts for several cases."""
        return len(self.quotes) > 1 and self.has("condition", "otherwise")

    @property
    def asks_how_to_use_own_component(self) -> bool:
        """Whether it asks how a component of the user's own is used or written."""
        return self.asks and self.has("own_component") and self.has("way")

    @property
    def answers_quotes(self) -> bool:
        """Whether it says to answer, outside of its quoted texts, and these may be answers and what they answer."""
        inside = [range(quote.start(), quote.end()) for quote in self.quotes]
        said = [match for match in self.spans("answering") if not any(match.start() in one for one in inside)]
        return bool(inside) and len(inside) % 2 == 0 and bool(said)

    @cached_property
    def recipes(self) -> list[Recipe]:
        """The recipes whose words stand in what flows can do of it, but in no quotation, the earliest first."""
        text = fold(_QUOTED.sub(lambda match: " " * len(match[0]), self.doable))
        at: dict[str, int] = {}
        spans = {
            name: [one.span() for one in found(recipe.words, text, self.language)] for name, recipe in recipes().items()
        }
        for name, own in spans.items():
            others = [span for other, those in spans.items() if other != name for span in those]
            # a word within a longer one, such as 写 in 大写 or "web" in "página web", is not said
            own = [span for span in own if not any(_within(span, other) for other in others)]
            if own:
                at[name] = min(own)[0]
        return [recipes()[name] for name in sorted(at, key=lambda name: at[name])]

    @property
    def of_the_flow(self) -> bool:
        """Whether it wants to see the flow that is there, or speaks of it, rather than wanting one to be built."""
        if self.has("build") or self.quotes or self._undoable:
            return False
        shown = (
            self.has("showing") and self.has("form", "flow") and all(one.name == "extraction" for one in self.recipes)
        )
        return shown or self.has("this_flow")

    @property
    def removes_step(self) -> bool:
        """Whether it wants a step of the flow that is there to be removed."""
        return self.has("remove") and self.has("step") and not self.has("build", "add")

    @property
    def letters(self) -> list[str]:
        """What it asks to be done letter by letter or line by line, as it was written: no component does that."""
        said = [self.message[match.start() : match.end()] for match in self.spans("letters")]
        return [one for one in said if not any(one in part for part in self.unrecognised_parts)]

    def asks_for(self, *names: str) -> bool:
        """Whether one of some recipes is among those that it names."""
        return any(recipe.name in names for recipe in self.recipes)

    @cached_property
    def parts(self) -> list[Part]:
        """Its parts, cut at signs and at words that join something else to what was said."""
        words = [match.span() for concept in ("and", "besides") for match in self.spans(concept)]
        joints = [span for span in words if not self.folded.startswith("-", span[1])]  # "e" in "e-mail" joins nothing
        ends = [match.end() for match in _ENDS.finditer(self.message)]
        cuts = {end: False for end in ends if not any(start < end <= stop for start, stop in joints)}
        cuts |= {start: True for start, _ in joints}
        inside = [range(quote.start() + 1, quote.end()) for quote in self.quotes]
        places = sorted({0, *(place for place in cuts if not any(place in one for one in inside))})
        pieces: list[Part] = []
        for start, end in zip(places, [*places[1:], len(self.message)], strict=True):
            text = self.message[start:end]
            if text.strip(_SIGNS):
                pieces.append(Part(text, self.folded[start:end], cuts.get(start, False)))
        return pieces

    @cached_property
    def asks(self) -> bool:
        """Whether it is a question, by its sign or by a word that begins one of its parts."""
        if self.message.rstrip(" .").endswith(("?", "？")):
            return True
        unspaced = self.language in ("ja", "zh")
        circumstances = {match.start() for match in self.spans("condition")} if len(self.parts) > 1 else set[int]()
        return any(
            unspaced or (not self._before(match.start()) and match.start() not in circumstances)
            for match in self.spans("question")
        )

    def _before(self, place: int) -> str:
        """What stands before a place since the last sign, without greetings."""
        start = max((match.end() for match in _SENTENCES.finditer(self.message[:place])), default=0)
        greeted = [match.end() for match in self.spans("greeting") if match.start() >= start and match.end() <= place]
        return self.message[max([start, *greeted]) : place].strip()

    @cached_property
    def impossible_parts(self) -> list[str]:
        """The parts that ask for something in the world, which no flow can do, as they were written."""
        unserved = [*self.spans("schedule"), *self.spans("channel"), *self.spans("media")]
        named = [self.message[match.start() : match.end()] for match in unserved]
        return [*(part.text.strip(_SIGNS) for part in self._undoable), *named]

    @cached_property
    def unrecognised_parts(self) -> list[str]:
        """The parts that join something to what was asked for and that no recipe knows, as they were written."""
        least = _LEAST_UNSPACED if self.language in ("ja", "zh") else _LEAST_SPACED
        known = [recipe.words for recipe in recipes().values()]
        return [
            text
            for part in self.parts
            if part.joined and part not in self._undoable and part not in self._around
            if len(text := part.text.strip(_SIGNS)) >= least
            if not any(found(words, part.folded, self.language) for words in known)
        ]

    @cached_property
    def doable(self) -> str:
        """The message without the parts that no flow can do, and without those that ask for a plan or a run."""
        dropped = [*self._undoable, *self._around]
        return "".join(part.text for part in self.parts if part not in dropped)

    @cached_property
    def wanted(self) -> str:
        """What a flow is to do, without the order to build one: of "build me a flow that translates", "translates"."""
        text = self.doable.strip()
        unquoted = fold(_QUOTED.sub(lambda match: " " * len(match[0]), text))
        order = [match.span() for concept in _ORDER for match in found(vocabulary()[concept], unquoted, self.language)]
        if self.language in ("ja", "zh"):
            for start, end in sorted(
                {span for span in order if not any(_within(span, one) for one in order)}, reverse=True
            ):
                text = text[:start] + text[end:]
            return text.strip(_SIGNS + _PARTICLES)
        words = list(_WORD.finditer(text))
        kept = next((n for n, word in enumerate(words) if not _is_order(word, order)), len(words))
        builds = found(vocabulary()["build"], fold(text), self.language)
        begun = bool(words) and kept < len(words) and any(match.start() < words[kept].start() for match in builds)
        return text[words[kept].start() :] if begun else text

    @cached_property
    def _around(self) -> Sequence[Part]:
        """The parts that ask for a plan or a run of what is built; the first part is never one of them."""
        around = (vocabulary()["plan"], vocabulary()["run"])
        return [part for part in self.parts[1:] if any(found(one, part.folded, self.language) for one in around)]

    @cached_property
    def _undoable(self) -> Sequence[Part]:
        world = vocabulary()["world"]
        return [
            part
            for part in self.parts
            if found(world, part.folded, self.language)
            and (part.joined or not found(vocabulary()["build"], part.folded, self.language))
            and not any(
                found(recipe.words, part.folded, self.language)
                for recipe in recipes().values()
                if not recipe.tool and recipe.name not in ("document", "writing", "page")
            )
        ]


@cache
def read(message: str, whole: str = "") -> Reading:
    """Read a message.

    Args:
        message: the message, or a part of it.
        whole: the message that it is a part of.
    """
    return Reading(message, whole)
