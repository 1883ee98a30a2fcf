"""A step that a message adds to a flow in words: what it tells a model to do with the text that it gets."""

from agent.demo.building.recipe import recipes
from agent.demo.building.stages import Stage
from agent.demo.models import MODEL, model_named
from agent.demo.reading import Reading

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
    asked = f"{' '.join(tasks) or _ANY}\nThe step that does it was asked for in these words: {reading.message.strip()}"
    return recipes()["prompt"].stage({"task": asked, "model": model_named(reading.message) or MODEL})
