"""Fields: what values they take, how values are set, and what a value changes about its component."""
