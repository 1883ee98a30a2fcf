"""Which acts a sentence says were done: a linear model over its n-grams, the same for all languages.

The model is data (`spoken_acts.gz`), learned by `scripts/train_spoken_acts.py` from labelled sentences. It knows no
word for certain, so what it finds may cause another try and choose which facts are shown, and nothing else.
"""

import gzip
import math
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias
from zlib import crc32

Act: TypeAlias = Literal[
    "added", "removed", "connected", "renamed", "changed", "ran", "file", "component", "installed", "built", "approved"
]  # fmt: skip
"""An act that a sentence says was done in this turn."""

Stance: TypeAlias = Literal["denied", "failed", "proposed"]
"""What a sentence says else: that something was not done, that an attempt failed, or that something waits."""

STANCES: frozenset[Act | Stance] = frozenset({"denied", "failed", "proposed"})

LABELS: tuple[Act | Stance, ...] = (
    "added", "removed", "connected", "renamed", "changed", "ran", "file", "component", "installed", "built",
    "approved", "denied", "failed", "proposed",
)  # fmt: skip

CLEAR = 0.5
"""How probable it must be that an answer says something, to hold it to that."""

BUCKETS = 1 << 16
"""How many buckets the n-grams are hashed into."""

DIGEST = 32
"""How many bytes of the model say, before all others, what it was learned from."""

_SENTENCE = re.compile(r"(?<=[.!?;:…])(?<!\d\.)\s+|(?<=[。!?！？;；])|\n+|\s[–—]\s")
_QUOTE = re.compile(
    r"```.*?```|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』"
    r"|(?<!\w)'[^'\n]+'(?!\w)|https?://\S+",
    re.DOTALL,
)
FILE = re.compile(
    r"(?<![\w/.@-])[\w-]+(?:/[\w.-]+)*\.(?:md|txt|json|csv|tsv|ya?ml|pdf|docx?|xlsx?|html?|py|xml|log|png|jpe?g|svg)\b"
)
"""The name of a file."""

_IDENTIFIER = re.compile(r"\b(?:[A-Z][a-z]+){2,}\w*\b|\b[A-Za-z]+-\w*\d\w*\b|\b\w+_\w+\b")
_QUESTION = re.compile(r"[?？]")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_TOKEN = re.compile(r"\w+|[^\w\s*#|]")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, a quotation never cut."""
    masked = _QUOTE.sub(lambda quote: "¤" * len(quote.group()), text)
    start = 0
    for end in [*(gap.end() for gap in _SENTENCE.finditer(masked)), len(text)]:
        if text[start:end].strip():
            yield text[start:end].strip()
        start = end


def masked(sentence: str) -> str:
    """A sentence in lower case, with signs in place of what it quotes, names of files, identifiers and numbers."""
    text = _QUOTE.sub(lambda quote: " ƒ " if FILE.search(quote.group()) else " ¤ ", sentence)
    text = _NUMBER.sub("№", _IDENTIFIER.sub("¤", FILE.sub("ƒ", text)))
    return " ".join(_TOKEN.findall(unicodedata.normalize("NFKC", text).replace("’", "'").lower()))


def features(sentence: str) -> list[int]:
    """The buckets of a sentence's n-grams: of characters up to five, and of words up to three."""
    text = f" {masked(sentence)} "
    words = text.split()
    grams = {text[at : at + size] for size in range(1, 6) for at in range(len(text) - size + 1)}
    grams |= {"\t".join(words[at : at + size]) for size in range(1, 4) for at in range(len(words) - size + 1)}
    return sorted({crc32(gram.encode()) % BUCKETS for gram in grams})


@lru_cache(maxsize=512)
def label_probabilities(sentence: str) -> Mapping[Act | Stance, float]:
    """How probable each label is in a sentence; a question says that nothing was done, nor does what it denies."""
    scale, bias, weights = _model()
    found, size = features(sentence), len(LABELS)
    norm = math.sqrt(max(1, len(found)))
    rows = zip(*(weights[at * size : at * size + size] for at in found), strict=True)
    sums = [sum(column) for column in rows] or [0] * size
    scores = (bias[at] + sums[at] * scale[at] / norm for at in range(size))
    label = dict(zip(LABELS, (1 / (1 + math.exp(-score)) for score in scores), strict=True))
    doubt = 0.0 if _QUESTION.search(_QUOTE.sub(" ", sentence)) else 1 - label["denied"]
    return {one: p if one in STANCES else p * doubt for one, p in label.items()}


def strongest(answer: str) -> Mapping[Act | Stance, float]:
    """How probable each label is in the sentence of an answer that says it most clearly."""
    found = [label_probabilities(one) for one in sentences(answer)]
    return {label: max((one[label] for one in found), default=0.0) for label in LABELS}


@cache
def _model() -> "tuple[array[float], array[float], array[int]]":
    """Of each label its scale and its bias; of each bucket the labels' weights."""
    stored = gzip.decompress(Path(__file__).with_name("spoken_acts.gz").read_bytes())[DIGEST:]
    size = 4 * len(LABELS)
    return array("f", stored[:size]), array("f", stored[size : 2 * size]), array("b", stored[2 * size :])
