"""How a turn's events become bytes, one contract a module."""
