"""What runs remember: the messages of a session of a flow."""
