"""Behavioural oracles: the flow that was left and the reference, run on the same generated inputs and compared."""
