"""The toolsets of a turn: which it gets, combined into one."""
