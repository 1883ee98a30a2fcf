"""The claims of a text about what was done, sentence by sentence, in five languages.

The assistant's check of itself is separate code, so that one fault cannot hide in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

ClaimKind = Literal["build", "change", "remove", "run", "success"]

_VERBS: Mapping[ClaimKind, tuple[str, ...]] = {
    "build": (
        r"built|created|generated|assembled|put together|set up|made (?:you |the |a |your )",
        r"gebaut|erstellt|angelegt|erzeugt|aufgebaut",
        r"construit|créée?s?|généré|monté",
        r"construido|creado|construí|creé|generado|armado|montado",
        r"construí|construído|criei|criado|montei|montado|gerei|gerado",
    ),
    "change": (
        r"added|inserted|connected|wired|changed|updated|replaced|renamed|configured|swapped|modified|moved",
        r"set (?:the|its|\S+ of)",
        r"hinzugefügt|eingefügt|verbunden|geändert|aktualisiert|ersetzt|umbenannt|eingestellt|gesetzt",
        r"ajouté|inséré|connecté|relié|modifié|changé|remplacé|renommé|configuré|mis à jour",
        r"añadido|agregado|añadí|agregué|insertado|conectado|conecté|cambiado|cambié",
        r"actualizado|reemplazado|renombrado",
        r"adicionei|adicionado|inseri|inserido|conectei|conectado|mudei|alterei|alterado|atualizei|substituí|renomeei",
    ),
    "remove": (
        r"removed|deleted|disconnected|unlinked",
        r"entfernt|gelöscht|getrennt",
        r"supprimé|retiré|enlevé|déconnecté",
        r"eliminado|eliminé|quitado|quité|borrado|borré|desconectado",
        r"removi|removido|apaguei|apagado|excluí|desconectei",
    ),
    "run": (
        r"ran it|ran the|ran your|ran this|i ran|executed|have run|has run|was run",
        r"gave it a (?:run|try)|tried it|tested it with",
        r"ausgeführt|laufen lassen|ausprobiert|getestet",
        r"exécuté|lancé|essayé|testé",
        r"ejecutado|ejecuté|probado|probé",
        r"executei|executado|rodei|testei|experimentei",
    ),
    "success": (
        r"ran (?:successfully|fine)|it works|works (?:now|perfectly|as expected)|everything works",
        r"it answered|it returned|it replied|it gave",
        r"es funktioniert|funktioniert (?:jetzt|einwandfrei)|antwortete|ergab|lieferte",
        r"ça marche|cela fonctionne|fonctionne (?:bien|parfaitement)|a répondu|a donné|a renvoyé",
        r"funciona (?:bien|perfectamente|ahora)|ya funciona|respondió|devolvió|dio como resultado",
        r"funciona (?:bem|perfeitamente|agora)|já funciona|respondeu|devolveu|retornou",
    ),
}
_PATTERNS: Mapping[ClaimKind, re.Pattern[str]] = {
    kind: re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) for kind, words in _VERBS.items()
}
DENIED: Final = re.compile(
    r"(?<!\w)(?:not|never|whether|nothing|cannot|can['’]t|unable"
    r"|\w+n['’]t|no longer|fail(?:ed|s)?|before i|once|if"
    r"|would|could|should|will|going to|shall i|let me|can be|to be|you (?:have|had)"
    r"|(?:was|were|is|are|had|been) already|already (?:was|were|is|are|had|there)"
    r"|must|needs? to|ha(?:s|ve) to|muss|musst|müssen|müsst|müsste[nt]?|doit|doivent|devez|devrait|faut"
    r"|debe[ns]?|deber?ía|hay que|tiene[ns]? que|deve[m]?|deveria|precisa[m]?"
    r"|nicht|nichts|kein\w*|nie|würde|könnte|kann|soll(?:te)?|werde|wenn|falls|fehlgeschlagen"
    r"|ne|n['’]\w+|pas|rien|jamais|aucun\w*|sans avoir|si|pourrais|peux|échoué"
    r"|no|nada|nunca|sin haber|puedo|podría|falló"
    r"|não|nem|sem ter|posso|poderia|se|falhou)(?!\w)",
    re.IGNORECASE,
)
"""Words before a claim by which it is none."""
_OUTPUT = re.compile(
    r"(?:it (?:answered|returned|replied|gave)|the (?:output|answer|result) (?:is|was)|antwortete|ergab|lieferte"
    r"|a répondu|respondió|devolvió|respondeu|retornou)\s*:\s*(?P<output>.+)",
    re.IGNORECASE | re.DOTALL,
)
QUOTED: Final = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|«[^»\n]*»|„[^“\n]*“")
"""What a text quotes."""


@dataclass(frozen=True)
class Claim:
    """Something that a text says was done."""

    kind: ClaimKind
    sentence: str


def claims(text: str) -> Iterator[Claim]:
    """Every claim of a text. Questions, denials, plans, conditions and quotes claim nothing."""
    for bare in split_sentences(QUOTED.sub("…", text)):
        if bare.rstrip().endswith(("?", "？")):
            continue
        for kind, pattern in _PATTERNS.items():
            found = pattern.search(bare)
            if found and not DENIED.search(bare[: found.end() + 24] if kind == "success" else bare[: found.end()]):
                yield Claim(kind, bare.strip())


def claimed_output(text: str) -> str | None:
    """The output of a run that a text quotes, if any."""
    found = _OUTPUT.search(text)
    return found["output"].strip() if found else None


def admits_failure(text: str) -> bool:
    """Whether a text says that something went wrong."""
    words = (
        r"fail\w*|error\w*|wrong|problem|did(?:n['’]t| not) (?:run|work)|not run|could(?:n['’]t| not)|cannot|can['’]t"
        r"|fehl\w*|nicht|problem\w*|échou\w*|erreur\w*|problème\w*|ne \w+ pas|fall\w+"
        r"|no (?:pude|se pudo|funcion\w+)"
        r"|falh\w+|erro\w*|não"
    )
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE) is not None


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in re.split(r"(?<=[.!?？])\s+|\n+|;\s+", text) if part.strip()]
