"""Lets the components that interpret Python work in a confined run, which has no semaphores to share with others.

LangChain's interpreter hands its output over a queue between processes although it starts none; a queue within the
process does the same.
"""

import multiprocessing
import queue
import warnings
from types import SimpleNamespace


def prepare() -> None:
    """Give the interpreter a queue of its own process; nothing is done where it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from langchain_experimental.utilities import python
    except ImportError:
        return
    python.multiprocessing = SimpleNamespace(Queue=queue.SimpleQueue, Process=multiprocessing.Process)
