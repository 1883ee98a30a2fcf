"""Jobs at a server: what does them, and the worker in the server's own process."""
