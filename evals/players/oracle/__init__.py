"""The oracle: a player that knows the reference flow."""
