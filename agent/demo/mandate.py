"""What a message asks for, by rules: the mandate that the demo planner reads, as its words in each language have it."""

from agent.demo.exact.files import file_steps
from agent.demo.exact.language import take_apart
from agent.demo.intent import acts, without_courtesy
from agent.demo.reading import read
from agent.turn.result import Intent
from tools.mandate import EVERYTHING, Effect, Mandate

_TAKES = ("remove", "clear", "fix", "model", "otherwise", "add")
"""The concepts of `words.yaml` for which something may have to go."""


def demo_mandate(message: str, intent: Intent) -> Mandate:
    """The effects that a message asks for; the planner reads nothing but the message, so it names no components.

    Args:
        message: what the user wrote.
        intent: what it is for.
    """
    request, reading = take_apart(without_courtesy(message)), read(message)
    effects = dict[Effect, tuple[str, ...]]()
    if request.runs or intent == "run_flow":
        effects["run"] = ()
    match intent:
        case "build_flow":
            effects |= {"edit": (EVERYTHING,), "replace_text": (), "undo": ()}
            if acts(request) or reading.has(*_TAKES):
                effects["remove"] = (EVERYTHING,)
        case "generate_component":
            effects["write_components"] = ()
        case "component_then_flow":
            effects |= {"write_components": (), "edit": ()}
        case "manage_files":
            paths = [str(arguments().get("path", "")) for _, arguments in file_steps(request) or ()]
            effects["write_files"] = ()
            if any(paths):
                effects["overwrite_files"] = tuple(path for path in paths if path)
        case "run_flow" | "question" | "off_topic":
            pass
    return Mandate(effects=effects)
