"""Questions in words, for approvals that clients of Langflow's own assistant cannot show."""

from collections.abc import Iterable, Mapping

from agent.language.phrases import phrase
from tools.approvals import Approval, Consent, InstallApproval, OutboundApproval, RemovalApproval, SecretApproval


def questions_in_words(approvals: Iterable[Approval], language: str, names: Mapping[str, str]) -> list[str]:
    """What those approvals ask that only `result` can say; plans, edits and calls of the client's say it themselves.

    Args:
        approvals: what waits for an answer.
        language: the language to ask in.
        names: what components are called, by their ids.
    """
    kinds = (InstallApproval, RemovalApproval, OutboundApproval, SecretApproval)
    return [_question(one, language, names) for one in approvals if isinstance(one, kinds)]


def _question(approval: Consent, language: str, names: Mapping[str, str]) -> str:
    subject = _subject(approval)
    kind = approval.use if approval.kind == "secret" and approval.use != "run" else approval.kind
    asked = phrase(f"ask_{kind}", language, subject) if subject else approval.title
    why = phrase(f"why_{approval.why}", language) if approval.why else ""
    words = "\n".join(filter(None, (approval.detail, why, asked)))
    if approval.kind in {"removal", "secret"}:
        for node in sorted(names, key=len, reverse=True):
            words = words.replace(node, names[node])
    return words


def _subject(approval: Consent) -> str:
    match approval.kind:
        case "install":
            size = "" if approval.size_mb is None else f" ({max(approval.size_mb, 1):.0f} MB)"
            packages = f": {', '.join(approval.packages)}" if approval.packages else ""
            return f"{approval.bundle}{packages}{size}"
        case "removal":
            return ", ".join(approval.targets)
        case "outbound":
            return ", ".join(approval.hosts)
        case "secret":
            return approval.variable
