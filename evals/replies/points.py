"""What a question or a refusal is about: it must name the point that is open, or what cannot be done."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from evals.replies.clauses import own_words, sentences

_STEM: Final = 5
"""So many letters at the beginning make two words the same: `templates`, `template`."""
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|«[^»]*»|„[^“]*“")
_ADDRESS: Final = re.compile(r"https?://\S+")
_PAIR: Final = re.compile(r"(?=([\u30a0-\u30ff\u4e00-\u9fff]{2}))")
"""Each two characters that stand side by side: words are not separated there, and hiragana alone are no nouns."""
_GENERAL_PAIRS: Final = frozenset({
    "什么", "怎么", "可以", "可能", "一个", "一下", "一些", "请问", "需要", "这个", "那个",
    "哪个", "哪些", "我的", "你的", "您的", "能否", "是否", "想要", "帮我", "帮忙", "现在",
    "流程", "组件", "应该", "没有", "不能", "不是", "还是", "或者", "如果", "意思", "告诉",
    "何で", "何か", "場合", "必要", "変更", "作成", "今日", "部品", "フロ", "ロー", "お願",
    "追加", "更多", "一点",
})  # fmt: skip
"""Pairs that name no point, as words of any question."""
_GENERAL: Final = frozenset({
    "about", "also", "anything", "build", "could", "create", "does", "doing", "done", "from", "give", "have",
    "help", "here", "into", "just", "know", "like", "make", "mean", "more", "need", "only", "other", "please",
    "question", "really", "same", "should", "show", "some", "something", "sure", "tell", "than", "that", "their",
    "them", "then", "there", "these", "they", "thing", "this", "those", "want", "what", "when", "where", "which",
    "will", "with", "would", "your", "yours", "flow", "flows", "component", "components", "workflow", "langflow",
    "assistant", "aber", "alle", "bitte", "bauen", "dann", "dass", "dein", "deine", "diese", "dieses", "eine",
    "einen", "einer", "etwas", "haben", "hier", "kann", "kannst", "machen", "mehr", "meine", "meinen", "mein",
    "mich", "nicht", "noch", "oder", "sein", "soll", "sollen", "sondern", "welche", "welcher", "welches", "wenn",
    "wird", "aussi", "avec", "avez", "bien", "cette", "comme", "dans", "elle", "faire", "fais", "flux", "leur",
    "mais", "même", "moins", "peux", "peut", "plus", "pour", "pourrais", "quel", "quelle", "quelles", "quels",
    "quoi", "sans", "sont", "sous", "tout", "tous", "votre", "vous", "algo", "como", "cual", "cuál", "donde",
    "esta", "este", "esto", "flujo", "hacer", "hace", "mismo", "para", "pero", "porque", "puedes", "quiero",
    "sobre", "también", "tiene", "qual", "quais", "fluxo", "fazer", "isso", "minha", "muito", "pode",
    "posso", "quero", "seja", "você", "anche", "come", "cosa", "della", "delle", "degli", "dove", "essere", "fammi",
    "fare", "flussi", "flusso", "nella", "puoi", "quale", "quali", "quando", "questa", "questo", "sono", "vorrei",
    "voglio",
})  # fmt: skip
"""Words that name no point: those of any question, and those of every flow."""
_SCOPE: Final = re.compile(
    r"(?<!\w)(?:flows?|workflows?|langflow|components?|fluxos?|flujos?|flux|componentes?|composants?|bausteinen?"
    r"|komponenten?|componenti|flusso)(?!\w)|フロー|コンポーネント",
    re.IGNORECASE,
)


def questions(text: str) -> list[str]:
    """The questions of a text, each with the sentence before it; question marks in quotes and addresses ask nothing."""
    bare = _ADDRESS.sub(" ", _QUOTED.sub(lambda found: re.sub(r"[?？]", " ", found.group()), text))
    parts = sentences(bare)
    return [
        f"{parts[at - 1] if at else ''} {part}".strip()
        for at, part in enumerate(parts)
        if part.rstrip("\"'”“’)*_ ").endswith(("?", "？"))
    ]


def names_point(text: str, message: str, points: Sequence[str], names: Iterable[str]) -> bool:
    """Whether a text names the point at issue.

    Args:
        message: the user's message; what is only repeated of it does not count.
        points: the words for the point, as the scenario declares them; without any, a word of the message counts that
            not every message has.
        names: names on the user's canvas and of the user's files, which count when no words are declared.
    """
    own = own_words(text, message)
    if points:
        said = _stems(own, every=True)
        return any((stems := _stems(point, every=True)) and stems <= said for point in points)
    folded = own.casefold()
    return bool(_stems(own) & _stems(message)) or any(len(name) > 2 and name.casefold() in folded for name in names)


def names_scope(text: str) -> bool:
    """Whether a text says what the assistant is for: flows and their components."""
    return _SCOPE.search(text) is not None


def point_of(message: str) -> str:
    """A word of a message that names its point; empty if it has none."""
    return next((word for word in re.findall(r"\w{4,}", message) if word.casefold() not in _GENERAL), "")


def _stems(text: str, *, every: bool = False) -> frozenset[str]:
    words = (word.casefold() for word in re.findall(r"[^\W\d_]{2,}|\d+", text))
    kept = (word for word in words if every or (len(word) > 3 and word not in _GENERAL))
    pairs = (pair for pair in _PAIR.findall(text) if every or pair not in _GENERAL_PAIRS)
    return frozenset([*(word[:_STEM] for word in kept), *pairs])
