"""What a run returns: the values of its nodes, and what its components logged."""
