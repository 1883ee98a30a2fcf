"""Compares what an answer claims was done with what was done, by rules over words and without a model."""

import re

from tools.workbench import Workbench

NOTHING_CHANGED = (
    "Your last reply changed nothing. Do what was asked now with the tools; do not ask for confirmation; "
    "answer in the user's language."
)
"""The correction, sent once, of a model that did nothing about a request to act."""

_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_DENIED = re.compile(
    r"\b(?:not|never|no|none|nothing|cannot|unable|fail\w*|without|unless|if|would|could|can|will|should|shall|may|to\s+be"
    r"|não|nada|nichts|sem|se|posso|poderia|falhou|seria|nunca|sin|si|puedo|podría|falló|nicht|kein\w*|ohne|wenn"
    r"|kann|könnte|würde|werde|wird|ne|pas|aucun\w*|sans|peux|pourrais|échoué|rien)\b|n't\b|n’t\b|\bn['’]",
    re.IGNORECASE,
)
_LEAD = (
    r"(?:\bI(?:['’]ve)?\b(?:\s+(?:have|had|just|also|then|now|already|successfully))*"
    r"|\b(?:has|have)\s+been|\b(?:was|were)(?:\s+successfully)?|\b(?:is|are)\s+now|^\W*(?:done\W+)?"
    r"|\beu(?:\s+já)?|\bfoi|\bforam|\b(?:lo|la)?\s*he|\bha\s+sido|\bich\s+habe\b(?:\s+\w+){0,6}?|\bwurden?\b(?:\s+\w+){0,4}?"
    r"|\bj['’]ai|\bl['’]ai|\ba\s+été|\bont\s+été)"
)
_NEXT = r"(?:,(?:\s+then)?|\band(?:\s+then)?|\by\b|\be\b|\bet\b|\bund\b)"
_VERBS: dict[str, tuple[str, ...]] = {
    "built": (
        r"built|created|made|generated|assembled|set\s+up",
        r"constru[íi]\w*|criei|criad[oa]s?|montei|montad[oa]|creé|cread[oa]s?|armé",
        r"gebaut|erstellt|angelegt|construit\w*|créée?s?",
    ),
    "added": (
        r"added|inserted|duplicated",
        r"adicion(?:ei|ad[oa]s?)|inseri\w*|agregu[ée]|agregad[oa]s?|añad(?:í|id[oa]s?)",
        r"hinzugefügt|eingefügt|ajoutée?s?|insérée?s?",
    ),
    "removed": (
        r"removed|deleted",
        r"remov(?:i|id[oa]s?)|apaguei|apagad[oa]s?|eliminad[oa]s?|eliminé|quité",
        r"entfernt|gelöscht|supprimée?s?|retirée?s?",
    ),
    "connected": (
        r"connected|wired|linked",
        r"conect(?:ei|ad[oa]s?)|conecté|liguei",
        r"verbunden|connectée?s?|reliée?s?",
    ),
    "changed": (
        r"changed|updated|configured|renamed|replaced|switched|modified",
        r"alter(?:ei|ad[oa]s?)|mudei|mudad[oa]s?|atualizei|cambi(?:é|ad[oa]s?)|actualizad[oa]s?",
        r"geändert|aktualisiert|ersetzt|modifiée?s?|changée?s?|remplacée?s?",
    ),
    "ran": (
        r"ran|executed|rodei|execut(?:ei|ad[oa]s?)|ejecut(?:é|ad[oa]s?)",
        r"ausgeführt|exécutée?s?|lancée?s?",
    ),
    "wrote": (
        r"wrote|saved|written|salvei|gravei|escrevi|guardé|escribí",
        r"gespeichert|geschrieben|enregistrée?s?|écrit\w*",
    ),
}
_DIRECT = {
    act: re.compile(rf"{_LEAD}\s*(?:[\w']+\s+){{0,2}}?\b(?:{'|'.join(verbs)})\b", re.IGNORECASE)
    for act, verbs in _VERBS.items()
}
_FURTHER = {
    act: re.compile(rf"{_NEXT}\s*(?:[\w']+\s+){{0,1}}?\b(?:{'|'.join(verbs)})\b", re.IGNORECASE)
    for act, verbs in _VERBS.items()
}
_RAN_WELL = re.compile(
    r"\b(?:successfully|without\s+errors?|com\s+sucesso|sem\s+erros?|con\s+éxito|sin\s+errores|erfolgreich|ohne\s+fehler"
    r"|avec\s+succès|sans\s+erreurs?)\b",
    re.IGNORECASE,
)
_CONFIRMING: dict[str, frozenset[str]] = {
    "removed": frozenset({"remove_component", "disconnect", "set_flow"}),
    "connected": frozenset({"connect", "add_component", "set_flow"}),
    "added": frozenset({"add_component", "connect", "set_flow"}),
}
"""The kinds of change that confirm a claim; any change confirms the other claims."""


def false_claims(text: str, bench: Workbench) -> list[str]:
    """The false claims of an answer: of `built`, `added`, `removed`, `connected`, `changed`, `ran` and `wrote`.

    Only plain statements count; a sentence with a negation, a condition, an offer or a question claims nothing.

    Args:
        text: the answer.
        bench: the turn's workbench.
    """
    run_failed = bool(bench.runs) and bench.runs[-1].error is not None
    found: dict[str, None] = {}
    for sentence in _SENTENCE.split(text):
        for act in _claims(sentence):
            if not _happened(act, bench) or (act == "ran" and run_failed and _RAN_WELL.search(sentence)):
                found[act] = None
    return list(found)


def _claims(sentence: str) -> list[str]:
    """What one sentence claims was done."""
    if sentence.rstrip().endswith("?"):
        return []
    direct = {act for act, claim in _DIRECT.items() if _stated(claim, sentence)}
    further = {act for act, claim in _FURTHER.items() if _stated(claim, sentence)} if direct else set[str]()
    return [act for act in _VERBS if act in direct or act in further]


def _stated(claim: re.Pattern[str], sentence: str) -> bool:
    found = claim.search(sentence)
    return found is not None and _DENIED.search(sentence[: found.end()]) is None


def correction(claims: list[str]) -> str:
    """The correction, sent once, of a model whose answer makes these false claims."""
    return (
        f"Your last reply says that you {', '.join(claims)} something, and no tool did. Do it now with the tools, or "
        "say plainly what was not done; answer in the user's language."
    )


def _happened(act: str, bench: Workbench) -> bool:
    match act:
        case "ran":
            return bool(bench.runs)
        case "wrote":
            return bool(bench.files or bench.actions or bench.proposed)
        case "built":
            return bool(bench.actions or bench.proposed or bench.files)
        case _:
            kinds = {action.kind for action in bench.actions}
            confirmed = not _CONFIRMING[act].isdisjoint(kinds) if act in _CONFIRMING else bool(kinds)
            return bench.proposed or bool(bench.files) or confirmed
