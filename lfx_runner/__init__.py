"""The process that runs Langflow flows: the only code that imports lfx, in an environment of its own."""
