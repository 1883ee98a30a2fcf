"""Sentences and clauses of a reply, and whether a clause denies what it says."""

from __future__ import annotations

import re
from typing import Final

REPEATED: Final = 6
"""So many words in a row that the user's message has too say nothing of their own."""

_NEGATION: Final = re.compile(
    r"(?<!\w)(?:not|no|never|none|nothing|neither|nor|nobody|without|cannot|\w+n['’]t"
    r"|nicht|nichts|kein\w*|nie|niemals|ohne|weder|falsch"
    r"|pas|aucune?s?|jamais|rien|sans|ni|non"
    r"|nada|nunca|sin|ning[uú]n\w*|tampoco"
    r"|não|nem|sem|nenhum\w*"
    r"|senza|nessun\w*|mai|niente|nulla"
    r"|geen|niet|nooit|zonder|nie|bez|żad\w+)(?!\w)"
    r"|ない|なく|なかっ|ません|なし|没|未|无|無|不(?!同|过|過)",
    re.IGNORECASE,
)
_CLAUSE_END: Final = re.compile(
    r"[,;:.!?？。、，\n—–]|(?<!\w)(?:but|sondern|aber|mais|sino|pero|mas|ma)(?!\w)", re.IGNORECASE
)
_JOINED: Final = re.compile(rf"{_CLAUSE_END.pattern}|(?<!\w)(?:and|or|und|oder|et|ou|y|e|o|i)(?!\w)", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?？。！])\s+|(?<=[？。！])|\n+")
_FORBIDS: Final = re.compile(
    rf"{_NEGATION.pattern}|(?<!\w)(?:avoid\w*|refrain|refuse|stop|instead of|rather than|vermeide\w*|statt|évite\w*"
    r"|au lieu|evita\w*|en lugar|em vez|invece)(?!\w)|避け|禁止|代わりに",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"^(?:\s+\w+){0,2}\s+(?:is|are|must|should|may|ist|sind|darf|est|sont|es|são|é|è)\s+"
    r"(?:not|never|forbidden|prohibited|banned|nicht|verboten|pas|interdit\w*|prohibid\w*|no|não|proibid\w*|vietat\w*)(?!\w)"
    r"|^[^.!?。]{0,12}(?:ない|禁止)",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(r"[^.!?？。！\n:：]{1,40}[:：](?=[^.!?？。！\n:：]*$)")
"""A few words and a colon, before a clause of the same sentence: `never do this: …`."""
_REMINDS: Final = re.compile(
    r"(?<!\w)(?:forget|fail|miss|if|when|unless|vergiss|vergessen|wenn|falls|oublie\w*|si|olvid\w*|esque[cç]\w*|se"
    r"|dimentic\w*|quando|quand)(?!\w)|忘",
    re.IGNORECASE,
)
"""Words by which such a beginning forbids nothing: `never forget this: …`, `if you do not know: …`."""
_HEADING: Final = re.compile(
    r"[^.!?？。！\n:：]{0,40}(?:(?<!\w)(?:this|these|following|dies|das|folgende[ns]?|ceci|cela|suivante?s?|esto|siguientes?"
    r"|isto|isso|seguintes?|questo|seguenti?)|以下|次のこと|这些|这样)\s*[:：](?=[^\n]+\Z)",
    re.IGNORECASE,
)
"""A beginning that points to what follows and stands above all of its paragraph: `never do this: … . …`."""
_TURNS: Final = re.compile(
    r"(?<!\w)(?:but|instead|rather|sondern|stattdessen|mais|plutôt|sino|sin embargo|mas|invece|ma)(?!\w)|代わり|而是",
    re.IGNORECASE,
)
"""Words after which a paragraph says what to do, and no more what not."""
_LIST_MARKER: Final = re.compile(r"(?m)^\s*(?:\d{1,2}[.)]|[-*•])\s+")


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the marks of lists."""
    return [part.strip() for part in _SENTENCE_END.split(_LIST_MARKER.sub("", text)) if part and part.strip()]


def clause_around(text: str, start: int, end: int) -> str:
    """The clause in which a part of a text stands: what is joined to it afterwards is another one."""
    before = [found.end() for found in _CLAUSE_END.finditer(text, 0, start)]
    after = _JOINED.search(text, end)
    return text[before[-1] if before else 0 : after.start() if after else len(text)]


def denies(text: str) -> bool:
    """Whether a text has a word of negation, in the languages of scenarios."""
    return _NEGATION.search(text) is not None


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the clause around a part of a text denies it; what the part itself says does not count."""
    clause = clause_around(text, start, end)
    return denies(clause.replace(text[start:end], " … "))


def is_forbidden(text: str, start: int, end: int) -> bool:
    """Whether an instruction tells not to do what a part of it says: `never talk like a pirate`."""
    if start == end:  # a pattern that finds a place, and no words
        return False
    clause = clause_around(text, start, end)
    before, _, _ = clause.partition(text[start:end])
    lead = _LEAD.search(text[:start]) or _heading(text[:start])
    if lead is not None and _FORBIDS.search(lead.group()) and not _REMINDS.search(lead.group()):
        return True
    return _FORBIDS.search(before) is not None or _FORBIDDEN.search(text[end : end + 60]) is not None


def _heading(before: str) -> re.Match[str] | None:
    """The beginning of the paragraph, if it points to all that follows and nothing has turned since."""
    found = _HEADING.search(before)
    return None if found is None or _TURNS.search(before, found.end()) else found


def own_words(text: str, message: str) -> str:
    """A reply without what it only repeats of the user's message: six words in a row or more, or all of it."""
    told = [word.casefold() for word in re.findall(r"\w+", message)]
    length = min(REPEATED, max(len(told), 2))
    known = {tuple(told[at : at + length]) for at in range(len(told) - length + 1)}
    found = list(re.finditer(r"\w+", text))
    words = [each.group().casefold() for each in found]
    cut = {
        at + step
        for at in range(len(words) - length + 1)
        if tuple(words[at : at + length]) in known
        for step in range(length)
    }
    for at in sorted(cut, reverse=True):
        text = f"{text[: found[at].start()]}…{text[found[at].end() :]}"
    return text
