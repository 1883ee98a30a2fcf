"""The oracle: a player that knows the right flow."""
