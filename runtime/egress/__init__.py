"""The network of runs: a proxy that a run reaches the outside through, what it may reach, and a record of it."""
