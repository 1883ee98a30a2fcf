"""Commands on another server, over its HTTP API."""
