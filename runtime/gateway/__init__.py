"""The model gateway: receives the model calls of running flows in place of any provider.

An OpenAI-compatible endpoint on loopback, in this process. A run gets a budget and keys that are valid while it lasts;
the PydanticAI models that its `Models` resolve answer. No provider's key ever enters the process of a run.
"""
