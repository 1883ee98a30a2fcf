"""Who takes the turns of a conversation in the terminal: the assistant of this machine, or a server."""
