"""The harness: scenarios are played by players, attempts are scored by evaluators, and nothing else is measured."""
