"""How far a judge model can be trusted: its agreement with labelled answers, stored by model."""
