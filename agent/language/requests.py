"""What a message asks for by its words alone: a run, an undo, several steps."""

import re
from functools import lru_cache

from agent.language.replies import is_too_short_for_language

_RUNS = re.compile(
    r"\b(?:"
    r"(?:run|execute|test|try)\s+(?:it|this|that|them|out|the|my|our|again|with)\b|(?:and|then|,)\s*(?:run|execute)\b"
    r"|(?:rode|roda|rodar|executa|executar|execute|teste)\s+(?:ele|ela|isso|isto|o|a|esse|este|meu|com|de\s+novo)\b"
    r"|(?:e|depois)\s+(?:rode|roda|execute|executa)\b"
    r"|(?:ejecuta|ejecútalo|ejecutalo|ejecutar|corre|córrelo|prueba|pruébalo)\b"
    r"|führe?\s+(?:\w+\s+){1,4}aus\b|(?:starte|teste)\s+(?:ihn|es|den|das|diesen|mit)\b"
    r"|ausführen\b|lass\s+(?:\w+\s+){1,6}laufen\b"
    r"|(?:exécute|exécuter|lance|lancer|teste)(?:\s*-\s*|\s+)(?:le|la|ce|cela|mon|avec)\b|fais\s+tourner\b"
    r")|^\s*(?:please\s+)?(?:run|execute|test)\b|^\s*(?:rode|execute|ejecuta|corre|exécute|lance)\b",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"(?:\bnot|n['’]t|\bdont|\bnever|\bwithout|\bnicht|\bkein\w*|\bohne|\bn[ãa]o|\bno|\bsin|\bsem|\bne|\bsans|\bnon)\s+"
    r"(?:\w+\s+){0,2}$|\b(?:i|we)(?:['’]ll|\s+will|\s+can)\s+$",
    re.IGNORECASE,
)
_NOT_WITHIN = re.compile(r"\b(?:nicht|pas|nie)\b", re.IGNORECASE)
_NOT_AFTER = re.compile(r"\s*(?:bitte\s+)?(?:nicht|pas|nie)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"^\s*(?:how|what|why|when|where|which|who|does|do|is|are|should|can\s+i|could\s+i|como|o\s+que|por\s?qu[eê]|qual|quando"
    r"|cómo|qué|cuál|cuándo|wie|was|warum|wann|welche\w*|kann\s+ich|comment|pourquoi|quand|quel\w*|qu'|est-ce)\b",
    re.IGNORECASE,
)
_UNDO = re.compile(
    r"^\s*(?:please[,\s]+|por\s+favor[,\s]+|bitte[,\s]+)?(?:"
    r"(?P<en>undo(?:\s+(?:that|this|it|the\s+last\s+(?:change|changes|edit|turn)|your\s+(?:last\s+)?changes?))?"
    r"|revert\s+(?:that|this|it|the\s+last\s+changes?|your\s+(?:last\s+)?changes?))"
    r"|(?P<pt>desfa(?:z|ça|zer)(?:\s+(?:isso|isto|a\s+última\s+(?:mudança|alteração)))?)"
    r"|(?P<es>deshaz(?:lo)?(?:\s+(?:eso|esto|el\s+último\s+cambio))?|deshacer)"
    r"|(?P<de>(?:mach\s+(?:das|es)\s+)?rückgängig(?:\s+machen)?)"
    r"|(?P<fr>annule[rz]?(?:\s+(?:ça|cela|la\s+dernière\s+modification))?)"
    r"|(?P<it>annulla(?:lo|re)?(?:\s+(?:questo|l['’]ultima\s+modifica|le\s+ultime\s+modifiche))?)"
    r"|(?P<ja>(?:元に|もとに)戻(?:して|す)(?:ください)?|取り消(?:して|す)(?:ください)?)"
    r"|(?P<zh>[请請]?撤[销銷](?:上一步|刚才的更改)?|恢复原状)"
    r")\s*(?:please|por\s+favor|bitte|s'il\s+(?:te|vous)\s+pla[iî]t)?\s*[.!。！]*\s*$",
    re.IGNORECASE,
)
_REDO = re.compile(
    r"^\s*(?:please[,\s]+|por\s+favor[,\s]+|bitte[,\s]+)?(?:"
    r"(?P<en>redo(?:\s+(?:that|this|it|the\s+last\s+(?:change|changes|edit|turn)|(?:the|your)\s+(?:last\s+)?changes?))?"
    r"|undo\s+the\s+undo)"
    r"|(?P<pt>refa(?:z|ça|zer)(?:\s+(?:isso|isto|a\s+última\s+(?:mudança|alteração)))?)"
    r"|(?P<es>rehaz(?:lo)?(?:\s+(?:eso|esto|el\s+último\s+cambio))?|rehacer)"
    r"|(?P<de>(?:mach\s+(?:das|es)\s+)?wiederherstellen|stell(?:e)?\s+(?:das|es)\s+wieder\s+her)"
    r"|(?P<fr>rétabli[rst]*(?:\s+(?:ça|cela|la\s+dernière\s+modification))?)"
    r"|(?P<it>(?:ripristina(?:lo)?|rifa(?:i|llo))(?:\s+(?:questo|l['’]ultima\s+modifica))?)"
    r"|(?P<ja>やり直(?:して|す)(?:ください)?)|(?P<zh>[请請]?(?:重做|恢复更改))"
    r")\s*(?:please|por\s+favor|bitte|s'il\s+(?:te|vous)\s+pla[iî]t)?\s*[.!。！]*\s*$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^\s*(?:(?:yes|ok(?:ay)?|please|sim|sí|ja|oui|bitte|por\s+favor)[,.!\s]+)*(?:"
    r"(?:put|place)\s+(?:it|that|this|them)\s+(?:on|onto|in)\s+(?:the|my)\s+(?:canvas|flow)"
    r"|add\s+(?:it|that|this)\s+to\s+(?:the|my)\s+canvas|(?:use|apply|accept)\s+(?:it|that|this|the\s+(?:flow|proposal))"
    r"|(?:coloque|coloca|põe|ponha)(?:-o)?(?:\s+(?:ele|isso))?\s+no\s+canvas|aplique|aceite"
    r"|(?:ponlo|colócalo|pon(?:er)?lo)\s+en\s+el\s+(?:lienzo|canvas)|aplícalo|acéptalo"
    r"|(?:leg|setz|pack|tu)e?\s+(?:ihn|es|das)\s+auf\s+(?:die\s+(?:fläche|leinwand)|den\s+canvas)"
    r"|(?:übernimm|übernehme?)\s+(?:ihn|es|das)"
    r"|(?:mets|mettez|place|pose)(?:\s*-\s*|\s+)(?:le|la|ça)\s+sur\s+le\s+(?:canevas|canvas)|applique-le|accepte-le"
    r")(?:[\s,]+(?:please|por\s+favor|bitte|s'il\s+(?:te|vous)\s+pla[iî]t))?\s*[.!]*\s*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;.\n]+|\band\b|\bthen\b", re.IGNORECASE)
_VERB = re.compile(
    r"(?:please\s+|also\s+)?(?:add|insert|remove|delete|connect|wire|disconnect|set|change|update|rename|replace|swap"
    r"|duplicate|run|execute|test|build|create|make|write|save)\b",
    re.IGNORECASE,
)


def asks_run(*texts: str) -> bool:
    """Whether a message or its translation clearly asks to run something; a question about running does not, nor a
    request not to run it.
    """
    return any(map(_asks_run, dict.fromkeys(texts)))


@lru_cache(maxsize=16)
def _asks_run(text: str) -> bool:  # a turn asks several times, of the same texts
    return not _ASKS.search(text) and any(_is_meant(text, one) for one in _RUNS.finditer(text))


def _is_meant(text: str, request: re.Match[str]) -> bool:
    return not (
        _NOT_BEFORE.search(text[: request.start()])
        or _NOT_WITHIN.search(request[0])
        or _NOT_AFTER.match(text[request.end() :])
    )


def step_count(text: str) -> int:
    """How many single changes or runs an English message asks for, by its clauses."""
    return sum(1 for clause in _CLAUSE.split(text) if _VERB.match(clause.strip()))


def asks_undo(text: str) -> bool:
    """Whether a message asks to undo the last change, and nothing else."""
    return _UNDO.search(text) is not None


def asks_redo(text: str) -> bool:
    """Whether a message asks to redo what was undone, and nothing else."""
    return _REDO.search(text) is not None


def rewind_language(text: str) -> str | None:
    """The code of the language in which a message asks to undo or to redo, and nothing else; None for all others."""
    said = _UNDO.search(text) or _REDO.search(text)
    return None if said is None else next(code for code, words in said.groupdict().items() if words)


def asks_to_place(text: str) -> bool:
    """Whether a message asks to put the proposed flow on the canvas, and nothing else."""
    return _PLACE.search(text) is not None


def keeps_language(text: str) -> bool:
    """Whether a message does not change the language of the conversation: a yes or a no, "undo" or "redo" alone."""
    return is_too_short_for_language(text) or rewind_language(text) is not None
