"""Access to the server of this installation."""
