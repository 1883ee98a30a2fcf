"""Who may use the server, and for what."""
