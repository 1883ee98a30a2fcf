"""Judge models: their opinions and decisions, and how they are measured."""
