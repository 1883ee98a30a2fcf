"""Fields: their values, how values are set, and what a value changes in its component."""
