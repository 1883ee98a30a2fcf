"""Learns `agent/honesty/spoken_acts.gz`, the model of which acts a sentence says were done, from labelled sentences.

python scripts/train_spoken_acts.py            learn and write the model
"""

import argparse
import gzip
import hashlib
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from agent.honesty.acts import BUCKETS, LABELS, features

FOLDER = Path(__file__).parent / "spoken_acts"
MODEL = Path("agent/honesty/spoken_acts.gz")
Labelled = tuple[str, frozenset[str], str]
"""A sentence, its labels, its language."""

JOINTS = {
    "en": [" and ", ", but "], "de": [" und ", ", aber "], "fr": [" et ", ", mais "], "es": [" y ", ", pero "],
    "pt": [" e ", ", mas "], "it": [" e ", ", ma "], "ja": ["、", "し、"], "zh": ["，", "，并且"],
}  # fmt: skip
for one in ("en", "de", "fr", "es", "pt", "it"):
    JOINTS[one] += [", ", "; ", " – "]

ACTS = frozenset(LABELS) - {"denied", "failed", "proposed"}
LABEL_OF = {"tested": "ran", "placed": "built", "replaced": "changed", "undone": "changed", "nothing": "denied"}
"""Labels of sentences that the model does not tell apart."""

REPEATED = 5
"""How much more a written sentence weighs than a composed one."""

PAIRS = 1200
"""How many pairs of sentences are made of each language."""

ENDINGS = {"es": ("o", ("o", "a", "os", "as")), "pt": ("o", ("o", "a", "os", "as")), "it": ("o", ("o", "a", "i", "e"))}


def composed(written: list[Labelled], seed: int = 7) -> Iterator[Labelled]:
    """What the lexicon makes: each verb in frames, the fixed sentences, and pairs with what is written."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    for language, words in yaml.safe_load((FOLDER / "lexicon.yaml").read_text(encoding="utf-8")).items():
        own = list(_framed(language, words, chance))
        yield from own
        pool = own + [row for row in written if row[2] == language] * REPEATED
        claims, others = [row for row in pool if row[1] & ACTS], [row for row in pool if not row[1] & ACTS]
        for _ in range(PAIRS):
            first, second = chance.choice(claims), chance.choice(chance.choice([claims, others]))
            pair = [first, second] if chance.random() < 0.7 else [second, first]
            text = pair[0][0].rstrip(" .。✅!?！？") + chance.choice(JOINTS[language]) + pair[1][0]
            yield text, first[1] | second[1], language


def _framed(language: str, words: Any, chance: random.Random) -> Iterator[Labelled]:
    for act, entry in words["acts"].items():
        for verb in map(str, entry["v"]):
            for kind, labels, share in (("claimed", {act}, 0.8), ("denied", {"denied"}, 0.45), ("other", set(), 0.45)):
                for frame in words[kind]:
                    if chance.random() < share and not ("{x}" in frame and verb.endswith("/x")):
                        yield (
                            filled(frame, verb, chance.choice(entry["o"]), language, chance),
                            frozenset(labels),
                            language,
                        )
        yield from ((text, frozenset({act}), language) for text in entry["s"] * 4)
    yield from ((text, frozenset({"failed"}), language) for text in words["failed"] * 8)
    yield from ((text, frozenset[str](), language) for text in words["none"] * 8)


def filled(frame: str, verb: str, noun: str, language: str, chance: random.Random) -> str:
    infinitive, participle, past, name = (*verb.split("/"), *[verb] * 3)[:4]
    if language in ENDINGS:
        end, others = ENDINGS[language]
        participle = re.sub(rf"{end}(?=$| )", chance.choice(others), participle, count=1)
    elif language == "fr":
        participle += chance.choice(["", "", "e", "s", "es"])
    text = frame.format(o=noun, i=infinitive, p=participle, x=past, n=name)
    return text.replace("de le ", "du ").replace(" que je ", " que je ")


def labelled() -> Iterator[Labelled]:
    """The sentences that people wrote."""
    for path in sorted((FOLDER / "sentences").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            labels = {LABEL_OF.get(one, one) for one in row["claims"]} & set(LABELS)
            yield row["text"], frozenset(labels), path.stem[:2]


def matrix(texts: list[str]) -> csr_matrix:
    found = [features(text) for text in texts]
    ends = np.cumsum([0, *map(len, found)])
    values = np.concatenate([np.full(len(one), 1 / np.sqrt(len(one)), dtype=np.float32) for one in found])
    return csr_matrix((values, np.concatenate(found), ends), shape=(len(texts), BUCKETS))


def learn(rows: list[Labelled], penalty: float = 1.0) -> tuple[Any, Any]:
    """Logistic regression of each label, with an L2 penalty."""
    x = matrix([row[0] for row in rows])
    xt = x.T.tocsr()
    columns: list[Any] = []
    for label in LABELS:
        y = np.array([label in row[1] for row in rows], dtype=np.float64)

        def loss(theta: Any, y: Any = y) -> tuple[float, Any]:
            margin = x @ theta[:-1] + theta[-1]
            gap = 1 / (1 + np.exp(-margin)) - y
            value = float((np.logaddexp(0, margin) - y * margin).sum())
            value += penalty / 2 * float(theta[:-1] @ theta[:-1])
            slope = np.append(xt @ gap + penalty * theta[:-1], gap.sum())
            return value, slope

        columns.append(minimize(loss, np.zeros(BUCKETS + 1), jac=True, method="L-BFGS-B", options={"maxiter": 40}).x)
    theta = np.array(columns).T
    return theta[:-1], theta[-1]


def write(weights: Any, bias: Any) -> None:
    scale = np.abs(weights).max(axis=0) / 127
    quantised = np.round(weights / scale).astype(np.int8)
    parts = [scale.astype("<f4"), bias.astype("<f4"), quantised]
    MODEL.write_bytes(gzip.compress(digest() + b"".join(one.tobytes() for one in parts), mtime=0))


def digest() -> bytes:
    """Tells what a model was learned from: the sentences, the lexicon and the labels, by SHA-256."""
    found = hashlib.sha256(f"{LABELS} {BUCKETS}".encode())
    for path in sorted(FOLDER.rglob("*.yaml")):
        found.update(path.read_bytes())
    return found.digest()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    written = list(labelled())
    rows = [*composed(written), *(written * REPEATED)]
    write(*learn(rows))
    print(f"{len(rows)} sentences; {MODEL}: {MODEL.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
