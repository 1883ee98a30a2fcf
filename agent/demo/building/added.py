"""A step that a message adds to a flow in words: what it tells a model to do with the text that it gets."""

from agent.demo.building.recipe import recipes
from agent.demo.building.stages import Stage
from agent.demo.models import MODEL, model_named
from agent.demo.reading import Reading, read
from flows.catalogue import Catalogue

_ASKED_FOR = "The step that does it was asked for in these words:"
_ANY = "Change the text below as is asked for."


def added_stage(reading: Reading) -> Stage | None:
    """The step that a message adds by saying what it does with a text; None for any other message.

    Args:
        reading: the message; a recipe's task, a manner or a language says what the step does.
    """
    tasks = [recipe.task for recipe in reading.recipes if recipe.task]
    says_what = bool(tasks) or reading.has("manner", "language")
    others = any(recipe.step or recipe.tool or recipe.rank is not None for recipe in reading.recipes)
    if not (reading.has("add") and reading.has("step")) or reading.quotes or others or not says_what:
        return None
    asked = f"{' '.join(tasks) or _ANY}\n{_ASKED_FOR} {reading.message.strip()}"
    return recipes()["prompt"].stage({"task": asked, "model": model_named(reading.message) or MODEL})


def task_of(name: str, catalogue: Catalogue) -> str | None:
    """What a model is told when a step is asked for by what it does with a text; None when it is a component's name.

    Args:
        name: what the step is called: "a translator to Japanese".
        catalogue: the component types.
    """
    said = name.casefold()
    if any(said in (one.type.casefold(), one.display_name.casefold()) for one in catalogue):
        return None
    tasks = [recipe.task for recipe in read(name).recipes if recipe.task]
    return f"{' '.join(tasks)}\n{_ASKED_FOR} {name}" if tasks else None
