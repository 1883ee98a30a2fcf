"""The demo planner: rules that really call the tools, for machines without a model. It is not a language model."""
