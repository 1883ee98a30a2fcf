"""The language of a text, detected without a model."""

import re

LANGUAGES = ("en", "pt", "es", "de", "fr")
"""The languages in which the assistant has words of its own."""

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


def supported_language(text: str, code: str | None = None) -> str:
    """The language to answer in with words of our own, English when it is none of `LANGUAGES`.

    Args:
        text: the message.
        code: the language code that the classifier gave.
    """
    code = (code or "").strip().lower()[:2]
    if code:
        return code if code in LANGUAGES else "en"
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {name: sum(word in marks for word in words) for name, marks in _MARKS.items()}
    best = max(counts, key=lambda name: (counts[name], name == "en"))
    return best if counts[best] > max(counts["en"], 1) else "en"
