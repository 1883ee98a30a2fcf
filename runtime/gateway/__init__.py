"""The model gateway: where the model calls of a running flow go, in place of any provider.

An OpenAI-compatible endpoint on loopback, in this process. A run gets keys that live as long as it does and a budget;
what answers is a PydanticAI model that the run's `Models` resolve. No provider's key ever enters the run's process.
"""
