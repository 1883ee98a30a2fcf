"""Makes LangChain's Python interpreter work in a confined run, which cannot create shared semaphores.

The interpreter passes its output through a queue between processes although it starts none; a queue within the
process does the same.
"""

import multiprocessing
import queue
import warnings
from types import SimpleNamespace


def prepare() -> None:
    """Give the interpreter a queue within its process. Does nothing where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langchain_experimental.utilities import python
    except ImportError:
        return
    python.multiprocessing = SimpleNamespace(Queue=queue.SimpleQueue, Process=multiprocessing.Process)
