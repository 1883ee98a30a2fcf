"""Keys typed into a message: the user is asked whether to keep each as a variable, before any model reads the message.

Until then a key exists in this turn and, encrypted, in what the conversation waits for; afterwards among the user's
variables or nowhere.
"""

import asyncio
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

from pydantic_ai import ToolApproved

from agent.conversation.memory import Pending
from agent.conversation.stored import store_failures
from agent.errors import AssistantUnavailable
from agent.turn.act import waiting_text
from agent.turn.request import Answer
from agent.turn.result import TurnError, TurnResult
from agent.turn.serve import serve
from agent.turn.state import Turn
from flows.fields.keys import NOT_KEPT, REMOVED
from runtime.database.secrets.files import EARLIER_KEYS
from runtime.keychain.sealing import Sealing, Unreadable, seal_values, unseal_values
from runtime.keychain.user_variables import NAME, BadVariable, UserVariables
from runtime.telemetry import log_event
from tools.approvals import SecretApproval
from tools.workbench import MAX_ATTEMPTS

_NAMED = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")


async def ask_about_keys(turn: Turn) -> TurnResult | None:
    """Ask whether to keep the keys of the message.

    Returns:
        The question; None when there is nothing to ask, because no key can be kept or all are variables already.
    """
    variables = turn.services.variables(turn.request.user)
    with store_failures():
        kept = await variables.values()
    names = {value: name for name, value in kept.items()}
    values, replaced = dict[str, str](), list[str]()
    for key in turn.keys:
        known = names.get(key.value)
        if known is None and key.variable != NOT_KEPT:
            known = names[key.value] = unused_name(key.variable, {*kept, *values})
            values[known] = key.value
        replaced.append(REMOVED if known is None else _as_variable(known) if known in kept else f"{REMOVED} ({known})")
    turn.text = turn.original_text = _replaced(turn.text, replaced)
    turn.drops_key = REMOVED in replaced
    if not values:
        return None
    try:
        sealed = await asyncio.to_thread(seal_values, Sealing(turn.services.settings.data), values)
    except Unreadable:
        raise _unusable() from None
    request = turn.request
    asked = [SecretApproval(title=_TITLE, variable=name, use="keep") for name in values]
    pending = Pending(
        text=turn.text,
        intent="question",
        model=request.model,
        apply=request.apply,
        max_attempts=request.max_attempts or MAX_ATTEMPTS,
        messages=[],
        approvals={_question_id(turn, one.variable): one for one in asked},
        canvas=turn.before,
        turn=turn.conversation.origin,
        keys=sealed,
        files=request.files,
    )
    log_event("assistant.keys.asked", variables=sorted(values))
    return turn.result("pending", waiting_text(turn, pending), pending=pending)


def _question_id(turn: Turn, variable: str) -> str:
    """The id of a question: the same again when another process goes on with the turn."""
    return f"key-{uuid5(NAMESPACE_OID, f'{turn.id} {variable}').hex[:12]}"


_TITLE = "A key in the message may be kept as a variable."


async def go_on_with_keys(turn: Turn, pending: Pending) -> TurnResult:
    """Keep the keys that the user approved, forget the others, and answer the message that holds them.

    Args:
        turn: the turn, whose message is the one that waited.
        pending: the suspended turn, with all answers.
    """
    variables = turn.services.variables(turn.request.user)
    try:
        sealing = Sealing(turn.services.settings.data, EARLIER_KEYS["variables"])
        values = await asyncio.to_thread(unseal_values, sealing, pending.keys)
    except Unreadable:
        raise _unusable() from None
    text, chosen = pending.text, dict[str, str]()
    for call, approval in pending.approvals.items():
        if approval.kind != "secret":
            continue
        name = _chosen_name(pending.answers.get(call), approval.variable)
        mark = f"{REMOVED} ({approval.variable})"
        text = text.replace(mark, REMOVED if name is None else _as_variable(name))
        if name is not None:
            chosen[name] = values[approval.variable]
    if chosen:
        await _keep(variables, chosen)
        if turn.choice.secrets is not None:
            turn.choice = replace(turn.choice, secrets=turn.choice.secrets.with_variables(chosen))
    log_event("assistant.keys.answered", kept=sorted(chosen), forgotten=len(pending.approvals) - len(chosen))
    turn.text = turn.original_text = text
    turn.drops_key = turn.drops_key or len(chosen) < len(pending.approvals)
    turn.kept_keys = sorted(chosen)
    turn.request = turn.request.model_copy(
        update={"files": turn.request.files or pending.files, "apply": pending.apply}
    )
    turn.classified = False
    return await serve(turn)


def with_name_in_words(pending: Pending, text: str) -> dict[str, Answer] | None:
    """The answer to a question about one key that names another variable, such as "yes, but as MY_KEY"; else None."""
    named = _NAMED.findall(text)
    if not pending.keys or len(pending.unanswered) != 1 or len(named) != 1:
        return None
    return dict.fromkeys(pending.unanswered, ToolApproved(override_args={"variable": named[0]}))


def unused_name(name: str, used: Collection[str]) -> str:
    """A name that no variable has yet: this one, or with the first number that is free."""
    number, found = 1, name
    while found in used:
        number += 1
        found = f"{name}_{number}"
    return found


async def _keep(variables: UserVariables, values: dict[str, str]) -> None:
    try:
        with store_failures():
            await variables.keep(values)
    except BadVariable as bad:
        raise AssistantUnavailable(TurnError(code="invalid_variable", message=bad.message, fix=bad.fix)) from None


def _chosen_name(answer: Answer | None, suggested: str) -> str | None:
    """The name under which a key is kept; None when it is not."""
    if not isinstance(answer, ToolApproved):
        return None
    given = (answer.override_args or {}).get("variable", suggested)
    return given if isinstance(given, str) and NAME.fullmatch(given) else suggested


def _replaced(text: str, replacements: Iterable[str]) -> str:
    """A text with other words in place of each removed key, in order."""
    parts, left = text.split(REMOVED), iter(replacements)
    return parts[0] + "".join(f"{next(left, REMOVED)}{part}" for part in parts[1:])


def _as_variable(name: str) -> str:
    return f"{name} (a variable of the user's: a secret field takes this name)"


def _unusable() -> AssistantUnavailable:
    fix = "Send the message again."
    return AssistantUnavailable(TurnError(code="variables_unavailable", message="The key cannot be kept.", fix=fix))
