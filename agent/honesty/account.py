"""A plain account of a turn, composed from what was done, in the languages the assistant has words for."""

from collections.abc import Mapping

from flows.actions import FlowAction
from flows.document import Edge, Node
from tools.replies import clip
from tools.workbench import Workbench

OUTPUT_LIMIT = 1_000
"""Characters of a run's output that an account repeats."""

SHOWN = 12
"""Changes that an account lists one by one."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "nothing": "Nothing was changed.",
        "proposed": "I built the flow {} and put it forward for you to look at.",
        "added": "Added: {}.",
        "removed": "Removed: {}.",
        "connected": "Connected: {}.",
        "disconnected": "Disconnected: {}.",
        "changed": "Changed: {}.",
        "applied": "The flow on the canvas was replaced by {}.",
        "more": "And {} more changes.",
        "ran": "I ran it; it gave: {}",
        "ran_silently": "I ran it; it gave no chat output.",
        "run_failed": "The run failed: {}",
        "file": "File {}: {}.",
        "undone": "I took back the last changes.",
        "no_undo": "There is nothing to undo.",
        "stale_undo": "Nothing was undone: the canvas was changed since.",
        "waiting": "I am waiting for your answer.",
        "recovered": "I put the flow forward for you to look at.",
    },
    "pt": {
        "nothing": "Nada foi alterado.",
        "proposed": "Montei o fluxo {} e o deixei para você revisar.",
        "added": "Adicionado: {}.",
        "removed": "Removido: {}.",
        "connected": "Conectado: {}.",
        "disconnected": "Desconectado: {}.",
        "changed": "Alterado: {}.",
        "applied": "O fluxo no canvas foi substituído por {}.",
        "more": "E mais {} alterações.",
        "ran": "Executei; o resultado foi: {}",
        "ran_silently": "Executei; não houve saída de chat.",
        "run_failed": "A execução falhou: {}",
        "file": "Arquivo {}: {}.",
        "undone": "Desfiz as últimas alterações.",
        "no_undo": "Não há nada para desfazer.",
        "stale_undo": "Nada foi desfeito: o canvas mudou desde então.",
        "waiting": "Estou esperando a sua resposta.",
        "recovered": "Deixei o fluxo para você revisar.",
    },
    "es": {
        "nothing": "No se cambió nada.",
        "proposed": "Armé el flujo {} y lo dejé para que lo revises.",
        "added": "Agregado: {}.",
        "removed": "Eliminado: {}.",
        "connected": "Conectado: {}.",
        "disconnected": "Desconectado: {}.",
        "changed": "Cambiado: {}.",
        "applied": "El flujo del lienzo se reemplazó por {}.",
        "more": "Y {} cambios más.",
        "ran": "Lo ejecuté; dio: {}",
        "ran_silently": "Lo ejecuté; no hubo salida de chat.",
        "run_failed": "La ejecución falló: {}",
        "file": "Archivo {}: {}.",
        "undone": "Deshice los últimos cambios.",
        "no_undo": "No hay nada que deshacer.",
        "stale_undo": "No se deshizo nada: el lienzo cambió desde entonces.",
        "waiting": "Espero tu respuesta.",
        "recovered": "Dejé el flujo para que lo revises.",
    },
    "de": {
        "nothing": "Es wurde nichts geändert.",
        "proposed": "Ich habe den Flow {} gebaut und lege ihn zur Ansicht vor.",
        "added": "Hinzugefügt: {}.",
        "removed": "Entfernt: {}.",
        "connected": "Verbunden: {}.",
        "disconnected": "Getrennt: {}.",
        "changed": "Geändert: {}.",
        "applied": "Der Flow auf der Fläche wurde durch {} ersetzt.",
        "more": "Und {} weitere Änderungen.",
        "ran": "Ich habe ihn ausgeführt; das Ergebnis: {}",
        "ran_silently": "Ich habe ihn ausgeführt; es gab keine Chat-Ausgabe.",
        "run_failed": "Die Ausführung ist fehlgeschlagen: {}",
        "file": "Datei {}: {}.",
        "undone": "Ich habe die letzten Änderungen zurückgenommen.",
        "no_undo": "Es gibt nichts zurückzunehmen.",
        "stale_undo": "Nichts wurde zurückgenommen: die Fläche wurde seither geändert.",
        "waiting": "Ich warte auf deine Antwort.",
        "recovered": "Ich lege den Flow zur Ansicht vor.",
    },
    "fr": {
        "nothing": "Rien n'a été modifié.",
        "proposed": "J'ai construit le flux {} et je vous le propose.",
        "added": "Ajouté : {}.",
        "removed": "Supprimé : {}.",
        "connected": "Connecté : {}.",
        "disconnected": "Déconnecté : {}.",
        "changed": "Modifié : {}.",
        "applied": "Le flux du canevas a été remplacé par {}.",
        "more": "Et {} autres modifications.",
        "ran": "Je l'ai exécuté ; il a donné : {}",
        "ran_silently": "Je l'ai exécuté ; il n'y a pas eu de sortie de chat.",
        "run_failed": "L'exécution a échoué : {}",
        "file": "Fichier {} : {}.",
        "undone": "J'ai annulé les dernières modifications.",
        "no_undo": "Il n'y a rien à annuler.",
        "stale_undo": "Rien n'a été annulé : le canevas a changé depuis.",
        "waiting": "J'attends votre réponse.",
        "recovered": "Je vous propose le flux.",
    },
}


def phrase(key: str, language: str, *values: object) -> str:
    """One of the assistant's own sentences.

    Args:
        key: which.
        language: its language; English when there are no words for it.
        values: what stands in its gaps.
    """
    return _WORDS.get(language, _WORDS["en"])[key].format(*values)


def change_summary(bench: Workbench, language: str) -> str:
    """What a turn did, a sentence a kind of change; says so when it did nothing.

    Args:
        bench: what was done.
        language: the language to write in.
    """
    lines: list[str] = []
    if bench.proposal is not None:
        lines.append(phrase("proposed", language, repr(bench.proposal.name)))
    by_kind: dict[str, list[str]] = {}
    for action in bench.actions[:SHOWN]:
        told = _told(action)
        if told is not None and told[1] not in by_kind.setdefault(told[0], []):
            by_kind[told[0]].append(told[1])
    lines.extend(phrase(kind, language, ", ".join(items)) for kind, items in by_kind.items())
    if len(bench.actions) > SHOWN:
        lines.append(phrase("more", language, len(bench.actions) - SHOWN))
    lines.extend(phrase("file", language, change.path, change.change) for change in bench.files)
    for run in bench.runs[-1:]:
        if run.error is not None:
            lines.append(phrase("run_failed", language, run.error.message))
        elif run.output is None:
            lines.append(phrase("ran_silently", language))
        else:
            lines.append(phrase("ran", language, clip(run.output, OUTPUT_LIMIT)))
    lines.extend(caveat for caveat in bench.caveats)
    return "\n".join(lines) or phrase("nothing", language)


def _told(action: FlowAction) -> tuple[str, str] | None:
    match action.kind:
        case "add_component":
            return "added", Node(action.node).id
        case "remove_component":
            return "removed", Node(action.node).id
        case "connect":
            return "connected", _arrow(Edge(action.edge))
        case "disconnect":
            return "disconnected", _arrow(Edge(action.edge))
        case "configure":
            return "changed", f"{action.node}.{action.field}"
        case "select_output" | "set_connection_mode" | "set_tool_mode" | "amend":
            return "changed", action.node
        case "set_detail":
            return "changed", ".".join(str(step) for step in action.path)
        case "set_flow":
            name = action.new.get("name")
            return "applied", repr(name if isinstance(name, str) else "")
        case "arrange":
            return None


def _arrow(edge: Edge) -> str:
    return f"{edge.source} → {edge.target}"
