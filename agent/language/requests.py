"""What can be read out of a message's words without a model: a run that is asked for, an undo, a language."""

import re

_RUNS = re.compile(
    r"\b(?:"
    r"(?:run|execute|test|try)\s+(?:it|this|that|them|out|the|my|our|again|with)\b|(?:and|then|,)\s*(?:run|execute)\b"
    r"|(?:rode|roda|rodar|executa|executar|execute|teste)\s+(?:ele|ela|isso|isto|o|a|esse|este|meu|com|de\s+novo)\b"
    r"|(?:e|depois)\s+(?:rode|roda|execute|executa)\b"
    r"|(?:ejecuta|ejecútalo|ejecutalo|ejecutar|corre|córrelo|prueba|pruébalo)\b"
    r"|führe?\s+(?:\w+\s+){1,4}aus\b|(?:starte|teste)\s+(?:ihn|es|den|das|diesen|mit)\b"
    r"|ausführen\b|lass\s+(?:\w+\s+){1,3}laufen\b"
    r"|(?:exécute|exécuter|lance|lancer|teste)(?:\s*-\s*|\s+)(?:le|la|ce|cela|mon|avec)\b|fais\s+tourner\b"
    r")|^\s*(?:please\s+)?(?:run|execute|test)\b|^\s*(?:rode|execute|ejecuta|corre|exécute|lance)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\s*(?:how|what|why|when|where|which|who|does|do|is|are|should|can\s+i|could\s+i|como|o\s+que|por\s?qu[eê]|qual|quando"
    r"|cómo|qué|cuál|cuándo|wie|was|warum|wann|welche\w*|kann\s+ich|comment|pourquoi|quand|quel\w*|qu'|est-ce)\b",
    re.IGNORECASE,
)
_UNDO = re.compile(
    r"^\s*(?:please[,\s]+|por\s+favor[,\s]+|bitte[,\s]+)?(?:"
    r"undo(?:\s+(?:that|this|it|the\s+last\s+(?:change|changes|edit|turn)|your\s+(?:last\s+)?changes?))?"
    r"|revert\s+(?:that|this|it|the\s+last\s+changes?|your\s+(?:last\s+)?changes?)"
    r"|desfa(?:z|ça|zer)(?:\s+(?:isso|isto|a\s+última\s+(?:mudança|alteração)))?"
    r"|deshaz(?:lo)?(?:\s+(?:eso|esto|el\s+último\s+cambio))?|deshacer"
    r"|(?:mach\s+(?:das|es)\s+)?rückgängig(?:\s+machen)?"
    r"|annule[rz]?(?:\s+(?:ça|cela|la\s+dernière\s+modification))?"
    r")\s*(?:please|por\s+favor|bitte|s'il\s+(?:te|vous)\s+pla[iî]t)?\s*[.!]*\s*$",
    re.IGNORECASE,
)
_MARKS = {
    name: frozenset(words.split())
    for name, words in {
        "en": "the a an and is not with for i please create build add change run flow my this of to it make that in",
        "pt": "o os um uma você não que de do da em para com e é crie faça adicione mude rode fluxo meu isso por",
        "es": "el los una qué no que de del en para con y es crea haz añade agrega cambia ejecuta flujo mi eso por la",
        "de": "der die das ein eine und ist nicht mit für ich bitte erstelle baue füge ändere führe den dem zu von",
        "fr": "le les un une des et est ne pas avec pour je crée fais ajoute change exécute flux mon cela du la que",
    }.items()
}
_CLAUSE = re.compile(r"[,;.\n]+|\band\b|\bthen\b", re.IGNORECASE)
_VERB = re.compile(
    r"(?:please\s+|also\s+)?(?:add|insert|remove|delete|connect|wire|disconnect|set|change|update|rename|replace|swap"
    r"|duplicate|run|execute|test|build|create|make|write|save)\b",
    re.IGNORECASE,
)
LANGUAGES = ("en", "pt", "es", "de", "fr")
"""The languages in which the assistant has words of its own."""


def asks_run(*texts: str) -> bool:
    """Whether one of a message's forms clearly asks to run something; a question about running does not.

    Args:
        texts: the message, and its translation if there is one.
    """
    return any(not _ASKS.search(text) and _RUNS.search(text) is not None for text in texts)


def steps(text: str) -> int:
    """How many single changes or runs an English message asks for, by its clauses."""
    return sum(1 for clause in _CLAUSE.split(text) if _VERB.match(clause.strip()))


def asks_undo(text: str) -> bool:
    """Whether a message asks to undo the last change, and nothing else."""
    return _UNDO.search(text) is not None


def language(text: str, said: str | None = None) -> str:
    """The language to answer in with words of our own, English when it is none of `LANGUAGES`.

    Args:
        text: the message.
        said: the language code that the classifier gave.
    """
    code = (said or "").strip().lower()[:2]
    if code:
        return code if code in LANGUAGES else "en"
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {name: sum(word in marks for word in words) for name, marks in _MARKS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] > max(counts["en"], 1) else "en"
