"""The tools of a turn: which it gets, as one set made once."""
