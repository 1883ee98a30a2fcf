"""Models: providers, their clients, the model-not-found chain, and the models that flows call."""
